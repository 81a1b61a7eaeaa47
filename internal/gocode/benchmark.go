package gocode

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// Benchmark is what one operation of a benchmark costs. Allocations are of
// the operations alone: two runs of different length are subtracted, so that
// set-up and what is made once cancel out.
type Benchmark struct {
	Package string // import path
	Name    string // without "Benchmark"
	NsPerOp float64
	// Operations is by how many the longer run was longer.
	Operations              uint64
	AllocsPerOp, BytesPerOp float64
	// C's are those of malloc, beside Go's; nil where there is no C.
	C *CPerOp
	// RuntimePerOp are allocations that the runtime and package testing made on
	// their own account, such as for a collection; the others leave them out.
	RuntimePerOp float64
	// GCPerOp are the cycles of the garbage collector.
	GCPerOp float64
	// Checked tells whether in both runs every allocation that the runtime
	// itself counted is in the figures; Mallocs are those of the longer run.
	Checked bool
	Mallocs uint64
	// Stock says why the figures come from the runtime's own profile, which
	// misses tiny objects; nil where every allocation was counted.
	Stock *UnknownVersionError
	Lines []*Line // per operation
	// CPU is of the run that gives the time, in which nothing is counted; nil
	// where it was too short.
	CPU *CPU
}

// CPerOp is what an operation allocates in C.
type CPerOp struct{ Allocs, Bytes float64 }

// BenchmarkOptions choose what is measured.
type BenchmarkOptions struct {
	Bench     string        // regular expression as go test -bench takes it
	Benchtime string        // of the run that tells the time, as go test takes it; "" for its default
	Exact     time.Duration // what the exact runs of one benchmark may take, about
	// Operations, if not nil, chooses how many the exact runs are apart; 0 lets
	// Exact decide.
	Operations func(benchmark string) uint64
	// CPU tells whether to find out where the CPU time goes: each benchmark then
	// has its time from a process of its own.
	CPU       bool
	TestFlags []string // further flags of the test executable
	// Uncollected counting runs have no collector, up to a gigabyte: it would
	// empty pools now and then, and what refills them is not the same each time.
	Uncollected bool
}

// shortRun is the number of operations of the shorter exact run: enough for
// what is made at first use, and for what a second operation needs.
const shortRun = 10

// mostOperations bounds the longer one: a part of an allocation per operation
// shows to its third digit.
const mostOperations = 1000

// Tests is a package with tests that were built twice: as they are and
// counting.
type Tests struct {
	Package  string
	folder   string // of the package: tests run there
	origins  origins
	callsC   bool
	stock    string
	counting string
	names    *namer // of counting
	sources  *sources
	escapes  escapes
	why      *UnknownVersionError // the runtime's own profile is used, nil where every allocation is counted
}

// ErrNoTests tells that a package has no tests.
var ErrNoTests = errors.New("no test files")

// Tests builds the tests of a package into a folder. Who is done with them
// calls Close.
func (b *Builder) Tests(p Package, into string) (*Tests, error) {
	if !p.hasTests() {
		return nil, ErrNoTests
	}
	origins, callsC, err := listOrigins(b.GoFlags, []string{p.ImportPath})
	if err != nil {
		return nil, err
	}
	t := &Tests{
		Package: p.ImportPath, folder: p.Dir, origins: origins, callsC: callsC && !sanitized(b.GoFlags),
		stock: filepath.Join(into, "stock.test"), counting: filepath.Join(into, "counting.test"),
	}
	if err := b.test(t.stock, p.ImportPath, false); err != nil {
		return nil, err
	}
	if t.why = b.stock; t.why != nil {
		t.counting = t.stock
	} else if err := b.test(t.counting, p.ImportPath, true); err != nil {
		return nil, err
	}
	if t.names, err = newNamer(t.counting, origins); err != nil {
		return nil, err
	}
	if b.Unexplained {
		return t, nil
	}
	t.sources, t.escapes = b.understand([]string{p.ImportPath}, []string{"test", "-c"})
	return t, nil
}

// Notes are what the compiler says of the package and of those of its module
// that it imports.
func (t *Tests) Notes() []Note { return t.escapes.notes() }

// Close gives back what naming the tests' frames holds.
func (t *Tests) Close() { t.names.close() }

