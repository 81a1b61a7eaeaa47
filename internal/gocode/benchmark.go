package gocode

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"mallow/internal/launch"
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
	// UntimedPerOp are allocations while the benchmark's timer stood still, and
	// before it was reset, which the others leave out, too, as package testing does.
	UntimedPerOp float64
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
	// NoCPU says why nobody looked where the CPU time goes, "" where somebody did.
	NoCPU string
	// Uncounted says why there are no allocations, "" where there are.
	Uncounted string
	failed    bool
}

// CPerOp is what an operation allocates in C.
type CPerOp struct{ Allocs, Bytes float64 }

// BenchmarkOptions choose what is measured.
type BenchmarkOptions struct {
	Bench     string        // regular expression as go test -bench takes it
	Benchtime string        // of the run that tells the time, as go test takes it; "" for its default
	Exact     time.Duration // what the exact runs of one benchmark may take, about
	// Within is what all exact runs of a package may take, about, and what may be
	// added to the others; 0 for whatever it takes, and each benchmark by processes
	// of its own.
	Within time.Duration
	// Operations, if not nil, chooses how many the exact runs are apart; 0 lets
	// Exact decide.
	Operations func(benchmark string) uint64
	// CPU tells whether to find out where the CPU time goes: each benchmark then
	// has its time from a process of its own, unless that takes too long.
	CPU       bool
	TestFlags []string // further flags of the test executable
	// Uncollected counting runs have no collector, up to a gigabyte: it would
	// empty pools now and then, and what refills them is not the same each time.
	Uncollected bool
}

// Tests is a package with tests that were built twice: as they are and
// counting.
type Tests struct {
	Package  string
	folder   string // of the package: tests run there
	origins  origins
	callsC   bool
	marked   bool // package testing tells the runtime which benchmark runs
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
		Package: p.ImportPath, folder: p.Dir, origins: origins, callsC: callsC && !sanitized(b.GoFlags), marked: b.marks(),
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
	t.sources, t.escapes = b.understand([]string{p.ImportPath}, true)
	return t, nil
}

// Notes are what the compiler says of the package and of those of its module
// that it imports.
func (t *Tests) Notes() []Note { return t.escapes.notes() }

// Close gives back what naming the tests' frames holds.
func (t *Tests) Close() { t.names.close() }

// Benchmarks measures those that the options choose; none is no error. With an
// error, which says which failed, it returns what was measured nevertheless.
func (t *Tests) Benchmarks(o BenchmarkOptions) ([]*Benchmark, error) {
	benchtime := o.Benchtime
	if o.CPU {
		benchtime = "1x" // tells which there are
	}
	all, setup, failed := t.list(o, benchtime)
	if len(all) == 0 {
		return nil, failed
	}
	if o.CPU {
		failed = errors.Join(failed, t.time(all, setup, o))
	}
	failed = errors.Join(failed, t.countAll(all, setup, o))
	return slices.DeleteFunc(all, func(b *Benchmark) bool { return b.failed }), failed
}

// list runs benchmarks and returns those that do not fail, and the CPU time that
// processes take beside one operation of each, where there is a limit to keep. Of
// those that end the process the others run in another.
func (t *Tests) list(o BenchmarkOptions, benchtime string) (all []*Benchmark, setup setups, failed error) {
	args := benchmarkArguments(o.Bench, benchtime, o.TestFlags)
	setup.each = make(map[string]time.Duration)
	var done []string // benchmarks with all that are within
	for {
		ran, err := t.execute(t.stock, nil, args)
		found, readErr := t.results(ran.printed.text)
		all, failed = append(all, found...), errors.Join(failed, err, readErr)
		if o.Within > 0 {
			t.setUp(&setup, ran, found, o)
		}
		guilty := endedBy(ran.printed.text)
		if err == nil || guilty == "" || slices.Contains(done, guilty) {
			return all, setup, failed
		}
		done = append(done, guilty)
		for _, b := range found {
			name := "Benchmark" + functionOf(b.Name)
			if !slices.Contains(done, name) {
				done = append(done, name)
			}
		}
		args = benchmarkArguments(o.Bench, benchtime, append([]string{"-test.skip=^(" + strings.Join(done, "|") + ")$"}, o.TestFlags...))
	}
}

