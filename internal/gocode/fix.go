package gocode

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"mallow/internal/launch"
	"mallow/internal/stat"
)

// LadderStep is one rung of the ladder: the package as it was, or after one more
// rewrite that was kept.
type LadderStep struct {
	*Rewrite           // nil of the first
	Patch       string // unified, against the step before, with the file's path below Fixed.Root
	Compared    string // what it was proven by
	AllocsPerOp float64
	BytesPerOp  float64
	NsPerOp     float64
	// Pace is how many times as long an operation takes as before the step, by
	// rounds in which both ran; zero where that was not compared.
	Pace stat.Ratio
}

// Rejected is a rewrite that was tried and not kept, or that could not be
// tried.
type Rejected struct {
	*Rewrite
	Reason string
}

// Fixed is what came of fixing a package by one of its benchmarks.
type Fixed struct {
	Package   string
	Root      string  // folder of the module
	Measure   Measure // what an operation is
	Benchmark string  // its name, "" for tests and programs
	// Others are the benchmarks that were asked for as well: one is the measure.
	Others []string
	// Spread is by how many allocations of an operation counts of the unchanged
	// benchmark differ; 0 where two of them agree.
	Spread   float64
	Ladder   []LadderStep // the first is the package as it was
	Rejected []Rejected
	Left     []*Line // of the last step, with the advice that remains
	Twins    []Twin
	Unsound  []Unsound
	// Contents are the changed files, Original what they were.
	Contents, Original map[string][]byte
}

// Measure is what is counted.
type Measure uint8

const (
	MeasureBenchmark Measure = iota // an operation of a benchmark
	MeasureTests                    // a run of the package's tests
	MeasureProgram                  // a run of the program
)

// FixOptions choose how fixes are proven.
type FixOptions struct {
	BenchmarkOptions
	// Race runs the tests of what is kept with the race detector, too, where
	// there is one.
	Race bool
	// Program is run with Args where the package is a main package: its output
	// must stay the same.
	Program bool
	Args    []string
	// Progress is told what is tried, nil for nobody.
	Progress func(words string)
}

// ErrTestsFail tells that a package's tests fail before any change.
var ErrTestsFail = errors.New("its tests fail as it is: nothing can be proven by them")

// leastSaved allocations of an operation make a rewrite worth keeping; of a run
// of tests or of a program it is more, as two runs may differ.
const leastSaved = 0.5

// timesSpread is how many times what a few counts of a benchmark differ by a
// rewrite has to save where they do.
const timesSpread = 2

// Fix applies rewrites to a package one at a time, as an overlay: the files
// stay as they are. A rewrite is kept if the package builds, its tests pass,
// the changed function does what the old one did for many arguments, and an
// operation of the benchmark allocates less and not more bytes. Where there is
// no benchmark a run of the tests, or of the program, is an operation.
func (b *Builder) Fix(p Package, o FixOptions) (*Fixed, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	folder, err := launch.Scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	f := &fixer{Builder: b, p: p, o: o, folder: folder, tried: make(map[string]bool)}
	f.Fixed = Fixed{Package: p.ImportPath, Root: b.root(p), Contents: make(map[string][]byte), Original: make(map[string][]byte)}
	if inside(p.Dir, b.modules) {
		return nil, fmt.Errorf("%s is in the module cache, whose files must not change: fix a copy (cp -r %[1]s COPY && chmod -R u+w COPY)", p.Dir)
	}
	now, err := f.begin()
	if err != nil {
		return nil, err
	}
	f.Ladder = []LadderStep{{AllocsPerOp: now.AllocsPerOp, BytesPerOp: now.BytesPerOp, NsPerOp: now.NsPerOp}}
	for {
		f.sources = f.loadSources([]string{p.ImportPath}, f.Contents)
		next, step := f.improve(now)
		if next == nil {
			break
		}
		f.Ladder = append(f.Ladder, *step)
		now = next
	}
	f.Left = now.Lines
	f.explainRest()
	f.Unsound = f.sources.unsound()
	f.Twins = f.twins(now)
	return &f.Fixed, nil
}

// explainRest says why what is left allocates, by what the compiler says of the
// files after the last step.
func (f *fixer) explainRest() {
	patterns, tests := []string{f.p.ImportPath}, f.Measure != MeasureProgram
	var e escapes
	if len(f.Contents) == 0 {
		e, _ = f.diagnose(ownModules(), patterns, tests)
	} else if folder, err := os.MkdirTemp(f.folder, ""); err == nil {
		with := *f.Builder
		if with.overlay, err = f.overlayWith(nil, f.overlay); err == nil {
			e, _ = with.diagnoseInto(folder, ownModules(), patterns, tests)
		}
	}
	f.sources.follower = &follower{Builder: f.Builder, known: make(map[string]leaks)}
	explain(f.Left, f.sources, e)
}