// Benchmarks measures those that the options choose; none is no error.
func (t *Tests) Benchmarks(o BenchmarkOptions) ([]*Benchmark, error) {
	benchtime := o.Benchtime
	if o.CPU {
		benchtime = "1x" // tells which there are
	}
	all, err := t.timed(o.Bench, benchtime, o.TestFlags)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if o.CPU {
			if err := t.profile(b, o); err != nil {
				return nil, err
			}
		}
		if err := t.count(b, o); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// timed runs benchmarks as they are.
func (t *Tests) timed(bench, benchtime string, flags []string) ([]*Benchmark, error) {
	args := []string{"-test.run=^$", "-test.bench=" + bench}
	if benchtime != "" {
		args = append(args, "-test.benchtime="+benchtime)
	}
	out, _, err := t.run(t.stock, nil, append(args, flags...))
	if err != nil {
		return nil, err
	}
	var all []*Benchmark
	reader := benchfmt.NewReader(bytes.NewReader(out), t.Package)
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		ns, _ := result.Value("sec/op")
		b := &Benchmark{Package: t.Package, Name: withoutProcessors(result.Name.String()), NsPerOp: ns * 1e9}
		if !slices.ContainsFunc(all, func(other *Benchmark) bool { return other.Name == b.Name }) { // -count
			all = append(all, b)
		}
	}
	return all, reader.Err()
}

// profile runs a benchmark as it is, in a process of its own, for its time and
// for where its CPU time goes.
func (t *Tests) profile(b *Benchmark, o BenchmarkOptions) error {
	folder, err := os.MkdirTemp("", "mallow-go-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "cpu")
	again, err := t.timed(Exactly(b.Name), o.Benchtime, append([]string{"-test.cpuprofile=" + path}, o.TestFlags...))
	if err != nil {
		return err
	}
	for _, timed := range again {
		if timed.Name == b.Name {
			b.NsPerOp = timed.NsPerOp
		}
	}
	b.CPU = readCPU(path, t.origins)
	return nil
}

// withoutProcessors cuts the number of processors off a benchmark's name.
func withoutProcessors(name string) string {
	if at := strings.LastIndexByte(name, '-'); at >= 0 {
		if _, err := strconv.Atoi(name[at+1:]); err == nil {
			return name[:at]
		}
	}
	return name
}

// Again counts a benchmark anew, with as many operations.
func (t *Tests) Again(b *Benchmark, o BenchmarkOptions) (*Benchmark, error) {
	again := &Benchmark{Package: b.Package, Name: b.Name, NsPerOp: b.NsPerOp, CPU: b.CPU}
	o.Operations = func(string) uint64 { return b.Operations }
	return again, t.count(again, o)
}

// count runs a benchmark twice, counting.
func (t *Tests) count(b *Benchmark, o BenchmarkOptions) error {
	if o.Operations != nil {
		b.Operations = o.Operations(b.Name)
	}
	if b.Operations == 0 {
		b.Operations = operations(b.NsPerOp, o.Exact)
	}
	short, err := t.countRun(b.Name, shortRun, o)
	if err != nil {
		return err
	}
	long, err := t.countRun(b.Name, shortRun+b.Operations, o)
	if err != nil {
		return err
	}
	b.Checked, b.Mallocs, b.Stock = short.agrees && long.agrees, long.mallocs, t.why
	b.GCPerOp = (float64(long.collections) - float64(short.collections)) / float64(b.Operations)
	stacks := difference(long.stacks, short.stacks, float64(b.Operations))
	stacks = slices.DeleteFunc(stacks, func(s Stack) bool {
		own := !s.C && (s.OfRuntime() || s.OfTesting())
		if own {
			b.RuntimePerOp += s.Allocs
		}
		return own
	})
	if long.c {
		b.C = new(CPerOp)
	}
	for _, s := range stacks {
		if s.C {
			b.C.Allocs += s.Allocs
			b.C.Bytes += s.Bytes
			continue
		}
		b.AllocsPerOp += s.Allocs
		b.BytesPerOp += s.Bytes
	}
	b.Lines = lines(stacks)
	if t.sources != nil {
		explain(b.Lines, t.sources, t.escapes)
		announce(b.Lines, t.sources, leastSaved)
	}
	explainC(b.Lines)
	return nil
}

// operations is how many fit into a time, when counting makes them some three
// times as slow.
func operations(ns float64, within time.Duration) uint64 {
	if ns <= 0 {
		return mostOperations
	}
	return uint64(max(1, min(mostOperations, math.Floor(float64(within)/(3*ns)))))
}

func (t *Tests) countRun(name string, operations uint64, o BenchmarkOptions) (*measured, error) {
	args := append([]string{"-test.run=^$", "-test.bench=" + Exactly(name), fmt.Sprintf("-test.benchtime=%dx", operations)}, o.TestFlags...)
	if t.why != nil {
		return t.stockRun(args)
	}
	var environment []string
	if o.Uncollected {
		environment = []string{"GOGC=off", "GOMEMLIMIT=1GiB"}
	}
	return t.counted(args, environment)
}

// counted runs the tests' executable, counting.
func (t *Tests) counted(args, environment []string) (*measured, error) {
	folder, err := os.MkdirTemp("", "mallow-go-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	environment = append(environment, countsVariable+"="+folder)
	if t.callsC {
		inC, err := recordC(cFolder(folder))
		if err != nil {
			return nil, err
		}
		environment = append(environment, inC...)
	}
	_, pid, err := t.run(t.counting, environment, args)
	if err != nil {
		return nil, err
	}
	all, err := readFolder(folder, pid)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s %s: it left no counts", t.Package, strings.Join(args, " "))
	}
	first := all[0]
	m := &measured{stacks: t.names.stacks(first), agrees: first.Agrees(), mallocs: first.Mallocs, collections: first.Collections}
	if t.callsC {
		if side, err := t.names.cSide(cFolder(folder), first); err == nil {
			m.stacks, m.c = append(m.stacks, side.stacks...), true
		}
	}
	return m, nil
}

// Exactly returns the expression that only one benchmark matches, as go test
// -bench takes it.
func Exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	parts[0] = "^Benchmark" + parts[0][1:]
	return strings.Join(parts, "/")
}

