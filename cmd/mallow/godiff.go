package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mallow/internal/gocode"
	"mallow/internal/launch"
	goreport "mallow/internal/report/gocode"
	"mallow/internal/term"
)

// goDiffOptions are the flags of mallow go diff.
type goDiffOptions struct {
	goOptions
	versions string
	fail     bool
}

// worktree is what stands for the files of the working directory, as they are.
const worktree = "."

func newGoDiffCommand() *cobra.Command {
	o := goDiffOptions{goOptions: goOptions{bench: everyBenchmark, seconds: 0.3}}
	c := &cobra.Command{
		Use:   "diff [--bench RE] [--fail] [--json] [GO FLAGS] OLD [NEW [PACKAGES]] | --go OLD,NEW [PACKAGES]",
		Short: "What newly goes to the heap, between two commits or two versions of Go",
		Long: `diff says which values the compiler puts on the heap in one commit and not in
the other, with its reason, and what an operation of each benchmark allocates in
both. Values are told apart by their function and by how the compiler writes
them, not by their lines. Without NEW, or with ".", OLD is compared with the
files as they are. With --go the files as they are are built by two versions of
Go, which the go command downloads where they are missing.

Exit codes: 0; 1 usage, or it does not build; with --fail 2 where a value of a
function that was there before newly goes to the heap, or an operation
allocates more.`,
		Example: `  mallow go diff main
  mallow go diff --fail HEAD~1 HEAD ./internal/...
  mallow go diff --go go1.25.7,go1.26.8 --bench Parse`,
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, `for scripts: schema "mallow.go.diff/1"`)
	f.BoolVar(&o.fail, "fail", false, "exit with 2 where something is worse")
	f.BoolVar(&o.verbose, "verbose", false, "with the compiler's own words")
	f.StringVar(&o.versions, "go", "", "two versions of Go, such as go1.25.7,go1.26.8")
	f.StringVar(&o.bench, "bench", o.bench, "regular expression of benchmarks, as go test -bench takes it; '' for none")
	f.Float64Var(&o.seconds, "exact-seconds", o.seconds, "about how long each counting run may take")
	c.RunE = withGoFlags(c, func(goFlags, args []string) error {
		return goDiff(c.OutOrStdout(), goFlags, args, o)
	})
	return c
}

// goSide is one of the two that are compared.
type goSide struct {
	revision string // "" where it is the files as they are
	version  string // of Go, "" where the go command chooses
}

func (s goSide) String() string {
	switch {
	case s.version != "":
		return s.version
	case s.revision == "":
		return "the files as they are"
	}
	return s.revision
}

// tooOld says it where a version of Go that the user chose is older than go.mod
// allows: another choice is the remedy then.
func (s goSide) tooOld(err error) error {
	var failed *gocode.CommandError
	if s.version == "" || !errors.As(err, &failed) {
		return err
	}
	_, needs, found := strings.Cut(failed.Output, "requires go >= ")
	if !found {
		return err
	}
	needs, _, _ = strings.Cut(needs, " ")
	return fmt.Errorf("%s is too old for this module: its go.mod requires go %s", s.version, needs)
}

// goSides reads the command line.
func goSides(args []string, versions string) (was, now goSide, patterns []string, err error) {
	if versions != "" {
		older, newer, ok := strings.Cut(versions, ",")
		if !ok || older == "" || newer == "" || strings.Contains(newer, ",") {
			return was, now, nil, fmt.Errorf("--go takes two versions, such as go1.25.7,go1.26.8, and not %s", term.Safe(versions))
		}
		was.version, now.version, patterns = goVersion(older), goVersion(newer), args
	} else {
		if len(args) == 0 {
			return was, now, nil, errors.New("say which commit to compare with: mallow go diff OLD [NEW [PACKAGES]]")
		}
		if args[0] == "" || len(args) > 1 && args[1] == "" {
			return was, now, nil, errors.New("an empty name is no commit: is a variable not set?")
		}
		was.revision = args[0]
		if len(args) > 1 && args[1] != worktree {
			now.revision = args[1]
		}
		patterns = args[min(2, len(args)):]
	}
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	return was, now, patterns, nil
}

