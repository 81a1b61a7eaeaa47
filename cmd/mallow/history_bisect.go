package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mallow/internal/budget"
	"mallow/internal/gate"
	"mallow/internal/history"
	"mallow/internal/launch"
	"mallow/internal/report/trend"
	"mallow/internal/term"
)

// historyBisectOptions are the flags of mallow history bisect.
type historyBisectOptions struct {
	metric, good, bad, build, budget string
	runs                             int
	colour                           term.Colour
}

func newHistoryBisectCommand(place *historyPlace) *cobra.Command {
	o := historyBisectOptions{colour: term.Auto}
	c := &cobra.Command{
		Use:   "bisect [FLAGS] BENCHMARK [-- PROG ARGS]",
		Short: "Find the commit that made a step",
		Long: `bisect looks for the commit at which a benchmark changed its level: between the
last point of the old level and the first one of the new, or between --good and
--bad. It runs the benchmark as mallow.toml has it, or PROG ARGS.

git bisect chooses the commits, in a working tree of its own: the one that you
work in stays as it is. Commits that the history has are not run again, and each
that is measured becomes a point of it.`,
		Example: `  mallow history bisect parse
  mallow history bisect --good v1.2 --bad main --build make parse -- ./parse data/big.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which benchmark? mallow history bisect BENCHMARK")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("runs") && (o.runs < 1 || o.runs > 1000) {
				return errors.New("--runs takes a number from 1 to 1000")
			}
			if o.metric != "" && !slices.Contains(budget.Metrics, o.metric) {
				return fmt.Errorf("--metric %s: there are %s", term.Safe(o.metric), strings.Join(budget.Metrics, ", "))
			}
			return bisect(c, place, args[0], args[1:], o)
		},
	}
	f := c.Flags()
	f.SetInterspersed(true)
	f.StringVar(&o.metric, "metric", "", "what changed (default: what has the latest step, allocations first)")
	f.StringVar(&o.good, "good", "", "a commit from before the change")
	f.StringVar(&o.bad, "bad", "", "a commit from after the change (default: the one that is checked out, with --good)")
	f.StringVar(&o.build, "build", "", "`COMMAND` for sh that builds PROG at each commit")
	f.StringVar(&o.budget, "budget", "", "the budget that has the benchmark (default: mallow.toml here or in a folder above)")
	f.IntVar(&o.runs, "runs", 0, "`N` runs at each commit, whose middle counts (default: what the budget says, or 1)")
	f.Var(&o.colour, "color", "when to write in colour")
	return c
}

func bisect(c *cobra.Command, place *historyPlace, name string, command []string, o historyBisectOptions) error {
	ctx := c.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := launch.UntilEnded(ctx)
	defer stop()
	benchmark, folder, err := o.benchmark(name, command)
	if err != nil {
		return err
	}
	store, err := place.open()
	if err != nil {
		return safely(err)
	}
	defer store.Close()
	if err := o.chooseStep(store, name); err != nil {
		return err
	}
	stderr := c.ErrOrStderr()
	tools, closeTools, err := gateTools(stderr)
	if err != nil {
		return err
	}
	defer closeTools()
	found, err := gate.Bisect(ctx, gate.BisectOptions{
		Tools: tools, Folder: folder, Benchmark: benchmark, Metric: o.metric, Old: o.good, New: o.bad, Store: store,
		Tested: func(commit, outcome string) {
			tools.Progress("")
			fmt.Fprintf(stderr, "mallow: %s  %s %s\n", commit[:min(10, len(commit))], term.Safe(o.metric), term.Safe(outcome))
		},
	})
	if ctx.Err() != nil {
		return errors.New("interrupted: what was measured is in the history")
	}
	if err != nil {
		return safely(err)
	}
	return tellBisected(c.OutOrStdout(), found, benchmark.Name, store, o)
}

// benchmark is that of the budget, or of a command that is given.
func (o *historyBisectOptions) benchmark(name string, command []string) (*budget.Benchmark, string, error) {
	if len(command) > 0 {
		return &budget.Benchmark{Name: name, Command: command, Build: o.build, Runs: max(1, o.runs), Limit: budget.DefaultLimit}, ".", nil
	}
	file, err := readBudget(o.budget)
	if err != nil {
		return nil, "", fmt.Errorf("%w; or give the command: mallow history bisect %s -- PROG ARGS", err, term.Safe(name))
	}
	b := file.Benchmark(name)
	if b == nil {
		return nil, "", fmt.Errorf("%s has no benchmark %s; or give its command: mallow history bisect %s -- PROG ARGS",
			term.Safe(file.Path), term.Safe(name), term.Safe(name))
	}
	if o.build != "" {
		b.Build = o.build
	}
	if o.runs > 0 {
		b.Runs = o.runs
	}
	return b, filepath.Dir(file.Path), nil
}

// chooseStep takes what no flag says from the latest step of the benchmark.
func (o *historyBisectOptions) chooseStep(store *history.SQLite, name string) error {
	if o.good != "" {
		if o.metric == "" {
			o.metric = budget.Allocations
		}
		if o.bad == "" {
			o.bad = "HEAD"
		}
		return nil
	}
	if o.bad != "" {
		return errors.New("--bad needs --good, a commit from before the change")
	}
	points, err := store.All()
	if err != nil {
		return safely(err)
	}
	if !slices.ContainsFunc(points, func(p history.Point) bool { return p.Benchmark == name }) {
		return fmt.Errorf("the history has no benchmark %s: say with --good and --bad between which commits to look", term.Safe(name))
	}
	series, _, err := readSeries(store, []string{name}, nil, false)
	if err != nil {
		return err
	}
	var step *history.Step
	for _, s := range series {
		if len(s.Steps) == 0 || o.metric != "" && s.Metric != o.metric || !slices.Contains(budget.Metrics, s.Metric) {
			continue
		}
		if last := s.Steps[len(s.Steps)-1]; step == nil || last.At.CommitTime.After(step.At.CommitTime) {
			step, o.metric = last, s.Metric
		}
	}
	switch {
	case step == nil && o.metric != "":
		return fmt.Errorf("%s of %s has no step in the history: say with --good and --bad between which commits to look", term.Safe(o.metric), term.Safe(name))
	case step == nil:
		return fmt.Errorf("%s has no step in the history: say with --good and --bad between which commits to look", term.Safe(name))
	case step.Last.Commit == "" || step.At.Commit == "":
		return errors.New("the points of the step do not say which commits they are of: use --good and --bad")
	}
	o.good, o.bad = step.Last.Commit, step.At.Commit
	return nil
}

func tellBisected(w io.Writer, found *gate.Bisected, benchmark string, store *history.SQLite, o historyBisectOptions) error {
	about, err := history.Describe(".", found.Commit)
	if err != nil {
		return safely(err)
	}
	unit := history.UnitOf(o.metric)
	b := trend.Bisected{
		Benchmark: benchmark, Metric: o.metric, Unit: unit, Old: found.Old, New: found.New, Commit: about,
		Others: found.Others, Measured: found.Measured, Notes: found.Notes,
	}
	if found.Before != nil && found.At != nil {
		if b.Cause, err = history.NewCauses(store).Between(found.Before, found.At, o.metric); err != nil {
			b.Notes = append(b.Notes, "the stacks of both sides cannot be compared: "+err.Error())
		}
	}
	return trend.WriteBisected(w, &b, o.colour.For(w))
}
