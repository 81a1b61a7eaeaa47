package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"mallow/internal/gocode"
	"mallow/internal/launch"
	goreport "mallow/internal/report/gocode"
	"mallow/internal/term"
	"mallow/web"
)

// goOptions are the flags of mallow go test and run.
type goOptions struct {
	json      bool
	top       int
	bench     string
	benchtime string
	seconds   float64
	within    time.Duration
	output    string
	verbose   bool
	pprof     string
	benchfmt  string
	html      htmlOptions
}

func newGoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "go test|run|build|fix|gate|diff",
		Short: "Count every allocation of a Go program or of its benchmarks",
		Long: `go counts the allocations of Go code exactly: every one, also of the tiny
objects that the runtime's own profile misses, by line and by what the line
calls. The code, go.mod and the Go installation stay as they are: the program is
built with an overlay that makes the runtime count.

Flags of the go command (-tags, -race, -ldflags and so on) have one dash and
are passed on to it; mallow's own have two.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("mallow go %s: there are test, run, build, fix, gate and diff", term.Safe(args[0]))
			}
			return fmt.Errorf("mallow go: say test, run, build, fix, gate or diff")
		},
	}
	for _, sub := range []*cobra.Command{newGoTestCommand(), newGoRunCommand(), newGoBuildCommand(), newGoFixCommand(), newGoGateCommand(), newGoDiffCommand()} {
		sub.DisableFlagParsing = true // see splitGoFlags
		c.AddCommand(sub)
	}
	return c
}

const everyBenchmark = "."

func newGoTestCommand() *cobra.Command {
	o := goOptions{top: 10, bench: everyBenchmark, seconds: 1, within: 20 * time.Second}
	c := &cobra.Command{
		Use:   "test [--bench RE] [--json | --html FILE | --web] [--top N] [GO FLAGS] [PACKAGES]",
		Short: "Allocations of each operation of benchmarks, by line",
		Long: `test runs the benchmarks of packages and says what one operation allocates, by
line. Each runs once as it is, for the time and for where the CPU time goes, and
twice counting, with a known number of operations between the two: set-up and
what is made only once cancel out, and parts of an allocation per operation
show. Where there are no benchmarks the tests run once, counting. All benchmarks
of a package share the time of --within: of many, and of slow ones, fewer
operations are counted, and what does not fit is named.

Exit codes: 0; 1 usage, or where a package cannot be measured: the others are.`,
		Example: `  mallow go test ./...
  mallow go test --bench 'Parse$' --top 5 -tags fast ./internal/parser`,
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, `for scripts: schema "mallow.go/1"`)
	f.StringVar(&o.bench, "bench", o.bench, "regular expression of benchmarks, as go test -bench takes it")
	f.StringVar(&o.benchtime, "benchtime", "", "how long the run for the time goes on, as go test -benchtime takes it")
	f.Float64Var(&o.seconds, "exact-seconds", o.seconds, "about how long each counting run may take")
	f.DurationVar(&o.within, "within", o.within, "about how long counting all benchmarks of a package may take, 0 for as long as it takes")
	f.BoolVar(&o.verbose, "verbose", false, "with the compiler's own words for why a value goes to the heap")
	f.StringVar(&o.pprof, "pprof", "", "write a profile for go tool pprof into this file, too")
	o.benchfmtFlag(f)
	o.html.flags(f)
	f.IntVar(&o.top, "top", o.top, "lines to show of each benchmark, 0 for all")
	c.RunE = withGoFlags(c, func(goFlags, args []string) error {
		return goTest(c.OutOrStdout(), goFlags, args, o)
	})
	return c
}

func newGoRunCommand() *cobra.Command {
	o := goOptions{top: 10}
	c := &cobra.Command{
		Use:   "run [--json | --html FILE] [--top N] [GO FLAGS] PACKAGE ARGS",
		Short: "Run a main package and say what it allocated, by line",
		Long: `run builds a main package, runs it and then says on stderr what it allocated,
by line, however it ended. Its input, output, signals and exit status are left
alone.