// run runs a test executable in the folder of its package and returns what it
// printed, and its process id.
func (t *Tests) run(executable string, environment, args []string) (out []byte, pid int, err error) {
	c := exec.Command(executable, args...)
	c.Dir = t.folder
	c.Env = append(os.Environ(), environment...)
	out, err = c.CombinedOutput()
	if err != nil {
		what := "the tests of " + t.Package + " fail"
		if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-test.bench=") }) {
			what = "a benchmark of " + t.Package + " fails"
		}
		return nil, 0, &CommandError{What: what, Output: strings.TrimSpace(string(out)), err: err}
	}
	return out, c.Process.Pid, nil
}

// difference returns by how much the stacks of a longer run exceed those of a
// shorter one, per operation. What both have as often is left out.
func difference(long, short []Stack, operations float64) []Stack {
	of := make(map[string]int)
	var all []Stack
	for _, s := range long {
		key := s.key()
		if at, known := of[key]; known {
			all[at].Allocs += s.Allocs
			all[at].Bytes += s.Bytes
			all[at].Live += s.Live
			all[at].LiveShared += s.LiveShared
			continue
		}
		of[key] = len(all)
		all = append(all, s)
	}
	for _, s := range short {
		at, known := of[s.key()]
		if !known {
			at = len(all)
			of[s.key()] = at
			all = append(all, Stack{Frames: s.Frames, Type: s.Type, Size: s.Size, C: s.C, Shared: s.Shared})
		}
		all[at].Allocs -= s.Allocs
		all[at].Bytes -= s.Bytes
		all[at].Live -= s.Live
		all[at].LiveShared -= s.LiveShared
	}
	changed := all[:0]
	for _, s := range all {
		if s.Allocs != 0 {
			s.Allocs /= operations
			s.Bytes /= operations
			s.Live /= operations
			s.LiveShared /= operations
			changed = append(changed, s)
		}
	}
	return changed
}

func (s *Stack) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %v", s.Size, s.Type, s.C)
	for i := range s.Frames {
		f := &s.Frames[i]
		fmt.Fprintf(&b, "\n%s %s %d", f.Function, f.File, f.Line)
	}
	return b.String()
}
