package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"mallow/internal/gocode"
	goreport "mallow/internal/report/gocode"
	"mallow/internal/term"
	"mallow/web"
)

func newGoFixCommand() *cobra.Command {
	o := goOptions{bench: everyBenchmark, seconds: 1}
	var write bool
	race := true
	var to series
	c := &cobra.Command{
		Use:   "fix [--bench RE] [--write] [--patch FILE] [--patch-dir FOLDER] [--commits BRANCH] [--race=false] [--json] [--html FILE] [GO FLAGS] [PACKAGE] [-- ARGS]",
		Short: "Remove allocations of a benchmark, and prove that nothing else changed",
		Long: `fix rewrites the hottest lines of a benchmark where it can show that the rewrite
is safe, one at a time: the package must build, its tests pass, also with the
race detector, the changed function do what the old one did for a thousand
made-up arguments, and an operation allocate less; otherwise the rewrite is
dropped. It prints the ladder: step, allocations and time of an operation.

Where there is no benchmark a run of the tests is an operation. After -- stand
the arguments of a main package: it is run with them before and after each step,
and must print the same and end alike.

The files stay as they are until --write. --patch FILE writes the steps into a
file, --patch-dir FOLDER one file for each as git am takes them, and --commits
BRANCH makes a new branch of the git repository with one commit for each, beside
the working tree.`,
		Example: `  mallow go fix --bench Parse ./internal/parser
  mallow go fix --commits fewer-allocations .
  mallow go fix ./cmd/tool -- testdata/input.txt`,
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, `for scripts: schema "mallow.go/1"`)
	f.StringVar(&o.bench, "bench", o.bench, "regular expression of benchmarks; the first that allocates is the measure")
	f.StringVar(&o.benchtime, "benchtime", "", "how long a run for the time goes on, as go test -benchtime takes it")
	f.Float64Var(&o.seconds, "exact-seconds", o.seconds, "about how long each counting run may take")
	f.BoolVar(&write, "write", false, "change the files")
	f.BoolVar(&race, "race", race, "run the tests with the race detector, too, where there is one")
	o.html.flags(f)
	f.StringVar(&to.patch, "patch", "", "write the steps into this file, as patches")
	f.StringVar(&to.folder, "patch-dir", "", "write each step into a file of this new folder, as git am takes it")
	f.StringVar(&to.branch, "commits", "", "make this new branch with a commit for each step")
	c.RunE = withGoFlags(c, func(goFlags, args []string) error {
		if err := cmp.Or(o.checkCounting(), to.writable()); err != nil {
			return err
		}
		options := gocode.FixOptions{BenchmarkOptions: o.benchmarks(), Race: race}
		if at := c.Flags().ArgsLenAtDash(); at >= 0 {
			options.Program, options.Args = true, args[at:]
			args = args[:at]
		}
		fixed, version, err := goFix(c.ErrOrStderr(), goFlags, args, options, to)
		if err != nil {
			return clean(err)
		}
		if write {
			if err := writeFixed(fixed); err != nil {
				return clean(err)
			}
		}
		if o.asPage() {
			return o.html.put(c.OutOrStdout(), web.Go, o.page(goreport.FixedPage(version, fixed)))
		}
		if o.json {
			return goreport.WriteFixedJSON(c.OutOrStdout(), version, fixed)
		}
		return goreport.WriteFixed(c.OutOrStdout(), fixed, o.report())
	})
	return c
}

func goFix(stderr io.Writer, goFlags, patterns []string, options gocode.FixOptions, to series) (*gocode.Fixed, string, error) {
	b, packages, err := goPackages(goFlags, patterns, false)
	if err != nil {
		return nil, "", err
	}
	if len(packages) != 1 {
		return nil, "", fmt.Errorf("%d packages match; fix takes one at a time", len(packages))
	}
	if err := to.check(packages[0]); err != nil {
		return nil, "", err
	}
	options.Progress = func(words string) { fmt.Fprintf(stderr, "mallow: %s\n", term.Safe(words)) }
	fixed, err := b.Fix(packages[0], options)
	if err == nil {
		err = to.write(fixed)
	}
	return fixed, b.Version, err
}

// series is where the steps go, besides the report.
type series struct{ patch, folder, branch string }

// writable tells, before the work begins, whether files can be written.
func (s series) writable() error {
	if s.folder != "" {
		if _, err := os.Stat(s.folder); err == nil {
			return fmt.Errorf("%s is there already: --patch-dir takes a new folder", term.Safe(s.folder))
		}
		if err := canWrite(filepath.Clean(s.folder)); err != nil {
			return err
		}
	}
	return canWrite(s.patch)
}

// check makes sure, before the work begins, that the branch can be made.
func (s series) check(p gocode.Package) error {
	if s.branch != "" {
		return gocode.NewBranch(p.Dir, s.branch)
	}
	return nil
}

func (s series) write(fixed *gocode.Fixed) error {
	messages := goreport.StepMessages(fixed)
	if s.patch != "" {
		var all bytes.Buffer
		if err := goreport.WritePatches(&all, fixed); err != nil {
			return err
		}
		if err := os.WriteFile(s.patch, all.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if s.folder != "" {
		if err := fixed.WritePatchFiles(s.folder, messages); err != nil {
			return err
		}
	}
	if s.branch != "" {
		return fixed.Commit(s.branch, messages)
	}
	return nil
}

// writeFixed changes the files, unless one is another than it was when the
// fixes were proven, or cannot be written: then none.
func writeFixed(fixed *gocode.Fixed) error {
	var paths []string
	for path := range fixed.Contents {
		paths = append(paths, path)
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, fixed.Original[path]) {
			return fmt.Errorf("%s was changed meanwhile: nothing is written", path)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("nothing is written: %w", err)
		}
		f.Close()
	}
	slices.Sort(paths)
	for _, path := range paths {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("nothing is written: %w", err)
		}
		file.Close()
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, fixed.Contents[path], info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
