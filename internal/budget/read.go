package budget

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// mostText bounds what is read of a budget.
const mostText = 16 << 20

// Find returns the path of the budget that holds for a folder: in it or in
// one above, up to the root of the repository.
func Find(folder string) (string, error) {
	for at := folder; ; at = filepath.Dir(at) {
		path := filepath.Join(at, FileName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			return "", fmt.Errorf("there is no %s in %s or above it", FileName, folder)
		}
	}
}

// Read reads a budget. What is wrong with it is an *Error.
func Read(path string) (*File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &Error{Path: path, Message: "not a file"}
	}
	if err == nil && info.Size() > mostText {
		return nil, &Error{Path: path, Message: "too long for a budget"}
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Path: path, Message: "there is no such budget"}
	}
	if err != nil {
		return nil, &Error{Path: path, Message: "cannot be read: " + errors.Unwrap(err).Error()}
	}
	return Parse(path, text)
}

// Parse reads the text of a budget; path is only what it is called.
func Parse(path string, text []byte) (*File, error) {
	d, err := parse(path, text)
	if err != nil {
		return nil, err
	}
	r := &reader{document: d}
	f := &File{Path: path, Runs: DefaultRuns, document: d}
	r.known(d.root, "", "runs", "base", "benchmark")
	f.Runs = r.runs(d.root, DefaultRuns)
	f.Base = r.text(d.root, "base")
	if v := d.root.values["benchmark"]; v != nil {
		r.fail(v.key, "benchmark is a table: write [benchmark.NAME]")
	}
	if benchmarks := d.root.tables["benchmark"]; benchmarks != nil {
		for _, name := range benchmarks.keys {
			t := benchmarks.tables[name]
			if t == nil {
				r.fail(benchmarks.values[name].key, "benchmark.%s is a table: write [benchmark.%s]", name, name)
				continue
			}
			f.Benchmarks = append(f.Benchmarks, r.benchmark(name, t, f.Runs))
		}
	}
	return f, r.err
}

// reader keeps the first error in the order of the text.
type reader struct {
	document *document
	err      error
	at       int
}

func (r *reader) fail(offset int, format string, args ...any) {
	if r.err == nil || offset < r.at {
		r.err, r.at = r.document.errorAt(offset, format, args...), offset
	}
}

// known complains about keys that nobody reads: they are mistyped.
func (r *reader) known(t *table, name string, keys ...string) {
	for _, key := range t.keys {
		if slices.Contains(keys, key) {
			continue
		}
		at := 0
		if v := t.values[key]; v != nil {
			at = v.key
		} else {
			at = t.tables[key].at
		}
		if near := nearest(key, keys); near != "" {
			r.fail(at, "unknown key %q%s; did you mean %q?", key, name, near)
		} else {
			r.fail(at, "unknown key %q%s; there are %s", key, name, strings.Join(keys, ", "))
		}
	}
}

// nearest is the key that one mistake makes a word of.
func nearest(word string, keys []string) string {
	for _, key := range keys {
		if distance(word, key) <= max(1, len(key)/4) {
			return key
		}
	}
	return ""
}

// distance is how many letters must be added, taken away or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

var benchmarkKeys = []string{
	"command", "folder", "env", "clean_env", "stdin", "exit", "time_limit", "build", "unit", "per", "processes", "wrappers", "metrics", "runs",
	"budget", "target",
}

func (r *reader) benchmark(name string, t *table, runs int) *Benchmark {
	b := &Benchmark{Name: name, at: t.at}
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		r.fail(t.at, "the name of a benchmark is one line of text")
	}
	r.known(t, fmt.Sprintf(" of benchmark %q", name), benchmarkKeys...)
	r.command(b, t)
	b.Folder, b.Stdin, b.Build = r.text(t, "folder"), r.text(t, "stdin"), r.text(t, "build")
	b.Unit, b.Per, b.Processes = r.text(t, "unit"), r.texts(t, "per"), r.texts(t, "processes")
	b.Exit = int(r.between(t, "exit", 0, 0, 255))
	b.Limit = r.limit(t)
	b.Runs = r.runs(t, runs)
	b.Env, b.CleanEnv = r.environment(t), r.flag(t, "clean_env")
	b.Wrappers = r.texts(t, "wrappers")
	for _, w := range b.Wrappers {
		if _, err := regexp.Compile(w); err != nil {
			r.fail(t.values["wrappers"].at, "%q is no regular expression: %v", w, err)
		}
	}
	b.Figures = r.figures(name, t)
	b.Targets = r.targets(name, t)
	b.Metrics = r.metrics(b, t)
	return b
}

