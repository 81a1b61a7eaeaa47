package gocode

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// LadderStep is one rung of the ladder: the package as it was, or after one more
// rewrite that was kept.
type LadderStep struct {
	*Rewrite           // nil of the first
	Patch       string // unified, against the step before
	Compared    string // what the changed function was compared by
	AllocsPerOp float64
	NsPerOp     float64
}

// Rejected is a rewrite that was tried and not kept.
type Rejected struct {
	*Rewrite
	Reason string
}

// Fixed is what came of fixing a package by one of its benchmarks.
type Fixed struct {
	Package   string
	Benchmark string
	Ladder    []LadderStep // the first is the package as it was
	Rejected  []Rejected
	Left      []*Line // of the last step, with the advice that remains
	Unsound   []Unsound
	// Contents are the changed files, Original what they were.
	Contents, Original map[string][]byte
}

// FixOptions choose how fixes are proven.
type FixOptions struct {
	BenchmarkOptions
	Race bool // run the tests with the race detector, too
	// Progress is told what is tried, nil for nobody.
	Progress func(words string)
}

// ErrTestsFail tells that a package's tests fail before any change.
var ErrTestsFail = errors.New("its tests fail as it is: nothing can be proven by them")

// leastSaved allocations of an operation make a rewrite worth keeping.
const leastSaved = 0.5

// Fix applies rewrites to a package one at a time, as an overlay: the files
// stay as they are. A rewrite is kept if the package builds, its tests pass,
// the changed function does what the old one did for many arguments, and an
// operation of the benchmark allocates less.
func (b *Builder) Fix(p Package, o FixOptions) (*Fixed, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	folder, err := os.MkdirTemp("", "mallow-go-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	f := &fixer{Builder: b, p: p, o: o, folder: folder, tried: make(map[string]bool)}
	f.Fixed = Fixed{Package: p.ImportPath, Contents: make(map[string][]byte), Original: make(map[string][]byte)}
	o.Progress("tests of " + p.ImportPath + " as it is")
	if err := f.test(nil); err != nil {
		return nil, fmt.Errorf("%s: %w (%s)", p.ImportPath, ErrTestsFail, firstLine(err))
	}
	now, err := f.measure(nil)
	if err != nil {
		return nil, err
	}
	f.Benchmark = now.Name
	f.Ladder = []LadderStep{{AllocsPerOp: now.AllocsPerOp, NsPerOp: now.NsPerOp}}
	for {
		next, step := f.improve(now)
		if next == nil {
			f.Left = now.Lines
			sources := f.loadSources([]string{p.ImportPath}, f.Contents)
			explain(f.Left, sources, nil)
			f.Unsound = sources.unsound()
			return &f.Fixed, nil
		}
		f.Ladder = append(f.Ladder, *step)
		now = next
	}
}

type fixer struct {
	*Builder
	Fixed
	p      Package
	o      FixOptions
	folder string
	tried  map[string]bool
	runs   int
}

// improve tries the rewrites of the lines, the hottest first, until one is
// kept; nil when none is.
func (f *fixer) improve(now *Benchmark) (*Benchmark, *LadderStep) {
	sources := f.loadSources([]string{f.p.ImportPath}, f.Contents)
	for _, l := range now.Lines {
		if l.Allocs < leastSaved {
			break
		}
		source := sources.file(l.File)
		if source == nil || l.Origin != OriginOwn || strings.HasSuffix(l.File, "_test.go") || filepath.Dir(l.File) != f.p.Dir {
			continue
		}
		content, err := f.content(l.File)
		if err != nil {
			continue
		}
		s := &subject{line: l, sources: sources}
		for _, r := range s.rewrites(map[string][]byte{l.File: content}) {
			if f.tried[r.key()] {
				continue
			}
			f.tried[r.key()] = true
			f.o.Progress(r.Title)
			next, compared, err := f.prove(r, now)
			if err != nil {
				f.Rejected = append(f.Rejected, Rejected{r, firstLine(err)})
				continue
			}
			name := filepath.Base(r.File)
			step := &LadderStep{
				Rewrite: r, Compared: compared, AllocsPerOp: next.AllocsPerOp, NsPerOp: next.NsPerOp,
				Patch: string(diff.Diff("a/"+name, content, "b/"+name, r.Source)),
			}
			f.Contents[r.File] = r.Source
			return next, step
		}
	}
	return nil, nil
}

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

// prove returns the benchmark with the rewrite, and what the changed function
// was compared by, or the reason why the rewrite is not kept.
func (f *fixer) prove(r *Rewrite, before *Benchmark) (*Benchmark, string, error) {
	changed := map[string][]byte{r.File: r.Source}
	if err := f.test(changed); err != nil {
		return nil, "", fmt.Errorf("tests: %w", err)
	}
	after, err := f.measure(changed)
	if err != nil {
		return nil, "", err
	}
	if before.AllocsPerOp-after.AllocsPerOp < leastSaved {
		return nil, "", fmt.Errorf("an operation allocates %.4g times, as before %.4g", after.AllocsPerOp, before.AllocsPerOp)
	}
	compared, err := f.compare(r)
	if err != nil {
		return nil, "", err
	}
	return after, compared, nil
}

// test runs the package's tests with some files changed besides the steps so
// far.
func (f *fixer) test(changed map[string][]byte) error {
	overlay, err := f.overlayWith(changed, f.plain)
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"test", "-count=1", "-overlay", overlay}, f.GoFlags, []string{f.p.ImportPath})
	if err := f.build(args); err != nil || !f.o.Race {
		return err
	}
	return f.build(slices.Insert(args, 1, "-race"))
}

// measure measures the benchmark: the first that the options choose and that
// allocates.
func (f *fixer) measure(changed map[string][]byte) (*Benchmark, error) {
	overlay, err := f.overlayWith(changed, f.overlay)
	if err != nil {
		return nil, err
	}
	plain, err := f.overlayWith(changed, f.plain)
	if err != nil {
		return nil, err
	}
	f.runs++
	into := filepath.Join(f.folder, fmt.Sprint("run", f.runs))
	if err := os.Mkdir(into, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(into)
	with := *f.Builder
	with.overlay = overlay
	with.plain = plain
	with.Unexplained = true
	tests, err := with.Tests(f.p, into)
	if err != nil {
		return nil, err
	}
	defer tests.Close()
	o := f.o.BenchmarkOptions
	if f.Benchmark != "" {
		o.Bench = exactly(f.Benchmark)
	}
	all, err := tests.Benchmarks(o)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if b.AllocsPerOp >= leastSaved || f.Benchmark != "" {
			return b, nil
		}
	}
	if len(all) > 0 {
		return all[0], nil
	}
	return nil, fmt.Errorf("%s: no benchmark matches %s", f.p.ImportPath, o.Bench)
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

// firstLine is the first line of an error that says something.
func firstLine(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return lines[0]
}
