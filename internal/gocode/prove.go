package gocode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mallow/internal/stat"
)

// trial is the package with some files changed besides the steps so far, built
// twice: as it is and counting.
type trial struct {
	f       *fixer
	changed map[string][]byte
	folder  string
	tests   *Tests // nil of a program
	program string // counting, "" of tests
}

func (f *fixer) try(changed map[string][]byte) (*trial, error) {
	f.runs++
	t := &trial{f: f, changed: changed, folder: filepath.Join(f.folder, fmt.Sprint("run", f.runs))}
	if err := os.Mkdir(t.folder, 0o700); err != nil {
		return nil, err
	}
	counting, err := f.overlayWith(changed, f.overlay)
	if err != nil {
		return nil, err
	}
	with := *f.Builder
	with.overlay = counting
	if f.Measure == MeasureProgram {
		t.program = filepath.Join(t.folder, "counting")
		return t, with.Program(t.program, f.p.ImportPath)
	}
	t.tests = &Tests{
		Package: f.p.ImportPath, folder: f.p.Dir, origins: f.origins,
		stock: filepath.Join(t.folder, "stock.test"), counting: filepath.Join(t.folder, "counting.test"),
	}
	if err := with.test(t.tests.counting, f.p.ImportPath, true); err != nil {
		return nil, err
	}
	t.tests.names, err = newNamer(t.tests.counting, f.origins)
	return t, err
}

func (t *trial) close() {
	if t.tests != nil && t.tests.names != nil {
		t.tests.names.close()
	}
	os.RemoveAll(t.folder)
}

// count says what an operation allocates, of which so is known already how
// many operations are counted.
func (t *trial) count(so *Benchmark) (*Benchmark, error) {
	if t.f.Measure == MeasureBenchmark {
		return t.tests.Again(so, t.f.o.BenchmarkOptions)
	}
	// Two runs may differ by what a pool or a background goroutine makes.
	first, err := t.countOnce()
	if err != nil {
		return nil, err
	}
	second, err := t.countOnce()
	if err != nil {
		return nil, err
	}
	if second.AllocsPerOp < first.AllocsPerOp {
		return second, nil
	}
	return first, nil
}

// spread is by how much counts of an unchanged benchmark differ. Where two agree
// it is taken for one that does the same each time.
func (t *trial) spread(b *Benchmark) (float64, error) {
	least, most := b.AllocsPerOp, b.AllocsPerOp
	for range 3 {
		again, err := t.count(b)
		if err != nil {
			return 0, err
		}
		least, most = min(least, again.AllocsPerOp), max(most, again.AllocsPerOp)
		if most-least < leastSaved/timesSpread {
			return 0, nil
		}
	}
	return most - least, nil
}

// countOnce counts a run of the tests or of the program.
func (t *trial) countOnce() (*Benchmark, error) {
	folder, err := os.MkdirTemp(t.folder, "")
	if err != nil {
		return nil, err
	}
	environment := []string{countsVariable + "=" + folder}
	var pid int
	var names *namer
	if t.program != "" {
		_, pid, err = t.f.runProgram(t.program, environment)
		if err == nil {
			names, err = newNamer(t.program, t.f.origins)
		}
		if err != nil {
			return nil, err
		}
		defer names.close()
	} else {
		if _, pid, err = t.tests.run(t.tests.counting, environment, nil); err != nil {
			return nil, err
		}
		names = t.tests.names
	}
	all, err := readFolder(folder, pid)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 || all[0].PID != uint64(pid) {
		return nil, errors.New("the run left no counts")
	}
	b := &Benchmark{Package: t.f.p.ImportPath, Operations: 1}
	stacks := slices.DeleteFunc(names.stacks(all[0]), func(s Stack) bool { return s.OfRuntime() || s.OfTesting() })
	for _, s := range stacks {
		b.AllocsPerOp += s.Allocs
		b.BytesPerOp += s.Bytes
	}
	b.Lines = lines(stacks)
	return b, nil
}