Exit codes: the program's own; killed by a signal, the same signal; 1 where it
does not build, 125 mallow failed.`,
		Example: `  mallow go run . --port 8080
  mallow go run ./cmd/tool input.txt`,
	}
	c.Flags().SetInterspersed(false)
	c.Flags().BoolVar(&o.json, "json", false, `write JSON to stdout, schema "mallow.go/1"; the program's own output goes to stderr then`)
	c.Flags().BoolVar(&o.verbose, "verbose", false, "with the compiler's own words for why a value goes to the heap")
	c.Flags().StringVar(&o.pprof, "pprof", "", "write a profile for go tool pprof into this file, too")
	o.html.fileFlags(c.Flags())
	c.Flags().IntVar(&o.top, "top", o.top, "lines to show, 0 for all")
	c.RunE = withGoFlags(c, func(goFlags, args []string) error {
		return goRun(c.OutOrStdout(), c.ErrOrStderr(), goFlags, args, o)
	})
	return c
}

func newGoBuildCommand() *cobra.Command {
	var o goOptions
	c := &cobra.Command{
		Use:   "build -o FILE [GO FLAGS] [PACKAGE]",
		Short: "Build a main package that can count its allocations",
		Long: `build makes an executable that is as go build makes it, and that counts its
allocations when the environment has MALLOW_GO_COUNTS=FOLDER: each process then
writes FOLDER/PID.counts.`,
		Example: `  mallow go build -o server ./cmd/server`,
	}
	c.Flags().StringVarP(&o.output, "output", "o", "", "the executable")
	c.RunE = withGoFlags(c, func(goFlags, args []string) error {
		if o.output == "" {
			return fmt.Errorf("mallow go build: -o FILE says where the executable goes")
		}
		b, err := gocode.NewBuilder(goFlags)
		if err != nil {
			return clean(err)
		}
		if len(args) == 0 {
			args = []string{"."}
		}
		return clean(b.Program(o.output, args...))
	})
	return c
}

// withGoFlags parses the flags of a command that takes flags of the go command
// too.
func withGoFlags(c *cobra.Command, run func(goFlags, args []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		goFlags, own := splitGoFlags(args, c.Flags().Lookup("output") != nil, strings.HasPrefix(c.Use, "run"))
		if err := checkGoFlags(c, goFlags); err != nil {
			return err
		}
		c.DisableFlagParsing = false
		if err := c.ParseFlags(own); err != nil {
			return err
		}
		if help, err := c.Flags().GetBool("help"); err == nil && help {
			return c.Help()
		}
		if c.Name() == "run" { // there these signals are the program's
			return run(goFlags, c.Flags().Args())
		}
		launch.RemoveWhenEnded()
		err := run(goFlags, c.Flags().Args())
		if err != nil {
			launch.AwaitEnd()
		}
		return err
	}
}

// valued are flags of go build and go test whose value may be the next
// argument.
var valued = map[string]bool{
	"p": true, "asmflags": true, "buildmode": true, "buildvcs": true, "compiler": true, "covermode": true, "coverpkg": true,
	"gccgoflags": true, "gcflags": true, "installsuffix": true, "ldflags": true, "mod": true, "modfile": true,
	"overlay": true, "pgo": true, "pkgdir": true, "tags": true, "toolexec": true, "vet": true,
}

// ofTests are flags of go test that go to the program that it runs, or say how.
var ofTests = map[string]bool{
	"benchmem": true, "blockprofile": true, "count": true, "cpu": true, "cpuprofile": true, "failfast": true, "fuzz": true, "list": true, "memprofile": true,
	"mutexprofile": true, "outputdir": true, "parallel": true, "run": true, "short": true, "shuffle": true, "skip": true, "timeout": true, "trace": true,
}

// checkGoFlags refuses what is no flag of go build.
func checkGoFlags(c *cobra.Command, goFlags []string) error {
	for i, flag := range goFlags {
		if !strings.HasPrefix(flag, "-") || i > 0 && valued[strings.TrimPrefix(goFlags[i-1], "-")] {
			continue
		}
		name, _, _ := strings.Cut(flag[1:], "=")
		switch {
		case c.Flags().Lookup(name) != nil && name != "race":
			return fmt.Errorf("-%s: mallow's own flags have two dashes: --%s", name, name)
		case ofTests[name]:
			return fmt.Errorf("-%s is a flag of test programs, which mallow go runs in its own way: it passes those of go build on", name)
		}
	}
	return nil
}

