package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mallow/internal/budget"
	"mallow/internal/figure"
	"mallow/internal/gate"
	"mallow/internal/history"
	"mallow/internal/launch"
	gatereport "mallow/internal/report/gate"
	"mallow/internal/term"
)

// gateOptions are the flags of mallow gate.
type gateOptions struct {
	budget    string
	update    bool
	strict    bool
	runs      int
	base      string
	noBase    bool
	database  string
	noHistory bool
	json      bool
	save      string // file for the result as JSON
	publish   publishFlags
	colour    term.Colour
}

func newGateCommand() *cobra.Command {
	o := gateOptions{colour: term.Auto}
	c := &cobra.Command{
		Use:   "gate [FLAGS] [NAME...]",
		Short: "Fail when benchmarks of mallow.toml allocate more than they may",
		Long: `gate runs the benchmarks of mallow.toml, each several times, learns which of
their figures are exact, bounded or noisy, and compares them with the budget in
that file, with the merge base and with the history. What grew is named by its
stacks, with the lines that git knows to have changed there.

mallow.toml is looked for in this folder and above it:

  [benchmark.parse]
  command = ["./parse", "data/big.json"]   # or one text, for sh
  build = "make"                           # also builds the merge base

The first mallow gate --update writes the budget below it.

Exit codes: 0 kept, 2 more than a reference has, 4 less than the budget with
--strict, 1 otherwise.`,
		Example: `  mallow gate --update
  mallow gate
  mallow gate --strict --json parse > gate.json`,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("runs") && (o.runs < 1 || o.runs > 1000) {
				return fmt.Errorf("--runs takes a number from 1 to 1000")
			}
			if err := canWrite(o.save); err != nil { // before what takes minutes
				return err
			}
			if err := o.publish.check(); err != nil {
				return err
			}
			o.publish.useStepSummary()
			if o.publish.comment != "" {
				o.publish.hideTokens()
			}
			return runGate(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.budget, "budget", "", "the budget (default: mallow.toml here or in a folder above)")
	f.BoolVar(&o.update, "update", false, "write what there is now into the budget, and the stacks beside it")
	f.BoolVar(&o.strict, "strict", false, "what is less than the budget, or has none, fails too, until --update takes it in")
	f.IntVar(&o.runs, "runs", 0, "`N` runs of each benchmark (default: what the budget says, or 3)")
	f.StringVar(&o.base, "base", "", "the `BRANCH` or commit that the changes go to (default: what the budget says, or git knows)")
	f.BoolVar(&o.noBase, "no-base", false, "do not compare with the merge base")
	f.StringVar(&o.database, "db", "", "`FILE` of the history (default: $"+history.Environment+", or in git's folder)")
	f.BoolVar(&o.noHistory, "no-history", false, "neither compare with the history nor add to it")
	f.BoolVar(&o.json, "json", false, `for scripts: schema "mallow.gate/1"`)
	f.Var(&o.colour, "color", "when to write in colour")
	f.StringVar(&o.save, "save", "", "write what --json prints to `FILE`, too, for mallow gate publish")
	o.publish.add(f)
	c.MarkFlagsMutuallyExclusive("base", "no-base")
	c.MarkFlagsMutuallyExclusive("db", "no-history")
	c.AddCommand(newGatePublishCommand())
	return c
}

var errInterrupted = errors.New("interrupted: nothing was decided")

// runGate writes the result to w. Budget and stacks are written last, and only
// when no benchmark failed.
func runGate(ctx context.Context, w, stderr io.Writer, names []string, o gateOptions) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := launch.UntilEnded(ctx)
	defer stop()
	path, err := budgetPath(o.budget)
	if err != nil {
		return err
	}
	release, err := gate.Alone(ctx, filepath.Dir(path), func(text string) { fmt.Fprintf(stderr, "mallow: %s\n", term.Safe(text)) })
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return safely(err)
	}
	defer release()
	file, err := readBudget(path)
	if err != nil {
		return err
	}
	tools, closeTools, err := gateTools(stderr)
	if err != nil {
		return err
	}
	defer closeTools()
	store, notes := o.openHistory(file)
	if store != nil {
		defer store.Close()
	}
	found, err := gate.Run(ctx, gate.Options{
		Tools: tools, File: file, Names: names, Runs: o.runs, Base: o.base, NoBase: o.noBase, Store: store, Update: o.update,
	})
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return errors.New(term.Safe(err.Error()))
	}
	found.Notes = append(found.Notes, notes...)
	if err := writeGate(w, &found.Result, file, o); err != nil {
		return err
	}
	if err := writeForm(w, o.save, func(w io.Writer) error { return gatereport.WriteJSON(w, &found.Result) }); err != nil {
		return err
	}
	if err := o.publish.publish(w, stderr, &found.Result, o.strict); err != nil {
		return err
	}
	if o.update {
		return updateBudget(stderr, file, found)
	}
	return gateVerdict(found, o.strict)
}