func goVersion(text string) string { return "go" + strings.TrimPrefix(text, "go") }

func goDiff(w io.Writer, goFlags, args []string, o goDiffOptions) error {
	was, now, patterns, err := goSides(args, o.versions)
	if err == nil {
		err = o.checkCounting()
	}
	if err != nil {
		return err
	}
	d := new(gocode.Differences)
	budget := &gocode.Budget{}
	var old *gocode.HeapValues
	var failed error
	incomplete := make(map[string]bool) // packages of which something failed, on either side
	for i, side := range []goSide{was, now} {
		err := side.visit(func(about *gocode.Side) error {
			values, err := gocode.ReadHeapValues(goFlags, patterns)
			if err != nil {
				return fmt.Errorf("%s: %w", about.Name, err)
			}
			about.Version = values.Version
			checks, failures, err := diffBenchmarks(goFlags, patterns, budget, o.goOptions)
			var unknown *gocode.UnknownVersionError
			if errors.As(err, &unknown) {
				d.Notes = append(d.Notes, unknown.Error())
			} else if err != nil {
				return fmt.Errorf("%s: %w", about.Name, err)
			}
			for _, path := range slices.Sorted(maps.Keys(failures)) {
				incomplete[path] = true
				failed = errors.Join(failed, fmt.Errorf("%s: %w", about.Name, failures[path]))
			}
			if i == 0 {
				d.Old, old = *about, values
				for _, c := range checks {
					budget.Set(c.Now)
				}
				return nil
			}
			d.New, d.Escapes, d.Benchmarks = *about, gocode.DiffHeapValues(old, values), checks
			d.Gone = budget.Unmeasured(checks)
			return nil
		})
		if err != nil {
			return clean(side.tooOld(err))
		}
	}
	if len(d.Notes) > 0 {
		d.Benchmarks, d.Gone = nil, nil
	}
	d.Benchmarks = slices.DeleteFunc(d.Benchmarks, func(c gocode.Check) bool { return incomplete[c.Now.Package] })
	d.Gone = slices.DeleteFunc(d.Gone, func(e gocode.BudgetEntry) bool { return incomplete[e.Package] })
	if o.json {
		err = goreport.WriteDifferencesJSON(w, d)
	} else {
		err = goreport.WriteDifferences(w, d, o.report())
	}
	if err == nil && o.fail && d.Worse() {
		return exitError{code: 2, err: clean(failed)}
	}
	return cmp.Or(err, clean(failed))
}

// diffBenchmarks counts the benchmarks of the packages against a budget. It
// returns too of which packages something failed.
func diffBenchmarks(goFlags, patterns []string, budget *gocode.Budget, o goOptions) (checks []gocode.Check, failures map[string]error, err error) {
	if o.bench == "" {
		return nil, nil, nil
	}
	checks, tests, err := gatePackages(goFlags, patterns, budget, o)
	if err != nil {
		return nil, nil, err
	}
	return checks, tests.failures, nil
}

// visit makes the files and the version of Go of a side those that the go
// command sees, which mallow and its children share: one side at a time.
func (s goSide) visit(do func(*gocode.Side) error) error {
	about := &gocode.Side{Name: s.String()}
	if s.version != "" {
		defer restoreEnvironment("GOTOOLCHAIN")()
		if err := os.Setenv("GOTOOLCHAIN", s.version); err != nil {
			return err
		}
	}
	if s.revision == "" {
		return do(about)
	}
	folder, err := launch.Scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if folder, err = filepath.EvalSymlinks(folder); err != nil { // as the compiler names files
		return err
	}
	r, err := gocode.CheckOut(s.revision, folder)
	if err != nil {
		return err
	}
	about.Commit = r.Commit
	work, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(r.Folder); err != nil {
		return err
	}
	defer os.Chdir(work)
	return do(about)
}

// restoreEnvironment returns what gives a variable the value that it has now.
func restoreEnvironment(name string) func() {
	value, set := os.LookupEnv(name)
	return func() {
		if set {
			os.Setenv(name, value)
		} else {
			os.Unsetenv(name)
		}
	}
}
