package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"mallow/internal/gocode"
	goreport "mallow/internal/report/gocode"
	"mallow/internal/term"
	"mallow/web"
)

func newGoFixCommand() *cobra.Command {
	o := goOptions{bench: everyBenchmark, seconds: 1}
	var write, race bool
	patch := ""
	c := &cobra.Command{
		Use:   "fix [--bench RE] [--write] [--patch FILE] [--race] [--json] [GO FLAGS] [PACKAGE]",
		Short: "Remove allocations of a benchmark, and prove that nothing else changed",
		Long: `fix rewrites the hottest lines of a benchmark where it can show that the rewrite
is safe, one at a time: the package must build, its tests pass, the changed
function do what the old one did for a thousand made-up arguments, and an
operation allocate less; otherwise the rewrite is dropped. It prints the ladder:
step, allocations and time of an operation.

The files stay as they are until --write; --patch FILE writes one patch for each
step.`,
		Example: `  mallow go fix --bench Parse ./internal/parser
  mallow go fix --race --write .`,
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, `for scripts: schema "mallow.go/1"`)
	f.StringVar(&o.bench, "bench", o.bench, "regular expression of benchmarks; the first that allocates is the measure")
	f.StringVar(&o.benchtime, "benchtime", "", "how long a run for the time goes on, as go test -benchtime takes it")
	f.Float64Var(&o.seconds, "exact-seconds", o.seconds, "about how long each counting run may take")
	f.BoolVar(&write, "write", false, "change the files")
	f.BoolVar(&race, "race", false, "run the tests with the race detector, too")
	o.html.flags(f)
	f.StringVar(&patch, "patch", "", "write the steps into this file, as patches")
	c.RunE = withGoFlags(c, func(goFlags, args []string) error {
		if err := o.oneForm(); err != nil {
			return err
		}
		fixed, version, err := goFix(c.ErrOrStderr(), goFlags, args, race, o)
		if err != nil {
			return clean(err)
		}
		if patch != "" {
			var all bytes.Buffer
			if err := goreport.WritePatches(&all, fixed); err != nil {
				return err
			}
			if err := os.WriteFile(patch, all.Bytes(), 0o644); err != nil {
				return clean(err)
			}
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

func goFix(stderr io.Writer, goFlags, patterns []string, race bool, o goOptions) (*gocode.Fixed, string, error) {
	b, packages, err := goPackages(goFlags, patterns, false)
	if err != nil {
		return nil, "", err
	}
	if len(packages) != 1 {
		return nil, "", fmt.Errorf("%d packages match; fix takes one at a time", len(packages))
	}
	options := gocode.FixOptions{
		BenchmarkOptions: o.benchmarks(),
		Race:             race,
		Progress:         func(words string) { fmt.Fprintf(stderr, "mallow: %s\n", term.Safe(words)) },
	}
	fixed, err := b.Fix(packages[0], options)
	return fixed, b.Version, err
}

// writeFixed changes the files, unless one is another than it was when the
// fixes were proven: then none.
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
	}
	slices.Sort(paths)
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