// splitGoFlags separates flags of the go command, which have one dash, from
// mallow's. After "--", and of a program's arguments, all are left as they are.
func splitGoFlags(args []string, output, program bool) (goFlags, own []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, _, joined := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		switch {
		case arg == "--" || program && !strings.HasPrefix(arg, "-"):
			return goFlags, append(own, args[i:]...)
		case strings.HasPrefix(arg, "--"):
			own = append(own, arg)
			if !joined && takesValue(arg[2:]) && i+1 < len(args) {
				i++
				own = append(own, args[i])
			}
		case arg == "-h" || output && name == "o" || !strings.HasPrefix(arg, "-") || arg == "-":
			own = append(own, arg)
		default:
			goFlags = append(goFlags, arg)
			if !joined && valued[name] && i+1 < len(args) {
				i++
				goFlags = append(goFlags, args[i])
			}
		}
	}
	return goFlags, own
}

// takesValue holds for mallow's own flags that are followed by a value.
func takesValue(name string) bool {
	switch name {
	case "bench", "benchtime", "exact-seconds", "within", "top", "output", "patch", "patch-dir", "commits", "budget", "pprof", "benchfmt", "go", "html":
		return true
	}
	return false
}

func goTest(w io.Writer, goFlags, patterns []string, o goOptions) error {
	if err := o.checkCounting(); err != nil {
		return err
	}
	if o.within < 0 {
		return errors.New("--within takes a time from 0 up")
	}
	b, packages, err := goPackages(goFlags, patterns, true)
	if err != nil {
		return err
	}
	var t tested
	t.visit(b, packages, func(tests *gocode.Tests) error { return t.addBenchmarks(tests, o) })
	if len(t.benchmarks) == 0 && len(t.failed) == 0 && o.bench == everyBenchmark {
		t.visit(b, packages, t.addTests)
	}
	if err := t.report(w, b.Version, o); err != nil {
		t.failed = append(t.failed, err)
	}
	return errors.Join(t.failed...)
}

// tested is what was measured of packages.
type tested struct {
	benchmarks []*gocode.Benchmark
	run        gocode.Run // of tests, where there is no benchmark
	unsound    []gocode.Unsound
	notes      []gocode.Note
	failed     []error // of packages that could not be measured, or not as a whole
}

// visit visits the tests of packages, and goes on after one that fails.
func (t *tested) visit(b *gocode.Builder, packages []gocode.Package, visit func(*gocode.Tests) error) {
	for _, p := range packages {
		if err := visitPackage(b, p, visit); err != nil {
			t.failed = append(t.failed, err)
		}
	}
}

func (t *tested) addBenchmarks(tests *gocode.Tests, o goOptions) error {
	t.unsound, t.notes = append(t.unsound, tests.Unsound()...), append(t.notes, tests.Notes()...)
	options := o.benchmarks()
	options.CPU, options.Within = true, o.within
	found, err := tests.Benchmarks(options)
	t.benchmarks = append(t.benchmarks, found...)
	return err
}

func (t *tested) addTests(tests *gocode.Tests) error {
	processes, err := tests.Run()
	t.run.Processes = append(t.run.Processes, processes...)
	return err
}

// report writes what was measured, if anything was.
func (t *tested) report(w io.Writer, version string, o goOptions) error {
	switch {
	case len(t.benchmarks) > 0:
	case len(t.run.Processes) > 0:
		t.run.Unsound, t.run.Notes = t.unsound, t.notes
		return o.reportTests(w, version, &t.run)
	case len(t.failed) > 0:
		return nil
	case o.bench == everyBenchmark:
		return fmt.Errorf("there are no tests and no benchmarks: mallow go run counts a main package")
	default:
		return o.noBenchmark()
	}
	unsound := gocode.UnsoundOnce(t.unsound)
	err := o.writePprof(func(w io.Writer) error { return goreport.WriteBenchmarksPprof(w, t.benchmarks) })
	if err == nil {
		err = writeBeside(o.benchfmt, func(w io.Writer) error { return goreport.WriteBenchfmt(w, t.benchmarks) })
	}
	if err != nil {
		return err
	}
	if o.asPage() {
		page := goreport.BenchmarksPage(version, t.benchmarks, unsound, gocode.NotesOnce(t.notes))
		return o.html.put(w, web.Go, o.page(page))
	}
	if o.json {
		return goreport.WriteBenchmarksJSON(w, version, t.benchmarks, unsound)
	}
	return goreport.WriteBenchmarks(w, t.benchmarks, unsound, o.report())
}

