package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mallow/internal/gocode"
	goreport "mallow/internal/report/gocode"
	"mallow/internal/term"
)

// goBudget is the file that mallow go gate compares with.
const goBudget = "mallow.go.budget"

// gateRuns of a benchmark are counted: what a goroutine in the background adds
// in one of them is not in all. One that may differ by chance then is counted
// up to mostGateRuns times.
const (
	gateRuns     = 3
	mostGateRuns = 10
)

func newGoGateCommand() *cobra.Command {
	o := goOptions{bench: everyBenchmark, seconds: 1}
	var update, strict bool
	budget := goBudget
	c := &cobra.Command{
		Use:   "gate [--bench RE] [--budget FILE] [--update] [--strict] [--json] [GO FLAGS] [PACKAGES]",
		Short: "Fail when an operation of a benchmark allocates more than its budget",
		Long: `gate compares the allocations of each operation of benchmarks with those in a
file of the repository, exactly, and names the functions that allocate more.
Benchmarks are counted three times, and up to ten times before one is accused of
less than one allocation: more is what even the least of them shows.

Exit codes: 0 kept, 2 more than the budget, 4 fewer with --strict, 1 otherwise.`,
		Example: `  mallow go gate --update ./...
  mallow go gate ./...`,
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, `for scripts: schema "mallow.gate/1"`)
	f.StringVar(&o.bench, "bench", o.bench, "regular expression of benchmarks, as go test -bench takes it")
	f.Float64Var(&o.seconds, "exact-seconds", o.seconds, "about how long each counting run of a new benchmark may take")
	f.StringVar(&budget, "budget", budget, "the file")
	o.benchfmtFlag(f)
	f.BoolVar(&update, "update", false, "write what there is now into the file")
	f.BoolVar(&strict, "strict", false, "fewer allocations than the budget has fail, too, until --update takes them in")
	c.RunE = withGoFlags(c, func(goFlags, args []string) error {
		return goGate(c.OutOrStdout(), goFlags, args, budget, update, strict, o)
	})
	return c
}

func goGate(w io.Writer, goFlags, patterns []string, file string, update, strict bool, o goOptions) error {
	err := o.checkCounting()
	if err == nil && update {
		err = canWrite(file)
	}
	if err != nil {
		return err
	}
	budget, err := readGoBudget(file, update)
	if err != nil {
		return err
	}
	checks, tests, err := gatePackages(goFlags, patterns, budget, o)
	if err != nil {
		return err
	}
	failed := tests.failed()
	switch {
	case len(checks) == 0 && failed == nil:
		return o.noBenchmark()
	case len(checks) == 0:
		return failed
	case update && failed != nil:
		failed = errors.Join(failed, fmt.Errorf("%s stays as it is: nothing was written", term.Safe(file)))
	case update:
		for _, c := range checks {
			budget.Set(c.Now)
		}
		if err := os.WriteFile(file, budget.Format(), 0o644); err != nil {
			return clean(err)
		}
	}
	if err := writeBeside(o.benchfmt, func(w io.Writer) error { return goreport.WriteChecksBenchfmt(w, checks) }); err != nil {
		return err
	}
	write := goreport.WriteChecks
	if o.json {
		write = goreport.WriteChecksJSON
	}
	var notes []string
	if o.bench == everyBenchmark {
		notes = unmeasured(budget, tests, checks, file)
	}
	if err := write(w, checks, notes); err != nil {
		return err
	}
	if update {
		return failed
	}
	return goVerdict(checks, strict, failed)
}

func readGoBudget(file string, update bool) (*gocode.Budget, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && update {
		return &gocode.Budget{}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s yet: mallow go gate --update writes it", term.Safe(file))
	}
	if err != nil {
		return nil, clean(err)
	}
	budget, err := gocode.ParseBudget(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", term.Safe(file), clean(err))
	}
	return budget, nil
}