func (r *reader) command(b *Benchmark, t *table) {
	v := t.values["command"]
	switch {
	case v == nil && r.err == nil: // it may be mistyped
		r.fail(t.at, "benchmark %q has no command", b.Name)
	case v == nil:
	case v.kind == unstable.String:
		if b.Shell = v.text; strings.TrimSpace(v.text) == "" {
			r.fail(v.at, "the command is empty")
		}
	case v.kind == unstable.Array:
		if b.Command = r.texts(t, "command"); len(v.list) > 0 && (b.Command == nil || b.Command[0] != "") {
			return
		}
		fallthrough
	default:
		r.fail(v.at, "command is a text for sh, or a list of a program and its arguments")
	}
}

// text returns the text of a key, "" where it has none.
func (r *reader) text(t *table, key string) string {
	v := t.values[key]
	if v == nil {
		r.notTable(t, key)
		return ""
	}
	if v.kind != unstable.String || strings.ContainsRune(v.text, 0) {
		r.fail(v.at, "%s is a text", key)
	}
	return v.text
}

func (r *reader) notTable(t *table, key string) {
	if inner := t.tables[key]; inner != nil {
		r.fail(inner.at, "%s is no table", key)
	}
}

// texts returns the texts of a key: one, or a list.
func (r *reader) texts(t *table, key string) (all []string) {
	v := t.values[key]
	if v == nil {
		r.notTable(t, key)
		return nil
	}
	list := v.list
	if v.kind == unstable.String {
		list = []*value{v}
	} else if v.kind != unstable.Array {
		r.fail(v.at, "%s is a list of texts", key)
	}
	for _, item := range list {
		if item.kind != unstable.String || strings.ContainsRune(item.text, 0) {
			at := item.at
			if item.kind == unstable.Array {
				at = v.at
			}
			r.fail(at, "%s is a list of texts", key)
			return nil
		}
		all = append(all, item.text)
	}
	return all
}

func (r *reader) between(t *table, key string, absent, least, most float64) float64 {
	v := t.values[key]
	if v == nil {
		r.notTable(t, key)
		return absent
	}
	n, ok := v.number()
	if !ok || v.kind != unstable.Integer || n < least || n > most {
		r.fail(v.at, "%s is a whole number from %.0f to %.0f", key, least, most)
		return absent
	}
	return n
}

func (r *reader) flag(t *table, key string) bool {
	v := t.values[key]
	if v == nil {
		r.notTable(t, key)
		return false
	}
	if v.kind != unstable.Bool {
		r.fail(v.at, "%s is true or false", key)
	}
	return v.text == "true"
}

func (r *reader) runs(t *table, absent int) int {
	return int(r.between(t, "runs", float64(absent), 1, 1000))
}

// seconds reads a time: a number of seconds, or a text such as "1.5s".
func (v *value) seconds() (float64, bool) {
	if n, ok := v.number(); ok {
		return n, true
	}
	d, err := time.ParseDuration(v.text)
	return d.Seconds(), v.kind == unstable.String && err == nil
}

func (r *reader) limit(t *table) time.Duration {
	v := t.values["time_limit"]
	if v == nil {
		r.notTable(t, "time_limit")
		return DefaultLimit
	}
	seconds, ok := v.seconds()
	if !ok || !(seconds > 0 && seconds <= 7*24*3600) {
		r.fail(v.at, `time_limit is a time of at most a week: seconds, or a text such as "90s" or "5m"`)
		return DefaultLimit
	}
	return time.Duration(seconds * float64(time.Second))
}

func (r *reader) environment(t *table) (env []string) {
	if v := t.values["env"]; v != nil {
		r.fail(v.at, `env is a table: { NAME = "value" }`)
	}
	inner := t.tables["env"]
	if inner == nil {
		return nil
	}
	for _, name := range inner.keys {
		v := inner.values[name]
		switch {
		case v == nil:
			r.fail(inner.tables[name].at, "%s is a text", name)
		case name == "" || strings.ContainsAny(name, "=\x00"):
			r.fail(v.key, "%q cannot be the name of a variable", name)
		case name == "LD_PRELOAD" || name == "MALLOW_OPTIONS":
			r.fail(v.key, "%s is set by mallow", name)
		default:
			env = append(env, name+"="+r.text(inner, name))
		}
	}
	return env
}

// inner returns the table of metrics of that name.
func (r *reader) inner(benchmark string, t *table, name string) *table {
	if v := t.values[name]; v != nil {
		r.fail(v.at, "%s is a table: write [benchmark.%s.%s]", name, benchmark, name)
	}
	if t.tables[name] == nil {
		return newTable(0, false)
	}
	r.known(t.tables[name], " in the "+name+" of "+benchmark, Metrics...)
	return t.tables[name]
}

func (r *reader) figures(benchmark string, t *table) (all []Figure) {
	inner := r.inner(benchmark, t, "budget")
	for _, metric := range Metrics {
		v := inner.values[metric]
		if v == nil {
			r.notTable(inner, metric)
			continue
		}
		f, ok := figureOf(metric, v)
		if !ok {
			what := "a number"
			if !IsTime(metric) {
				what = "a number from 0 up"
			}
			r.fail(v.at, "%s is %s, or a list of the least and the most: [100, 120]", metric, what)
			continue
		}
		all = append(all, f)
	}
	return all
}

func figureOf(metric string, v *value) (Figure, bool) {
	ends := []*value{v, v}
	if v.kind == unstable.Array {
		ends = v.list
	}
	if len(ends) != 2 {
		return Figure{}, false
	}
	least, ok := ends[0].number()
	most, too := ends[1].number()
	return Figure{metric, least, most}, ok && too && least >= 0 && least <= most && most < 1<<60
}

func (r *reader) targets(benchmark string, t *table) (all []Target) {
	inner := r.inner(benchmark, t, "target")
	for _, metric := range Metrics {
		v := inner.values[metric]
		if v == nil {
			r.notTable(inner, metric)
			continue
		}
		n, ok := v.number()
		if IsTime(metric) {
			n, ok = v.seconds()
		}
		if !ok || !(n >= 0 && n < 1<<60) {
			r.fail(v.at, "the target of %s is a number from 0 up", metric)
			continue
		}
		all = append(all, Target{metric, n})
	}
	return all
}

// metrics are those that the benchmark chooses, else those that are counted
// and what has a figure or a target.
func (r *reader) metrics(b *Benchmark, t *table) (all []string) {
	chosen := r.texts(t, "metrics")
	for i, metric := range chosen {
		if !slices.Contains(Metrics, metric) {
			r.fail(t.values["metrics"].at, "there is no metric %q: there are %s", metric, strings.Join(Metrics, ", "))
		}
		if slices.Contains(chosen[:i], metric) {
			r.fail(t.values["metrics"].at, "metric %q stands there twice", metric)
		}
	}
	if t.values["metrics"] == nil {
		chosen = Counted
	}
	for _, metric := range Metrics {
		if slices.Contains(chosen, metric) || b.Figure(metric) != nil || b.Target(metric) != nil {
			all = append(all, metric)
		}
	}
	if len(all) == 0 && r.err == nil {
		r.fail(t.values["metrics"].at, "metrics is empty, and nothing would be kept: there are %s", strings.Join(Metrics, ", "))
	}
	return all
}