// reportTests is for packages without benchmarks: what their tests allocate.
func (o goOptions) reportTests(w io.Writer, version string, run *gocode.Run) error {
	run.Unsound, run.Notes = gocode.UnsoundOnce(run.Unsound), gocode.NotesOnce(run.Notes)
	if err := o.writePprof(func(w io.Writer) error { return goreport.WriteRunPprof(w, run) }); err != nil {
		return err
	}
	if o.asPage() {
		return o.html.put(w, web.Go, o.page(goreport.RunPage(version, run)))
	}
	if o.json {
		return goreport.WriteRunJSON(w, version, run)
	}
	return goreport.WriteRun(w, run, o.report())
}

func (o goOptions) benchmarks() gocode.BenchmarkOptions {
	return gocode.BenchmarkOptions{Bench: o.bench, Benchtime: o.benchtime, Exact: time.Duration(o.seconds * float64(time.Second))}
}

// check finds what is wrong with flags before anything is built or run.
func (o goOptions) check() error {
	if o.top < 0 {
		return errors.New("--top takes a number from 0 up")
	}
	if !isBenchtime(o.benchtime) {
		return fmt.Errorf("--benchtime %s: it takes a time such as 2s, or a number of operations such as 100x", term.Safe(o.benchtime))
	}
	if _, err := regexp.Compile(o.bench); err != nil {
		return fmt.Errorf("--bench: %s", term.Safe(err.Error()))
	}
	for _, file := range []string{o.html.file, o.pprof, o.benchfmt} {
		if err := canWrite(file); err != nil {
			return err
		}
	}
	return o.oneForm()
}

// checkCounting is for what counts benchmarks.
func (o goOptions) checkCounting() error {
	if !(o.seconds > 0) { // nor NaN
		return errors.New("--exact-seconds takes a number above 0")
	}
	return o.check()
}

// isBenchtime tells whether go test takes it; "" is its default.
func isBenchtime(text string) bool {
	if count, operations := strings.CutSuffix(text, "x"); operations {
		n, err := strconv.ParseInt(count, 10, 0)
		return err == nil && n > 0
	}
	d, err := time.ParseDuration(text)
	return text == "" || err == nil && d > 0
}

// oneForm refuses flags that ask for more than one form of the report.
func (o goOptions) oneForm() error {
	if (o.html.file != "" || o.html.web) && o.json || o.html.file != "" && o.html.web {
		return errors.New("--html, --web and --json are a form of their own: one of them")
	}
	return nil
}

func (o goOptions) asPage() bool { return o.html.file != "" || o.html.web }

// page returns what writes a page, with sources unless a flag leaves them out.
func (o goOptions) page(p *goreport.Page) func(io.Writer) error {
	return func(w io.Writer) error { return p.Write(w, !o.html.noSource) }
}

// writePprof writes the file that --pprof names, if it does.
func (o goOptions) writePprof(write func(w io.Writer) error) error {
	return writeBeside(o.pprof, write)
}

func (o *goOptions) benchfmtFlag(f *pflag.FlagSet) {
	f.StringVar(&o.benchfmt, "benchfmt", "", "write the figures for benchstat into this file, too")
}

// writeBeside writes a file that a flag names beside the report; none where the
// flag was not given.
func writeBeside(file string, write func(w io.Writer) error) error {
	if file == "" {
		return nil
	}
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	return clean(os.WriteFile(file, content.Bytes(), 0o644))
}

func (o goOptions) noBenchmark() error {
	if o.bench == everyBenchmark {
		return errors.New("there is no benchmark in these packages, or all are skipped")
	}
	return fmt.Errorf("there is no benchmark that matches %s", term.Safe(o.bench))
}

// visited are packages whose tests were to be visited.
type visited struct {
	packages []gocode.Package // also those without tests
	failures map[string]error // by import path
}

// failed says what failed, in the order of the packages.
func (v *visited) failed() error {
	var all []error
	for _, p := range v.packages {
		all = append(all, v.failures[p.ImportPath])
	}
	return errors.Join(all...)
}

// eachTests builds the tests of each package that has some and visits them, for
// figures that are compared: without the reasons why lines allocate. It goes on
// after one that fails.
func eachTests(goFlags, patterns []string, visit func(*gocode.Tests) error) (*visited, error) {
	b, err := gocode.NewBuilder(goFlags)
	if err != nil {
		return nil, clean(err)
	}
	packages, err := b.AllPackages(orHere(patterns))
	if err != nil {
		return nil, clean(err)
	}
	b.Unexplained = true
	v := &visited{packages, make(map[string]error)}
	for _, p := range packages {
		if err := visitPackage(b, p, visit); err != nil {
			v.failures[p.ImportPath] = err
		}
	}
	return v, nil
}