// budgetPath is where the budget is: path, or what is found for "".
func budgetPath(path string) (string, error) {
	if path != "" {
		return path, nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if path, err = budget.Find(folder); err != nil {
		return "", fmt.Errorf("%s: write [benchmark.NAME] and below it command = \"...\" (mallow help gate tells more)", term.Safe(err.Error()))
	}
	if short, err := filepath.Rel(folder, path); err == nil {
		path = short
	}
	return path, nil
}

func readBudget(path string) (*budget.File, error) {
	path, err := budgetPath(path)
	if err != nil {
		return nil, err
	}
	file, err := budget.Read(path)
	return file, safely(err)
}

func gateTools(stderr io.Writer) (tools gate.Tools, closeThem func(), err error) {
	library, err := launch.Library()
	if err != nil {
		return tools, nil, err
	}
	symbolizer, err := newSymbolizer()
	if err != nil {
		return tools, nil, err
	}
	return gate.Tools{
		Library: library, Symbolizer: symbolizer, Refusal: whyNot,
		CountCalls: countCalls,
		Progress: func(text string) {
			if term.Is(stderr) {
				fmt.Fprintf(stderr, "\r\x1b[K%s", term.Safe(text))
			}
		},
	}, func() { symbolizer.Close() }, nil
}

// openHistory returns nil where there is none, or none that can be read: the
// other references decide then.
func (o *gateOptions) openHistory(file *budget.File) (history.Store, []string) {
	if o.noHistory {
		return nil, nil
	}
	folder := filepath.Dir(file.Path)
	var store history.Store
	var err error
	if o.database != "" {
		store, err = history.OpenFile(o.database, folder)
	} else if _, located := history.Location(folder); located != nil {
		return nil, nil // no repository, which the gate says
	} else {
		store, err = history.Open(folder)
	}
	if err != nil {
		return nil, []string{"the history is left out: " + err.Error()}
	}
	return store, nil
}

func writeGate(w io.Writer, r *gate.Result, file *budget.File, o gateOptions) error {
	if term.Is(os.Stderr) {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	if o.json {
		return gatereport.WriteJSON(w, r)
	}
	folder, err := filepath.Abs(filepath.Dir(file.Path))
	if err != nil {
		folder = ""
	}
	return gatereport.Write(w, r, gatereport.Options{Colour: o.colour.For(w), Folder: folder})
}

// updateBudget writes the budget and the stacks beside it.
func updateBudget(stderr io.Writer, file *budget.File, found *gate.Outcome) error {
	if slices.ContainsFunc(found.Checks, func(c gate.Check) bool { return c.Verdict == gate.Failed }) {
		return errors.New("a benchmark failed: nothing was written")
	}
	for _, path := range sortedPaths(found.Stacks) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return clean(err)
		}
		if err := budget.WriteFile(path, found.Stacks[path]); err != nil {
			return errors.New(term.Safe(err.Error()))
		}
	}
	if len(found.Updated) == 0 {
		fmt.Fprintf(stderr, "mallow: %s has it all already\n", term.Safe(file.Path))
		return nil
	}
	if err := budget.WriteFile(file.Path, file.Text()); err != nil {
		return errors.New(term.Safe(err.Error()))
	}
	fmt.Fprintf(stderr, "mallow: wrote %s to %s: %s\n",
		figure.Counted(uint64(len(found.Updated)), "figure", "figures"), term.Safe(file.Path), term.Safe(strings.Join(found.Updated, ", ")))
	return nil
}

func sortedPaths(files map[string][]byte) []string {
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// gateVerdict is the exit code that the checks deserve.
func gateVerdict(found *gate.Outcome, strict bool) error {
	has := func(v gate.Verdict) bool {
		return slices.ContainsFunc(found.Checks, func(c gate.Check) bool { return c.Verdict == v })
	}
	switch {
	case has(gate.Regression):
		return exitError{code: 2}
	case has(gate.Failed):
		return exitError{code: 1}
	case strict && has(gate.Improvement):
		return exitError{code: 4, err: errors.New("less than the budget: mallow gate --update takes it in")}
	case strict && len(found.Unbudgeted) > 0:
		return exitError{code: 4, err: fmt.Errorf("without a budget: %s: mallow gate --update writes it", term.Safe(strings.Join(found.Unbudgeted, ", ")))}
	}
	return nil
}