// root is the folder that patches are named from: of the package's git
// repository, or else of its module.
func (b *Builder) root(p Package) string {
	if top, err := inRepository(p.Dir, nil, "rev-parse", "--show-toplevel"); err == nil {
		return top
	}
	out, err := goOutput("list", "-f", "{{with .Module}}{{.Dir}}{{end}}", "--", p.ImportPath)
	if folder := strings.TrimSpace(string(out)); err == nil && folder != "" {
		return folder
	}
	return p.Dir
}

type fixer struct {
	*Builder
	Fixed
	p       Package
	o       FixOptions
	folder  string
	origins origins
	sources *sources
	tried   map[string]bool
	runs    int
	output  *output // of the program, nil where it does not run
	before  string  // the tests' executable of the last step, "" where no benchmark is the measure
	race    string  // why tests cannot run with the race detector, "" where they can
}

// improve tries the rewrites of the lines, the hottest first, until one is
// kept; nil when none is.
func (f *fixer) improve(now *Benchmark) (*Benchmark, *LadderStep) {
	for _, l := range now.Lines {
		if l.Allocs < f.least(now) {
			break
		}
		source := f.sources.rewritable(l)
		if source == nil {
			continue
		}
		s := &subject{line: l, sources: f.sources, generated: true}
		for _, r := range s.rewrites(f.content) {
			if f.tried[r.key()] {
				continue
			}
			f.tried[r.key()] = true
			if ast.IsGenerated(source.syntax) {
				f.Rejected = append(f.Rejected, Rejected{r, "the file is generated: what generates it would have to change"})
				continue
			}
			f.o.Progress(r.Title)
			p, err := f.prove(r, now)
			if err != nil {
				f.Rejected = append(f.Rejected, Rejected{r, f.reason(err)})
				continue
			}
			next := p.after
			step := &LadderStep{
				Rewrite: r, Compared: p.by, Pace: p.pace, AllocsPerOp: next.AllocsPerOp, BytesPerOp: next.BytesPerOp, NsPerOp: next.NsPerOp,
				Patch: f.patch(r.File, r.before, r.Source),
			}
			f.Contents[r.File] = r.Source
			return next, step
		}
	}
	return nil, nil
}

// patch is the difference of two contents of a file.
func (f *fixer) patch(file string, before, after []byte) string {
	name := filepath.Base(file)
	if inside, err := filepath.Rel(f.Root, file); err == nil && filepath.IsLocal(inside) {
		name = filepath.ToSlash(inside)
	}
	return string(diff.Diff("a/"+name, before, "b/"+name, after))
}

// least is what a rewrite must save.
func (f *fixer) least(now *Benchmark) float64 {
	if f.Measure == MeasureBenchmark {
		return max(leastSaved, timesSpread*f.Spread)
	}
	return leastOfRun(now.AllocsPerOp)
}

// leastOfRun is what a rewrite must save of a run that allocates so often.
func leastOfRun(allocs float64) float64 { return max(2, allocs/1000) }

// key tells rewrites apart that do the same to the same file.
func (r *Rewrite) key() string {
	sum := sha256.Sum256(r.Source)
	return r.File + string(sum[:])
}

// content is that of a file after the steps so far.
func (f *fixer) content(path string) ([]byte, error) {
	if content, changed := f.Contents[path]; changed {
		return content, nil
	}
	content, err := os.ReadFile(path)
	if err == nil {
		f.Original[path] = content
	}
	return content, err
}

// reason is the first line of an error that says something, without the names
// of files that are not the user's.
func (f *fixer) reason(err error) string {
	line := firstLine(err)
	if at := strings.Index(line, f.folder); at >= 0 {
		if end := strings.Index(line[at:], ".go:"); end >= 0 {
			line = line[:at] + filepath.Base(line[at:at+end]) + line[at+end:]
		}
	}
	return line
}

// firstLine is the first line of an error that says something.
func firstLine(err error) string {
	lines := strings.Split(err.Error(), "\n")
	at := slices.IndexFunc(lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "--- FAIL") && line != "FAIL"
	})
	if at < 0 {
		return lines[0]
	}
	return strings.TrimSpace(lines[at])
}
