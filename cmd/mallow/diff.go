package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"mallow/internal/advise"
	"mallow/internal/diff"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/report/html"
	"mallow/internal/report/json"
	"mallow/internal/report/text"
	"mallow/internal/symbolize"
	"mallow/internal/term"
	"mallow/web"
)

// diffOptions are the flags of mallow diff.
type diffOptions struct {
	json     bool
	fail     bool
	failOn   string
	top      int
	topSet   bool
	stacks   int
	sort     diff.Order
	all      bool
	per      string
	wrappers []string
	filter   filterFlags
	colour   term.Colour
	html     htmlOptions
}

func newDiffCommand() *cobra.Command {
	o := diffOptions{failOn: string(diff.Allocations), top: 15, stacks: 5, sort: diff.ByCalls, colour: term.Auto}
	c := &cobra.Command{
		Use:   "diff [FLAGS] OLD NEW",
		Short: "Compare two recordings: what changed, and who made it",
		Long: `diff compares two recordings of a program, before and after a change. It writes
to stdout.

Sites are matched by function and by their rank in it, not by line number, so
that edits elsewhere do not show. Where both recordings counted a unit of work,
and not the same amount, calls are compared per unit.

OLD and NEW may each be several recordings, A.mallow,B.mallow, which are added
up, or files that mallow import reads, such as heap profiles of pprof. With --fail the exit code is 2 when NEW allocates more.`,
		Example: `  mallow diff before.mallow after.mallow
  mallow diff --fail --fail-on allocations,peak before.mallow after.mallow
  mallow diff --json before.mallow after.mallow | jq '.sites[] | select(.status != "same")'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("two recordings are compared: mallow diff OLD.mallow NEW.mallow")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.topSet = c.Flags().Changed("top")
			o.filter.sized = c.Flags().Changed("max-size")
			o.fail = o.fail || c.Flags().Changed("fail-on")
			form := "text"
			switch {
			case o.json:
				form = "json"
			case o.html.file != "":
				form = "html"
			}
			if err := checkBelonging(c.Flags(), diffFlags, form); err != nil {
				return err
			}
			return runDiff(c.OutOrStdout(), args[0], args[1], o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, `everything, for scripts: schema "mallow.diff/1"`)
	f.BoolVar(&o.fail, "fail", false, "exit with 2 when program and libraries allocate more than before")
	f.StringVar(&o.failOn, "fail-on", o.failOn, "what must not grow, separated by commas: allocations, bytes, peak, live; implies --fail")
	f.IntVar(&o.top, "top", o.top, "changed sites to show, 0 for all (JSON has all sites unless this is given)")
	f.IntVar(&o.stacks, "stacks", o.stacks, "stacks of each changed site in JSON, 0 for all")
	f.Var(&o.sort, "sort", "the figure whose change sites are sorted by; size is the mean of blocks")
	f.StringVar(&o.per, "per", "", "the unit of work to compare by, where there are several")
	f.BoolVar(&o.all, "all", false, "with what libc allocated on its own account")
	f.StringArrayVar(&o.wrappers, "wrapper", nil, "functions matching this regular expression pass allocations on (may be repeated)")
	o.filter.add(f)
	f.Var(&o.colour, "color", "when to write in colour")
	o.html.fileFlags(f)
	c.MarkFlagsMutuallyExclusive("html", "json")
	return c
}

// runDiff writes the comparison to w. Nothing is written when it returns an
// error, other than that of a write or the exit code of a regression.
func runDiff(w io.Writer, oldPath, newPath string, o diffOptions) error {
	if o.top < 0 || o.stacks < 0 {
		return fmt.Errorf("--top and --stacks take a number from 0 up")
	}
	metrics, err := diff.ParseMetrics(o.failOn)
	if err != nil {
		return fmt.Errorf("--fail-on: %s", term.Safe(err.Error()))
	}
	wrappers, err := compileAll("--wrapper", o.wrappers)
	if err != nil {
		return err
	}
	symbolizer, err := newSymbolizer()
	if err != nil {
		return err
	}
	defer symbolizer.Close()
	old, err := openSide("OLD", oldPath, symbolizer, wrappers, o)
	if err != nil {
		return err
	}
	new, err := openSide("NEW", newPath, symbolizer, wrappers, o)
	if err != nil {
		return err
	}
	if o.per != "" && !diff.HasUnit(old, new, o.per) {
		return fmt.Errorf("--per %s: not a unit of work that both recordings counted; those are: %s",
			term.Safe(o.per), term.Safe(orNone(diff.CommonUnits(old, new))))
	}
	// Nothing else is of libc's account: who asks for it wants to see it.
	o.all = o.all || old.ChosenLibc() || new.ChosenLibc()
	d := diff.Compare(old, new, diff.Options{All: o.all, Per: o.per})
	verdicts := make([]diff.Verdict, len(metrics))
	for i, m := range metrics {
		verdicts[i] = d.Judge(m)
	}
	advice := d.Advice(advise.For(old, advise.Options{All: o.all}), advise.For(new, advise.Options{All: o.all}))
	if err := writeDiff(w, d, verdicts, advice, o); err != nil {
		return err
	}
	if !o.fail {
		return nil
	}
	return failure(d, verdicts)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// openSide reads the recordings of one side: one, or several that commas
// separate.
func openSide(name, path string, symbolizer *symbolize.Symbolizer, wrappers []*regexp.Regexp, o diffOptions) (*profile.Profile, error) {
	var recordings []*recording.Recording
	for _, path := range splitPaths(path) {
		rec, err := o.openOrImport(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		recordings = append(recordings, rec)
	}
	filter, err := o.filter.filter(recordings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := useSymbols(symbolizer, recordings); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return profile.New(recordings, profile.Options{
		Symbolizer: symbolizer, Wrappers: wrappers,
		Processes: o.filter.processes, Threads: o.filter.threads, Filter: filter,
	}), nil
}

// openOrImport opens a recording, or makes one for the moment of a file of
// another tool.
func (o *diffOptions) openOrImport(path string) (*recording.Recording, error) {
	if !isForeign(path) {
		recordings, err := o.filter.open([]string{path})
		if err != nil {
			return nil, err
		}
		return recordings[0], nil
	}
	folder, err := os.MkdirTemp("", "mallow-diff-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	imported := filepath.Join(folder, "imported.mallow")
	if err := importFile(io.Discard, nil, path, imported); err != nil {
		return nil, err
	}
	recordings, err := o.filter.open([]string{imported})
	if err != nil {
		return nil, err
	}
	recordings[0].Path = path
	return recordings[0], nil
}

// isForeign tells whether path is a file, and no packed recording.
func isForeign(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	start := make([]byte, len(packedMagic))
	io.ReadFull(file, start)
	return string(start) != packedMagic
}

// packedMagic is what a packed recording, a zip file, begins with.
const packedMagic = "PK\x03\x04"

// splitPaths separates recordings at commas, unless there is one with such a
// name.
func splitPaths(path string) []string {
	if _, err := os.Stat(path); err == nil {
		return []string{path}
	}
	return strings.Split(path, ",")
}

func writeDiff(w io.Writer, d *diff.Diff, verdicts []diff.Verdict, advice []diff.AdviceChange, o diffOptions) error {
	if o.sort == diff.ByPeak && d.PeakUnknown() {
		return errPeakUnknown
	}
	if o.sort == diff.ByTemporary && d.SumsOnly() {
		return errBlocksUnknown
	}
	if o.html.file != "" {
		return o.html.put(w, web.Recordings, func(to io.Writer) error {
			all := diff.Compare(d.Old, d.New, diff.Options{All: true, Per: o.per})
			return html.WriteDiff(to, all, html.Options{All: o.all, Sources: !o.html.noSource})
		})
	}
	if !o.json {
		return text.WriteDiff(w, d, text.DiffOptions{
			Top: o.top, Sort: o.sort, Colour: o.colour.For(w), Width: term.Width(w), Advice: advice,
			Next: "mallow diff --sort bytes|peak|live OLD NEW | --top 0 | --html FILE | --json | --fail",
		})
	}
	if !o.all { // sites of all origins, as a report has them
		d = diff.Compare(d.Old, d.New, diff.Options{All: true, Per: o.per})
	}
	d.Sort(o.sort)
	top := 0
	if o.topSet {
		top = o.top
	}
	return json.WriteDiff(w, d, json.DiffOptions{Top: top, Stacks: o.stacks, Verdicts: verdicts, Advice: advice})
}

// failure is the exit code for what grew: 2, or 1 where it cannot be told.
func failure(d *diff.Diff, verdicts []diff.Verdict) error {
	var grown, unknown []string
	for _, v := range verdicts {
		switch {
		case v.Unknown != "":
			unknown = append(unknown, fmt.Sprintf("whether %s grew cannot be told: %s", v.Metric, v.Unknown))
		case v.Regression:
			grown = append(grown, text.Regression(d, &v))
		}
	}
	switch {
	case len(grown) > 0:
		return exitError{code: 2, err: fmt.Errorf("%s", strings.Join(append(grown, unknown...), "; "))}
	case len(unknown) > 0:
		return fmt.Errorf("%s", strings.Join(unknown, "; "))
	}
	return nil
}