// setUp adds what a process took beside one operation of each benchmark that it
// ran. Where that is much, one without benchmarks tells what is the start's.
func (t *Tests) setUp(setup *setups, r ran, found []*Benchmark, o BenchmarkOptions) {
	beside := r.cpu
	for _, b := range found {
		beside -= time.Duration(b.NsPerOp)
	}
	beside = max(beside, leastStart)
	if beside <= o.Within/smallPart {
		setup.start = max(setup.start, beside)
		return
	}
	empty, err := t.execute(t.stock, nil, benchmarkArguments("^$", "", o.TestFlags))
	if err != nil {
		setup.start = max(setup.start, beside)
		return
	}
	start := min(max(empty.cpu, leastStart), beside)
	setup.start = max(setup.start, start)
	each, first := r.share(beside, found)
	each[first] = max(0, each[first]-start)
	maps.Copy(setup.each, each)
}

var (
	// untimed benchmarks leave their time out, or have panicked in their only
	// operation: more of them will tell.
	untimed = regexp.MustCompile(`(?m)^(Benchmark\S+)\s+[1-9][0-9]*[ \t]*$`)
	traced  = regexp.MustCompile(`(?m)^\S+\.(Benchmark\w*)[.(]`)
	endless = regexp.MustCompile(`(?m)^(Benchmark\S+)\s+0\s+NaN ns/op`)
	// lastWords is what a benchmark said on its way.
	lastWords = regexp.MustCompile(`(?m)^--- BENCH: (Benchmark\S+).*\n +(.+)`)
)

// endlessOnes names the benchmarks that did not come to their end, and what they
// said on the way; those within guilty, which ended the process, are known.
func (t *Tests) endlessOnes(out []byte, guilty string) error {
	var all []error
	said := make(map[string]string)
	for _, found := range lastWords.FindAllSubmatch(out, -1) {
		said[string(found[1])] = fmt.Sprintf(" (%s)", found[2])
	}
	for _, found := range endless.FindAllSubmatch(rejoined(out), -1) {
		name := withoutProcessors(string(found[1]))
		if top, _, _ := strings.Cut(name, "/"); top == guilty {
			continue
		}
		all = append(all, fmt.Errorf("%s of %s did not come to its end: it was skipped after its first round%s, panicked, or called runtime.Goexit", name, t.Package, said[string(found[1])]))
	}
	return errors.Join(all...)
}

// endedBy names the benchmark that ended its process by a panic, as far as what
// it printed tells, without those within it.
func endedBy(out []byte) string {
	if at := bytes.LastIndex(out, []byte("\ngoroutine ")); at >= 0 {
		if found := traced.FindSubmatch(out[at:]); found != nil {
			return string(found[1])
		}
	}
	return ""
}

func benchmarkArguments(bench, benchtime string, flags []string) []string {
	args := []string{"-test.run=^$", "-test.bench=" + bench}
	if benchtime != "" {
		args = append(args, "-test.benchtime="+benchtime)
	}
	return append(args, flags...)
}

const (
	// leastStart is the CPU time of a process that does nothing.
	leastStart = 5 * time.Millisecond
	// smallPart of what may be added does not matter.
	smallPart = 100
	// lastProfile is how long package testing waits for the end of a profile.
	lastProfile = 100 * time.Millisecond
	// profilesPart of what may be added goes into processes of benchmarks of their
	// own, to see where their CPU time goes.
	profilesPart = 3
)