// begin finds out whether the package is fit to be fixed, and what there is to
// measure.
func (f *fixer) begin() (*Benchmark, error) {
	var err error
	if f.origins, _, err = listOrigins(f.GoFlags, []string{f.p.ImportPath}); err != nil {
		return nil, err
	}
	for _, path := range []string{"bytes", "errors", "fmt", "regexp", "strconv", "strings"} { // that rewrites import
		f.origins[path] = OriginStandard
	}
	f.race = f.withoutRace()
	if f.p.hasTests() {
		f.o.Progress("tests of " + f.p.ImportPath + " as it is")
	}
	if f.o.Program {
		if f.p.Name != "main" {
			return nil, fmt.Errorf("%s is no main package: there is no program to run", f.p.ImportPath)
		}
		if f.output, err = f.programOutput(nil); err != nil {
			return nil, err
		}
		again, err := f.programOutput(nil)
		if err != nil {
			return nil, err
		}
		if again.differs(f.output) {
			return nil, fmt.Errorf("%s: two runs of it do not print the same: nothing can be proven by its output", f.p.ImportPath)
		}
	}
	if !f.p.hasTests() {
		if f.output == nil {
			return nil, ErrNoTests
		}
		return f.measureAnew(MeasureProgram)
	}
	t, err := f.try(nil)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := t.pass(); err != nil {
		return nil, fmt.Errorf("%s: %w (%s)", f.p.ImportPath, ErrTestsFail, f.reason(err))
	}
	if f.o.Race && f.race == "" {
		if err := f.passWithRace(nil); err != nil {
			return nil, fmt.Errorf("%s: with the race detector %w (%s); --race=false goes without it", f.p.ImportPath, ErrTestsFail, f.reason(err))
		}
	}
	found, err := t.tests.timed(f.o.Bench, f.o.Benchtime, f.o.TestFlags)
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		if err := t.tests.count(b, f.o.BenchmarkOptions); err != nil {
			return nil, err
		}
		if b.AllocsPerOp >= leastSaved || len(found) == 1 {
			f.choose(b, found)
			if f.Spread, err = t.spread(b); err != nil {
				return nil, err
			}
			return b, f.keepBefore(t)
		}
	}
	switch {
	case len(found) > 0:
		f.choose(found[0], found)
		return found[0], f.keepBefore(t)
	case f.o.Bench != anyBenchmark:
		return nil, fmt.Errorf("%s: no benchmark matches %s", f.p.ImportPath, f.o.Bench)
	case f.output != nil:
		return f.measureAnew(MeasureProgram)
	}
	return f.measureAnew(MeasureTests)
}

// choose makes one of the benchmarks that were found the measure.
func (f *fixer) choose(b *Benchmark, found []*Benchmark) {
	f.Benchmark = b.Name
	for _, other := range found {
		if other != b {
			f.Others = append(f.Others, other.Name)
		}
	}
}

// anyBenchmark is the expression that all benchmarks match.
const anyBenchmark = "."

func (f *fixer) measureAnew(m Measure) (*Benchmark, error) {
	f.Measure = m
	t, err := f.try(nil)
	if err != nil {
		return nil, err
	}
	defer t.close()
	b, err := t.count(nil)
	if err != nil {
		return nil, err
	}
	return b, t.time(b)
}

// proof is what a rewrite that is kept brings, and what shows that it does.
type proof struct {
	after *Benchmark
	by    string
	// pace is how many times as long an operation takes; zero where that was not
	// compared.
	pace stat.Ratio
}

// prove returns why a rewrite is kept, or the reason why it is not. What is
// cheap comes first.
func (f *fixer) prove(r *Rewrite, before *Benchmark) (*proof, error) {
	t, err := f.try(map[string][]byte{r.File: r.Source})
	if err != nil {
		return nil, err
	}
	defer t.close()
	after, err := t.count(before)
	if err != nil {
		return nil, err
	}
	if before.AllocsPerOp-after.AllocsPerOp < f.least(before) {
		return nil, fmt.Errorf("an operation allocates %.6g times, as before %.6g", after.AllocsPerOp, before.AllocsPerOp)
	}
	if after.BytesPerOp > before.BytesPerOp*1.25+64 {
		return nil, fmt.Errorf("an operation allocates %.6g bytes, instead of %.6g", after.BytesPerOp, before.BytesPerOp)
	}
	if err := t.pass(); err != nil {
		return nil, fmt.Errorf("tests: %w", err)
	}
	compared, err := f.compare(r)
	if err != nil {
		return nil, err
	}
	if f.o.Race && f.race == "" && f.p.hasTests() {
		if err := f.passWithRace(t.changed); err != nil {
			return nil, fmt.Errorf("with the race detector: %w", err)
		}
	}
	p := &proof{after: after, by: compared}
	if f.before == "" {
		return p, t.time(after)
	}
	if p.pace, err = f.pace(t, after); err != nil {
		return nil, err
	}
	return p, f.keepBefore(t)
}

// provenBy says what every rewrite that is kept has passed.
func (f *fixer) provenBy() string {
	var by []string
	if f.p.hasTests() {
		by = append(by, "its tests")
		if f.o.Race && f.race == "" {
			by[0] += ", also with the race detector"
		}
	}
	if f.output != nil {
		by = append(by, "the program's output")
	}
	return strings.Join(by, " and ")
}

// pass runs the tests of the package and of the packages whose files are
// changed, and the program if it is to be run.
func (t *trial) pass() error {
	f := t.f
	plain, err := f.overlayWith(t.changed, f.plain)
	if err != nil {
		return err
	}
	if t.tests != nil {
		with := *f.Builder
		with.plain = plain
		if err := with.test(t.tests.stock, f.p.ImportPath, false); err != nil {
			return err
		}
		if _, _, err := t.tests.run(t.tests.stock, nil, []string{"-test.timeout=10m"}); err != nil {
			return err
		}
	}
	if others := f.others(t.changed); len(others) > 0 {
		args := slices.Concat([]string{"test", "-count=1", "-vet=off", "-overlay", plain}, f.GoFlags, others)
		if err := f.build("go test", args); err != nil {
			return err
		}
	}
	if f.output == nil {
		return nil
	}
	now, err := f.programOutput(t.changed)
	if err != nil {
		return err
	}
	if now.differs(f.output) {
		return errors.New("the program prints something else, or ends otherwise")
	}
	return nil
}