// visitPackage visits the tests of a package, if it has some.
func visitPackage(b *gocode.Builder, p gocode.Package, visit func(*gocode.Tests) error) error {
	err := p.Broken
	if err == nil {
		err = visitTests(b, p, visit)
	}
	if errors.Is(err, gocode.ErrNoTests) {
		return nil
	}
	return clean(err)
}

// visitTests builds the tests of a package for a visit.
func visitTests(b *gocode.Builder, p gocode.Package, visit func(*gocode.Tests) error) error {
	folder, err := launch.Scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	tests, err := b.Tests(p, folder)
	if err != nil {
		return err
	}
	defer tests.Close()
	return visit(tests)
}

// goPackages lists the packages that patterns match.
// anyway lists those, too, that cannot be built, and makes do with the runtime's
// own profile where nothing better is to be had.
func goPackages(goFlags, patterns []string, anyway bool) (*gocode.Builder, []gocode.Package, error) {
	b, err := gocode.NewBuilder(goFlags)
	var unknown *gocode.UnknownVersionError
	if anyway && errors.As(err, &unknown) {
		b, err = gocode.StockBuilder(goFlags, unknown)
	}
	if err != nil {
		return nil, nil, clean(err)
	}
	list := b.Packages
	if anyway {
		list = b.AllPackages
	}
	packages, err := list(orHere(patterns))
	if err != nil {
		return nil, nil, clean(err)
	}
	return b, packages, nil
}

// orHere is the package of the folder where there is no pattern.
func orHere(patterns []string) []string {
	if len(patterns) == 0 {
		return []string{"."}
	}
	return patterns
}

func goRun(stdout, stderr io.Writer, goFlags, args []string, o goOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	packages, rest := splitProgram(args)
	if len(packages) == 0 {
		return fmt.Errorf("no package given: mallow go run PACKAGE ARGS")
	}
	b, err := gocode.NewBuilder(goFlags)
	if err != nil {
		return clean(err)
	}
	folder, err := launch.Scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	executable := filepath.Join(folder, programName(packages[0]))
	if err := b.Program(executable, packages...); err != nil {
		return clean(err)
	}
	if o.json {
		// The program inherits what mallow has as its standard output.
		own, err := redirectOutput()
		if err != nil {
			return err
		}
		defer own.Close()
		stdout = own
	}
	run, err := b.Run(executable, rest, packages)
	if run == nil {
		return notStarted(err)
	}
	if err == nil {
		err = o.writePprof(func(w io.Writer) error { return goreport.WriteRunPprof(w, run) })
	}
	if err == nil && o.asPage() {
		err = o.html.put(stdout, web.Go, o.page(goreport.RunPage(b.Version, run)))
	} else if err == nil && o.json {
		err = goreport.WriteRunJSON(stdout, b.Version, run)
	} else if err == nil {
		err = goreport.WriteRun(stderr, run, o.report())
	}
	if err != nil {
		fmt.Fprintf(stderr, "mallow: %v\n", clean(err))
	}
	os.RemoveAll(folder) // endLike may not return
	return endLike(run.Result)
}

// redirectOutput makes standard output the same as standard error, and
// returns what it was.
func redirectOutput() (*os.File, error) {
	was, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(was), "stdout"), unix.Dup2(2, 1)
}

func (o goOptions) report() goreport.Options {
	folder, _ := os.Getwd()
	return goreport.Options{Top: o.top, Verbose: o.verbose, Folder: folder}
}

// splitProgram separates what names a main package from the program's own
// arguments, as go run does: files that end in .go, or else one package.
func splitProgram(args []string) (packages, rest []string) {
	n := 0
	for n < len(args) && strings.HasSuffix(args[n], ".go") {
		n++
	}
	if n == 0 && len(args) > 0 {
		n = 1
	}
	return args[:n], args[n:]
}

func programName(pattern string) string {
	pattern = strings.TrimSuffix(pattern, ".go")
	if absolute, err := filepath.Abs(pattern); err == nil {
		pattern = absolute
	}
	return filepath.Base(strings.TrimSuffix(pattern, "/..."))
}

// clean makes an error safe for a terminal, line by line.
func clean(err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = term.Safe(strings.ReplaceAll(lines[i], "\t", "        "))
	}
	return &cleanError{strings.Join(lines, "\n"), err}
}

type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }
