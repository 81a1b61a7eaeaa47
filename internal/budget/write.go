package budget

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Update takes figures into the budget of a benchmark, in the text and in f;
// comments, order and all other values stay. It returns which metrics are
// other than before. WriteFile writes the text.
func (f *File) Update(benchmark string, figures []Figure) (changed []string, err error) {
	b := f.Benchmark(benchmark)
	if b == nil {
		return nil, fmt.Errorf("%s has no benchmark %q", f.Path, benchmark)
	}
	d := f.document
	t := d.root.tables["benchmark"].tables[benchmark]
	inner := t.tables["budget"]
	var edits []edit
	var added []Figure
	for _, figure := range figures {
		if old := b.Figure(figure.Metric); old != nil && *old == figure {
			continue
		}
		changed = append(changed, figure.Metric)
		if inner == nil || inner.values[figure.Metric] == nil {
			added = append(added, figure)
			continue
		}
		v := inner.values[figure.Metric]
		edits = append(edits, edit{v.at, v.length, figure.text()})
	}
	if len(added) > 0 {
		insertion, err := d.insertion(benchmark, t, inner, added)
		if err != nil {
			return nil, err
		}
		edits = append(edits, insertion)
	}
	if len(edits) == 0 {
		return nil, nil
	}
	again, err := Parse(f.Path, d.apply(edits))
	if err != nil {
		return nil, fmt.Errorf("the budget cannot be written: %w", err)
	}
	*f = *again
	return changed, nil
}

// Updatable tells before anything is measured whether Update could write the
// figures that a benchmark has none of yet.
func (f *File) Updatable(benchmark string) error {
	b := f.Benchmark(benchmark)
	if b == nil || !slices.ContainsFunc(b.Metrics, func(metric string) bool { return b.Figure(metric) == nil }) {
		return nil
	}
	t := f.document.root.tables["benchmark"].tables[benchmark]
	_, err := f.document.insertion(benchmark, t, t.tables["budget"], nil)
	return err
}

// insertion adds lines to the budget of a benchmark, or a budget to it.
func (d *document) insertion(benchmark string, t, inner *table, figures []Figure) (edit, error) {
	newline := "\n"
	if bytes.Contains(d.text, []byte("\r\n")) {
		newline = "\r\n"
	}
	var b strings.Builder
	at := 0
	switch {
	case inner != nil && (inner.inline || inner.end < 0):
		return edit{}, d.errorAt(inner.at, "figures cannot be added here: write them below [benchmark.%s.budget]", keyText(benchmark))
	case inner != nil:
		at = inner.end
	default:
		at = t.last()
		if at < 0 {
			return edit{}, d.errorAt(t.at, "figures cannot be added here: write the benchmark below [benchmark.%s]", keyText(benchmark))
		}
	}
	if at > 0 && d.text[at-1] != '\n' {
		b.WriteString(newline)
	}
	if inner == nil {
		b.WriteString(newline + "[benchmark." + keyText(benchmark) + ".budget]" + newline)
	}
	for _, metric := range Metrics {
		if i := slices.IndexFunc(figures, func(f Figure) bool { return f.Metric == metric }); i >= 0 {
			b.WriteString(metric + " = " + figures[i].text() + newline)
		}
	}
	return edit{at: at, text: b.String()}, nil
}

// last is behind the last line of a table and of those inside, -1 where it has
// no line of its own.
func (t *table) last() int {
	end := t.end
	for _, inner := range t.tables {
		end = max(end, inner.last())
	}
	return end
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// keyText writes a name as a key of TOML.
func keyText(name string) string {
	if bareKey.MatchString(name) {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// text writes a figure as TOML.
func (f *Figure) text() string {
	if f.Exact() {
		return number(f.Least)
	}
	return "[" + number(f.Least) + ", " + number(f.Most) + "]"
}

// number groups the digits of whole numbers.
func number(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64)
	if strings.Contains(text, ".") {
		return text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "_" + text[i:]
	}
	return text
}

// Text is the budget as it would be written.
func (f *File) Text() []byte { return f.document.text }

// WriteFile replaces a file as a whole, or not at all. It keeps the mode of
// one that is there, and follows a link to it.
func WriteFile(path string, text []byte) error {
	mode := os.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".mallow-*")
	if err != nil {
		return cannotWrite(path, err)
	}
	defer os.Remove(file.Name()) // not there any more when all went well
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

func cannotWrite(path string, err error) error {
	var where *os.PathError
	if errors.As(err, &where) {
		err = where.Err
	}
	return fmt.Errorf("%s cannot be written: %w", path, err)
}