// others are the packages with changed files, but for the one that is fixed.
func (f *fixer) others(changed map[string][]byte) []string {
	var all []string
	for path := range changed {
		if source := f.sources.file(path); source != nil {
			if other := source.pkg.Path(); other != f.p.ImportPath && !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
	}
	slices.Sort(all)
	return all
}

// passWithRace runs the tests with the race detector.
func (f *fixer) passWithRace(changed map[string][]byte) error {
	plain, err := f.overlayWith(changed, f.plain)
	if err != nil {
		return err
	}
	packages := []string{f.p.ImportPath}
	if changed != nil {
		packages = append(packages, f.others(changed)...)
	}
	return f.build("go test -race", slices.Concat([]string{"test", "-race", "-count=1", "-vet=off", "-overlay", plain}, f.GoFlags, packages))
}

// withoutRace says why there is no race detector, "" where there is one.
func (f *fixer) withoutRace() string {
	out, err := goOutput("env", "CGO_ENABLED", "CC")
	enabled, compiler, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || enabled != "1" {
		return "cgo is off"
	}
	words := strings.Fields(compiler)
	if len(words) == 0 {
		return "there is no C compiler"
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return "there is no C compiler"
	}
	return ""
}

// time says how long an operation of the package as it is takes.
func (t *trial) time(b *Benchmark) error {
	f := t.f
	switch f.Measure {
	case MeasureBenchmark:
		timed, err := t.tests.timed(Exactly(b.Name), f.o.Benchtime, f.o.TestFlags)
		if err != nil {
			return err
		}
		for _, again := range timed {
			if again.Name == b.Name {
				b.NsPerOp = again.NsPerOp
			}
		}
	case MeasureTests:
		if _, err := os.Stat(t.tests.stock); err != nil {
			if err := t.pass(); err != nil {
				return err
			}
		}
		began := time.Now()
		if _, _, err := t.tests.run(t.tests.stock, nil, nil); err != nil {
			return err
		}
		b.NsPerOp = float64(time.Since(began))
	case MeasureProgram:
		now, err := f.programOutput(t.changed)
		if err != nil {
			return err
		}
		b.NsPerOp = float64(now.took)
	}
	return nil
}

// output is what a run of the program printed, and how it ended.
type output struct {
	stdout, stderr []byte
	ending         string
	took           time.Duration
}

func (o *output) differs(other *output) bool {
	return !bytes.Equal(o.stdout, other.stdout) || !bytes.Equal(o.stderr, other.stderr) || o.ending != other.ending
}

// longestRun is how long a program may run.
const longestRun = time.Minute

// programOutput builds the program as it is, with some files changed, and runs
// it.
func (f *fixer) programOutput(changed map[string][]byte) (*output, error) {
	plain, err := f.overlayWith(changed, f.plain)
	if err != nil {
		return nil, err
	}
	executable := filepath.Join(f.folder, "program")
	args := slices.Concat([]string{"build", "-overlay", plain, "-o", executable}, f.GoFlags, []string{"--", f.p.ImportPath})
	if err := f.build(f.p.ImportPath+" does not build", args); err != nil {
		return nil, err
	}
	o, _, err := f.runProgram(executable, nil)
	return o, err
}

// runProgram runs an executable of the program in the working directory,
// without input.
func (f *fixer) runProgram(executable string, environment []string) (*output, int, error) {
	within, stop := context.WithTimeout(context.Background(), longestRun)
	defer stop()
	c := exec.CommandContext(within, executable, f.o.Args...)
	c.Env = append(os.Environ(), environment...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	began := time.Now()
	err := c.Run()
	if within.Err() != nil {
		return nil, 0, fmt.Errorf("the program did not end within %v", longestRun)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, 0, err
	}
	return &output{stdout.Bytes(), stderr.Bytes(), c.ProcessState.String(), time.Since(began)}, c.Process.Pid, nil
}

// overlayWith joins the steps so far, further changes and another overlay.
func (f *fixer) overlayWith(changed map[string][]byte, other string) (string, error) {
	replace := make(map[string]string)
	if other != "" {
		var err error
		if replace, err = readOverlay(other); err != nil {
			return "", err
		}
	}
	for _, files := range []map[string][]byte{f.Contents, changed} {
		for path, content := range files {
			kept, err := keep(f.folder, filepath.Base(path), content)
			if err != nil {
				return "", err
			}
			replace[path] = kept
		}
	}
	all, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return keep(f.folder, "overlay.json", all)
}