// time runs benchmarks as they are, for their time: each in a process of its
// own where that adds little, to see where its CPU time goes; all together
// otherwise.
func (t *Tests) time(all []*Benchmark, setup setups, o BenchmarkOptions) error {
	var failed error
	var added time.Duration
	for _, b := range all {
		added += setup.process(b) + lastProfile
	}
	if o.Within == 0 || added <= o.Within/profilesPart {
		for _, b := range all {
			failed = errors.Join(failed, t.profile(b, o))
		}
		return failed
	}
	for _, b := range all {
		b.NoCPU = fmt.Sprintf("it takes a process of its own for each of %d benchmarks; --bench chooses fewer", len(all))
	}
	ran, failed := t.execute(t.stock, nil, benchmarkArguments(together(all), o.Benchtime, o.TestFlags))
	timed, err := t.results(ran.printed.text)
	for _, of := range timed {
		for _, b := range all {
			if b.Name == of.Name {
				b.NsPerOp = of.NsPerOp
			}
		}
	}
	return errors.Join(failed, err)
}

// timed runs benchmarks as they are.
func (t *Tests) timed(bench, benchtime string, flags []string) ([]*Benchmark, error) {
	ran, err := t.execute(t.stock, nil, benchmarkArguments(bench, benchtime, flags))
	if err != nil {
		return nil, err
	}
	return t.results(ran.printed.text)
}

var (
	// named and outcome are what package testing prints of a benchmark before it
	// runs and after.
	named   = regexp.MustCompile(`Benchmark\S* *\t`)
	outcome = regexp.MustCompile(` *[0-9]+(\t *[-+.0-9A-Za-z]+ \S+)+\n`)
)

// rejoined returns the lines of package testing alone, each in one piece,
// whatever the benchmarks print in the midst of them.
func rejoined(out []byte) []byte {
	var lines []byte
	names := named.FindAllIndex(out, -1)
	for i, name := range names {
		end := len(out)
		if i+1 < len(names) {
			end = names[i+1][0]
		}
		lines = append(lines, out[name[0]:name[1]]...)
		lines = append(lines, outcome.Find(out[name[1]:end])...)
		lines = append(lines, '\n')
	}
	return lines
}

// results reads what package testing prints of benchmarks.
func (t *Tests) results(out []byte) ([]*Benchmark, error) {
	var all []*Benchmark
	add := func(name string, nsPerOp float64) {
		name = withoutProcessors(name)
		if !slices.ContainsFunc(all, func(other *Benchmark) bool { return other.Name == name }) { // -count
			all = append(all, &Benchmark{Package: t.Package, Name: name, NsPerOp: nsPerOp})
		}
	}
	reader := benchfmt.NewReader(bytes.NewReader(rejoined(out)), t.Package)
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		if result.Iters == 0 { // see endless
			continue
		}
		nsPerOp := 0.0
		for _, v := range result.Values {
			if v.OrigUnit == "ns/op" {
				nsPerOp = v.OrigValue
			}
		}
		add(result.Name.String(), nsPerOp)
	}
	for _, found := range untimed.FindAllSubmatch(out, -1) {
		add(strings.TrimPrefix(string(found[1]), "Benchmark"), 0)
	}
	return all, reader.Err()
}