// unmeasured says what of the budget was not held to it, though all benchmarks
// of its package were asked for and none failed. One that is skipped here may run elsewhere: so
// the budget keeps it.
func unmeasured(budget *gocode.Budget, tests *visited, checks []gocode.Check, file string) (notes []string) {
	entries := budget.Unmeasured(checks)
	for _, p := range tests.packages {
		if tests.failures[p.ImportPath] != nil {
			continue
		}
		var names []string
		for _, e := range entries {
			if e.Package == p.ImportPath {
				names = append(names, "Benchmark"+e.Benchmark)
			}
		}
		if len(names) > 0 {
			notes = append(notes, fmt.Sprintf("%s of %s did not run, and %s has a budget for it: what is not skipped but gone for good, or has another name now, can be taken out there",
				strings.Join(names, ", "), p.ImportPath, file))
		}
	}
	return notes
}

// gatePackages checks the benchmarks of packages, also beside some that fail.
func gatePackages(goFlags, patterns []string, budget *gocode.Budget, o goOptions) (checks []gocode.Check, tests *visited, err error) {
	tests, err = eachTests(goFlags, patterns, func(tests *gocode.Tests) error {
		found, err := gateTests(tests, budget, o)
		checks = append(checks, found...)
		return err
	})
	return checks, tests, err
}

// gateTests checks the benchmarks of a package, also beside some that fail.
func gateTests(tests *gocode.Tests, budget *gocode.Budget, o goOptions) ([]gocode.Check, error) {
	options := o.benchmarks()
	options.Benchtime = "10ms" // the time is no figure of the gate
	options.Uncollected = true
	options.Operations = func(benchmark string) uint64 {
		if e := budget.Entry(tests.Package, benchmark); e != nil {
			return e.Operations
		}
		return 0
	}
	first, failed := tests.Benchmarks(options)
	var all []*gated
	for _, f := range first {
		all = append(all, &gated{was: budget.Entry(tests.Package, f.Name), runs: []*gocode.Benchmark{f}})
	}
	for undecided := slices.Clone(all); len(undecided) > 0; {
		if slices.ContainsFunc(undecided, (*gated).needsAnotherSecond) {
			nextSecond()
		}
		for _, g := range undecided {
			again, err := tests.Again(g.runs[0], options)
			if err != nil {
				failed, g.failed = errors.Join(failed, err), true
				continue
			}
			g.runs = append(g.runs, again)
		}
		undecided = slices.DeleteFunc(undecided, func(g *gated) bool { return g.failed || g.decided() })
	}
	var checks []gocode.Check
	for _, g := range all {
		if !g.failed {
			checks = append(checks, g.check())
		}
	}
	return checks, failed
}

// gated is a benchmark that is counted, in rounds with the others of its package,
// until its verdict stands. A sync.Pool misses when the scheduler moves a goroutine
// to another thread, on a busy machine in three runs of three.
type gated struct {
	was    *gocode.BudgetEntry
	runs   []*gocode.Benchmark
	failed bool
}

func (g *gated) check() gocode.Check { return gocode.Compare(g.was, gocode.NewEntry(g.runs)) }

func (g *gated) decided() bool {
	if len(g.runs) < gateRuns {
		return false
	}
	check := g.check()
	return len(g.runs) == mostGateRuns || !check.MayBeChance()
}

// needsAnotherSecond tells whether the next run is to find out what differs from
// run to run: some benchmarks seed their random numbers with the time in seconds,
// and are alike within one.
func (g *gated) needsAnotherSecond() bool { return g.was == nil || len(g.runs) >= gateRuns }

// nextSecond waits for it.
func nextSecond() { time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) }

// goVerdict is the exit code that the checks deserve, and what failed beside them.
func goVerdict(checks []gocode.Check, strict bool, failed error) error {
	has := func(is func(gocode.Check) bool) bool { return slices.ContainsFunc(checks, is) }
	switch {
	case has(func(c gocode.Check) bool { return c.Verdict == gocode.More }):
		return exitError{code: 2, err: failed}
	case failed != nil:
		return failed
	case strict && has(func(c gocode.Check) bool { return c.Verdict != gocode.Kept }):
		return exitError{code: 4}
	}
	return nil
}
