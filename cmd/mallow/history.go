package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mallow/internal/figure"
	"mallow/internal/history"
	"mallow/internal/report/trend"
	"mallow/internal/term"
)

// historyPlace is where a history is.
type historyPlace struct{ file string }

func (h *historyPlace) add(c *cobra.Command) {
	c.PersistentFlags().StringVar(&h.file, "db", "", "the history's `FILE` (default: MALLOW_HISTORY, or mallow/history.db in git's folder)")
}

// open opens the history of the repository that we are in.
func (h *historyPlace) open() (*history.SQLite, error) {
	path := h.file
	if path == "" {
		var err error
		if path, err = history.Location("."); err != nil {
			return nil, err
		}
	}
	return history.OpenFile(path, ".")
}

// historyOptions are the flags of mallow history.
type historyOptions struct {
	place   *historyPlace
	metrics []string
	all     bool
	json    bool
	html    string
	steps   int
	colour  term.Colour
}

func newHistoryCommand() *cobra.Command {
	place := &historyPlace{}
	o := historyOptions{place: place, steps: 10, colour: term.Auto}
	c := &cobra.Command{
		Use:   "history [FLAGS] [BENCHMARK...]",
		Short: "What benchmarks cost over time, and which commits made the steps",
		Long: `history shows what every gated or recorded run of a benchmark cost, commit by
commit, and where its level changed: by change points that chance would make
once in a thousand, not by comparing with the last run.

mallow gate adds its runs by itself, mallow record --benchmark NAME and
mallow history add those that are recorded. The history is one file in git's
folder of the repository, which all its worktrees share.`,
		Example: `  mallow history
  mallow history --metric allocations parse
  mallow history --html history.html
  mallow history --json | jq '.series[] | select(.steps != [])'`,
		RunE: func(c *cobra.Command, args []string) error {
			return showHistory(c.OutOrStdout(), args, o)
		},
	}
	place.add(c)
	f := c.Flags()
	f.StringSliceVar(&o.metrics, "metric", nil, "only these metrics, separated by commas")
	f.BoolVar(&o.all, "all", false, "with commits that the one that is checked out does not stand on, as of other branches")
	f.IntVar(&o.steps, "steps", o.steps, "steps to list, 0 for all")
	f.BoolVar(&o.json, "json", false, `everything, for scripts: schema "mallow.history/1"`)
	f.StringVar(&o.html, "html", "", "write a page of all series, with the stacks that made each step, to `FILE`")
	f.Var(&o.colour, "color", "when to write in colour")
	c.MarkFlagsMutuallyExclusive("html", "json")
	for _, newCommand := range []func(*historyPlace) *cobra.Command{newHistoryAddCommand, newHistoryImportCommand, newHistoryExportCommand, newHistoryBisectCommand, newHistoryRescueCommand} {
		c.AddCommand(newCommand(place))
	}
	return c
}

func showHistory(w io.Writer, benchmarks []string, o historyOptions) error {
	if o.steps < 0 {
		return errors.New("--steps takes a number from 0 up")
	}
	store, err := o.place.open()
	if err != nil {
		return safely(err)
	}
	defer store.Close()
	series, notes, err := readSeries(store, benchmarks, o.metrics, o.all)
	if err != nil {
		return err
	}
	switch {
	case o.html != "":
		title := "mallow history"
		if len(benchmarks) > 0 {
			title += ": " + strings.Join(benchmarks, ", ")
		}
		write := func(to io.Writer) error {
			return safely(trend.WritePage(to, series, trend.PageOptions{Title: title, Notes: notes, Cause: history.NewCauses(store).Of}))
		}
		if o.html == standardOutput {
			return write(w)
		}
		return writeFile(o.html, write)
	case o.json:
		return trend.WriteJSON(w, series, notes)
	case len(series) == 0:
		_, err := fmt.Fprintf(w, "no points yet in %s\nnext: mallow gate | mallow record --benchmark NAME PROG ARGS | mallow history import FILE\n", term.Safe(store.Path()))
		return err
	}
	return trend.WriteText(w, series, trend.TextOptions{
		Colour: o.colour.For(w), Width: term.Width(w), Steps: o.steps, Notes: notes,
		Next: "mallow history --html FILE | --json | --steps 0 | mallow history bisect BENCHMARK",
	})
}

// readSeries returns series of the history, and what there is to say about
// what is left out.
func readSeries(store *history.SQLite, benchmarks, metrics []string, all bool) ([]*history.Series, []string, error) {
	points, err := store.All()
	if err != nil {
		return nil, nil, safely(err)
	}
	if err := knownBenchmarks(points, benchmarks); err != nil {
		return nil, nil, err
	}
	if len(benchmarks) > 0 {
		points = slices.DeleteFunc(points, func(p history.Point) bool { return !slices.Contains(benchmarks, p.Benchmark) })
	}
	graph := history.ReadGraph(".", points)
	var notes []string
	if folder, waiting := store.Waits(); waiting > 0 {
		notes = append(notes, fmt.Sprintf("%s in %s cannot be taken in: damaged, another user's, or of another version of mallow",
			figure.Counted(uint64(waiting), "point", "points"), folder))
	}
	if !all {
		before := len(points)
		points = slices.DeleteFunc(points, func(p history.Point) bool { return graph.Elsewhere(p.Commit) })
		if left := before - len(points); left > 0 {
			notes = append(notes, fmt.Sprintf("%s left out of commits that HEAD does not stand on, as of other branches or from before a rebase; --all shows them", figure.Counted(uint64(left), "point", "points")))
		}
	}
	graph.Sort(points)
	if slices.ContainsFunc(points, func(p history.Point) bool { return p.Dirty }) {
		notes = append(notes, "* is of a tree with changes that were not committed: such points make no step")
	}
	series := history.Collect(points)
	if len(metrics) > 0 {
		for _, m := range metrics {
			if !slices.ContainsFunc(series, func(s *history.Series) bool { return s.Metric == m }) {
				return nil, nil, fmt.Errorf("no metric %s; there is %s", term.Safe(m), term.Safe(orNone(metricsOf(series))))
			}
		}
		series = slices.DeleteFunc(series, func(s *history.Series) bool { return !slices.Contains(metrics, s.Metric) })
	}
	return series, notes, nil
}

func knownBenchmarks(points []history.Point, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(points, func(p history.Point) bool { return p.Benchmark == name }) {
			return fmt.Errorf("no benchmark %s in the history; it has %s", term.Safe(name), term.Safe(orNone(namesOf(points))))
		}
	}
	return nil
}

func namesOf(points []history.Point) []string {
	var names []string
	for i := range points {
		names = append(names, points[i].Benchmark)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func metricsOf(series []*history.Series) []string {
	var names []string
	for _, s := range series {
		names = append(names, s.Metric)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// safely makes an error fit for a terminal: it may tell a name.
func safely(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(term.Safe(err.Error()))
}