// profile runs a benchmark as it is, in a process of its own, for its time and
// for where its CPU time goes.
func (t *Tests) profile(b *Benchmark, o BenchmarkOptions) error {
	folder, err := launch.Scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "cpu")
	again, err := t.timed(Exactly(b.Name), o.Benchtime, append([]string{"-test.cpuprofile=" + path}, o.TestFlags...))
	if err != nil {
		b.failed = true
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

// withoutProcessors cuts the number of processors off a benchmark's name, which
// package testing puts there where there is more than one.
func withoutProcessors(name string) string {
	if at := strings.LastIndexByte(name, '-'); at >= 0 && runtime.GOMAXPROCS(0) > 1 {
		if _, err := strconv.Atoi(name[at+1:]); err == nil {
			return name[:at]
		}
	}
	return name
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

// together returns the expression that only these benchmarks match.
func together(all []*Benchmark) string {
	if len(all) == 1 {
		return Exactly(all[0].Name)
	}
	var parents []string
	of := make(map[string][]string)
	for _, b := range all {
		parent, name := "", "Benchmark"+b.Name
		if at := strings.LastIndexByte(b.Name, '/'); at >= 0 {
			parent, name = Exactly(b.Name[:at])+"/", b.Name[at+1:]
		}
		if of[parent] == nil {
			parents = append(parents, parent)
		}
		of[parent] = append(of[parent], regexp.QuoteMeta(name))
	}
	for i, parent := range parents {
		parents[i] = parent + "^(" + strings.Join(of[parent], "|") + ")$"
	}
	return strings.Join(parents, "|")
}

// ran is what a run of a test executable left.
type ran struct {
	printed *clocked
	pid     int
	cpu     time.Duration
}

// run runs a test executable and returns what it printed, and its process id.
func (t *Tests) run(executable string, environment, args []string) (out []byte, pid int, err error) {
	ran, err := t.execute(executable, environment, args)
	return ran.printed.text, ran.pid, err
}

// execute runs a test executable in the folder of its package. With an error,
// too, it returns what it printed. A benchmark that panics does so beside the
// goroutine that waits for it, which may print that it ran no time and end the
// process with status 0 before the panic does.
func (t *Tests) execute(executable string, environment, args []string) (ran, error) {
	c := exec.Command(executable, append([]string{"-test.paniconexit0"}, args...)...)
	c.Dir = t.folder
	c.Env = append(os.Environ(), environment...)
	printed := &clocked{began: time.Now()}
	c.Stdout, c.Stderr = printed, printed
	err := c.Run()
	out := printed.text
	r := ran{printed: printed}
	if c.ProcessState != nil {
		r.pid, r.cpu = c.ProcessState.Pid(), c.ProcessState.UserTime()+c.ProcessState.SystemTime()
	}
	if err != nil {
		what := "the tests of " + t.Package + " fail"
		if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-test.bench=") }) {
			what = "a benchmark of " + t.Package + " fails"
		}
		failed := &CommandError{What: what, Output: strings.TrimSpace(string(out)), err: err}
		return r, errors.Join(failed, t.endlessOnes(out, endedBy(out)))
	}
	return r, t.endlessOnes(out, "")
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
			all = append(all, Stack{Frames: s.Frames, Type: s.Type, Size: s.Size, C: s.C, Shared: s.Shared, Untimed: s.Untimed})
		}
		all[at].Allocs -= s.Allocs
		all[at].Bytes -= s.Bytes
		all[at].Live -= s.Live
		all[at].LiveShared -= s.LiveShared
	}
	spare := refilled(all)
	changed := all[:0]
	for _, s := range all {
		if s.Allocs != 0 && !spare[s.pooled()] {
			s.Allocs /= operations
			s.Bytes /= operations
			s.Live /= operations
			s.LiveShared /= operations
			changed = append(changed, s)
		}
	}
	return changed
}

// refilled are the keys of what pools made more often in the shorter run, when
// the scheduler moved its goroutine to a thread whose pool was empty: no operation
// of the longer one makes less than nothing for that.
func refilled(differences []Stack) map[string]bool {
	made := make(map[string]float64)
	for i := range differences {
		made[differences[i].pooled()] += differences[i].Allocs
	}
	less := make(map[string]bool)
	for key, allocs := range made {
		less[key] = key != "" && allocs < 0
	}
	return less
}

// pooled is the key of what New of a sync.Pool made, whoever asked the pool for
// it; "" for all else.
func (s *Stack) pooled() string {
	at := slices.IndexFunc(s.Frames, func(f Frame) bool { return f.Function == "sync.(*Pool).Get" })
	if at < 0 {
		return ""
	}
	return s.keyOf(s.Frames[:at])
}

func (s *Stack) key() string { return s.keyOf(s.Frames) }

func (s *Stack) keyOf(frames []Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %v %v", s.Size, s.Type, s.C, s.Untimed)
	for i := range frames {
		f := &frames[i]
		fmt.Fprintf(&b, "\n%s %s %d", f.Function, f.File, f.Line)
	}
	return b.String()
}
