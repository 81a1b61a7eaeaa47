package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mallow/internal/advise"
	"mallow/internal/analyze"
	"mallow/internal/calibrate"
	"mallow/internal/profile"
	"mallow/internal/report/json"
	"mallow/internal/report/memanalyze"
	"mallow/internal/report/metric"
	"mallow/internal/report/text"
	"mallow/internal/term"
)

// reportOptions are the flags of mallow report.
type reportOptions struct {
	json     bool
	format   string
	top      int
	topSet   bool
	stacks   int
	sort     analyze.Order
	all      bool
	cpu      bool
	advice   int
	evidence bool
	tree     bool
	callers  bool
	by       profile.Grouping
	wrappers []string
	filter   filterFlags
	metric   metric.Metric
	colour   term.Colour
	pack     string
	html     htmlOptions
	wrote    string // the recording that mallow record has just made
}

func defaultReportOptions() reportOptions {
	return reportOptions{format: "text", top: 10, stacks: 10, advice: 3, sort: analyze.ByCalls, by: profile.ByLine, metric: metric.Calls, colour: term.Auto}
}

func newReportCommand() *cobra.Command {
	o := defaultReportOptions()
	c := &cobra.Command{
		Use:   "report [FLAGS] NAME.mallow...",
		Short: "Explain a recording on one screen",
		Long: `report explains what a program allocated: how much, where, who called, what is
true of it. It writes to stdout. Several recordings are added up. A recording
can be read while its program runs.

A site is the first frame of a stack that is no wrapper, such as operator new,
std::string or xmalloc; --wrapper names more. What libc allocates on its own
account is left out of the text and of memanalyze's counts, --all adds it; JSON
always has it, by origin.

--include, --exclude, --max-size, --module, --origin, --phase, --process,
--region and --thread restrict every form of the report to a part.`,
		Example: `  mallow report server.4711.mallow
  mallow report --sort bytes --top 30 server.4711.mallow
  mallow report --max-size 32 --exclude '^log_' server.4711.mallow
  mallow report --tree server.4711.mallow
  mallow report --json server.4711.mallow | jq .totals.allocations`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("no recording given: mallow report NAME.mallow")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.topSet = c.Flags().Changed("top")
			o.evidence = c.Flags().Changed("advice")
			o.filter.sized = c.Flags().Changed("max-size")
			if o.json {
				o.format = "json"
			}
			if o.cpu && o.format == "text" {
				o.format = "cpu"
			}
			if c.Flags().Changed("pack") {
				flags := slices.Clone(filterNames)
				for _, b := range reportFlags {
					flags = append(flags, b.flag)
				}
				for _, flag := range flags {
					if c.Flags().Changed(flag) {
						return fmt.Errorf("--pack packs the whole of a recording, and does not go with --%s", flag)
					}
				}
				return pack(c.OutOrStdout(), args, o.pack)
			}
			if err := o.html.choose(&o); err != nil {
				return err
			}
			if _, known := reportFormats[o.format]; known {
				if err := checkBelonging(c.Flags(), reportFlags, o.format); err != nil {
					return err
				}
			}
			return report(c.OutOrStdout(), args, o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, `the same as --format json: schema "mallow.report/1"`)
	f.StringVar(&o.format, "format", o.format, "text, json, cpu, pprof (for go tool pprof), speedscope, folded, csv, html, memanalyze (curl's counts block) or memanalyze-2017 (of curl 7.53.1)")
	f.IntVar(&o.top, "top", o.top, "`N` sites to show, 0 for all (JSON has all unless this is given)")
	f.IntVar(&o.advice, "advice", o.advice, "`N` pieces of advice in the text, 0 for all, with the evidence for each")
	f.IntVar(&o.stacks, "stacks", o.stacks, "`N` stacks of each site in JSON, 0 for all")
	f.Var(&o.by, "by", "what makes a site: line of code, function, module, or type that is allocated")
	f.Var(&o.sort, "sort", "what to sort sites by; size is that of the greatest block")
	f.BoolVar(&o.tree, "tree", false, "the tree of calls, outermost first; --top is how many lines of it")
	f.BoolVar(&o.callers, "callers", false, "the sites, each with the tree of those who call it")
	f.BoolVar(&o.cpu, "cpu", false, "where the CPU time went, by function (of recordings made with record --cpu)")
	f.BoolVar(&o.all, "all", false, "with what libc allocated on its own account")
	f.StringArrayVar(&o.wrappers, "wrapper", nil, "functions that match `RE` only pass allocations on (may be repeated)")
	o.filter.add(f)
	f.Var(&o.metric, "metric", "what --format folded counts")
	o.html.flags(f)
	f.Var(&o.colour, "color", "when to write in colour")
	f.StringVar(&o.pack, "pack", "", "no report: make one `FILE` of a recording, with all names in it (NAME.mallowpack beside it without FILE)")
	f.Lookup("pack").NoOptDefVal = besideIt
	completeWords(c, "format", slices.Sorted(maps.Keys(reportFormats))...)
	c.MarkFlagsMutuallyExclusive("pack", "json", "format", "cpu", "html", "web")
	return c
}

// report writes the report of recordings to w. Nothing is written when it
// returns an error, other than that of a write.
func report(w io.Writer, paths []string, o reportOptions) error {
	if o.top < 0 || o.stacks < 0 || o.advice < 0 {
		return fmt.Errorf("--top, --stacks and --advice take a number from 0 up")
	}
	write, ok := reportFormats[o.format]
	if !ok {
		return fmt.Errorf("--format %s: there are text, json, cpu, pprof, speedscope, folded, csv, html, memanalyze and memanalyze-2017", term.Safe(o.format))
	}
	if err := o.checkTree(); err != nil {
		return err
	}
	wrappers, err := compileAll("--wrapper", o.wrappers)
	if err != nil {
		return err
	}
	recordings, err := o.filter.open(paths)
	if err != nil {
		return err
	}
	filter, err := o.filter.filter(recordings)
	if err != nil {
		return err
	}
	symbolizer, err := newSymbolizer(recordings...)
	if err != nil {
		return err
	}
	defer symbolizer.Close()
	p := profile.New(recordings, profile.Options{
		Symbolizer: symbolizer, Wrappers: wrappers,
		Processes: o.filter.processes, Threads: o.filter.threads, Filter: filter,
	})
	if err := errors.Join(checkCPUOrder(p, &o), checkKnown(p, &o)); err != nil {
		return err
	}
	// Nothing else is of libc's account: who asks for it wants to see it.
	o.all = o.all || p.ChosenLibc()
	return write(w, p, paths, o)
}

// checkTree tells whether the flags of the text's other forms fit together.
func (o *reportOptions) checkTree() error {
	switch {
	case !o.tree && !o.callers:
		return nil
	case o.tree && o.callers:
		return fmt.Errorf("--tree and --callers: give one of them")
	case o.format != "text":
		return fmt.Errorf("--tree and --callers are forms of the text, and do not go with --json, --format and --cpu")
	case o.by != profile.ByLine:
		return fmt.Errorf("--tree and --callers show functions, and do not go with --by")
	case o.sort == analyze.BySize || o.sort == analyze.ByCPU:
		return fmt.Errorf("--tree and --callers: sizes and CPU time do not add up in it; sort by calls, bytes, peak, temporary, live or waste")
	}
	return nil
}

// checkCPUOrder tells whether sites can be sorted by CPU time.
func checkCPUOrder(p *profile.Profile, o *reportOptions) error {
	switch {
	case o.sort != analyze.ByCPU:
		return nil
	case o.by == profile.ByType:
		return fmt.Errorf("--sort cpu: the time of a line is not known by type")
	case p.Restricted():
		return errCPURestricted
	case p.CPU() == nil:
		return fmt.Errorf("--sort cpu: there are no CPU samples in it: mallow record --cpu takes them")
	}
	return nil
}

// checkKnown tells whether what is asked of the peak, of temporary blocks and of
// waste is known.
func checkKnown(p *profile.Profile, o *reportOptions) error {
	folded := o.format == "folded"
	switch {
	case p.PeakUnknown() && (o.sort == analyze.ByPeak || folded && o.metric == metric.Peak):
		return errPeakUnknown
	case p.SumsOnly && (o.sort == analyze.ByTemporary || folded && o.metric == metric.Temporary):
		return errBlocksUnknown
	case p.WasteUnknown && o.sort == analyze.ByWaste:
		return errWasteUnknown
	}
	return nil
}

var (
	errPeakUnknown   = errors.New(profile.WhyPeakUnknown)
	errBlocksUnknown = errors.New(profile.WhyBlocksUnknown)
	errWasteUnknown  = errors.New(profile.WhyWasteUnknown)
)

var errCPURestricted = errors.New("CPU samples are of whole processes: --process is the only restriction that they know")

var reportFormats = map[string]func(w io.Writer, p *profile.Profile, paths []string, o reportOptions) error{
	"text":  writeText,
	"json":  writeJSON,
	"cpu":   writeCPU,
	"pprof": writePprof,

	"speedscope": writeSpeedscope,
	"folded":     writeFolded,
	"csv":        writeCSV,
	"html":       writeHTML,
	"memanalyze": func(w io.Writer, p *profile.Profile, _ []string, o reportOptions) error {
		return writeMemanalyze(w, p, memanalyze.Today, o.all)
	},
	"memanalyze-2017": func(w io.Writer, p *profile.Profile, _ []string, o reportOptions) error {
		return writeMemanalyze(w, p, memanalyze.Of2017, o.all)
	},
}

func writeMemanalyze(w io.Writer, p *profile.Profile, dialect memanalyze.Dialect, all bool) error {
	if p.Sampling != nil {
		return fmt.Errorf("the recording is sampled: memanalyze's block is of counts, and these are estimates")
	}
	if p.Totals.Frees == nil {
		return fmt.Errorf("memanalyze's block has the frees and the peak of a whole program, and of what is left with these flags they are not known")
	}
	return memanalyze.Write(w, p, dialect, all)
}

func writeText(w io.Writer, p *profile.Profile, paths []string, o reportOptions) error {
	advice := advise.For(p, advise.Options{Price: prices(p), All: o.all})
	options := text.Options{
		Top: o.top, Sort: o.sort, By: o.by, All: o.all, Advice: &advice, Advised: o.advice, Evidence: o.evidence,
		Colour: o.colour.For(w), Width: term.Width(w),
		Wrote: o.wrote, Next: nextStep(p, paths),
	}
	if !o.topSet {
		options.Height = term.Height(w)
	}
	switch {
	case o.tree:
		if !o.topSet {
			options.Top = 40
		}
		return text.WriteTree(w, p, options)
	case o.callers:
		return text.WriteCallers(w, p, options)
	}
	return text.Write(w, p, options)
}

// prices returns who tells what allocating costs. Where advice takes a while
// the looking begins beside it; of a small recording there may be none to give.
func prices(p *profile.Profile) advise.Price {
	const many = 500
	if len(p.Sites) < many {
		return calibrate.Costs
	}
	return calibrate.Ahead()
}

func writeCPU(w io.Writer, p *profile.Profile, paths []string, o reportOptions) error {
	if p.Restricted() {
		return errCPURestricted
	}
	return text.WriteCPU(w, p, text.Options{
		Top: o.top, Colour: o.colour.For(w), Width: term.Width(w),
		Next: fmt.Sprintf("mallow report %s | --cpu --top 30 | --json", term.Word(onlyPath(paths))),
	})
}

func nextStep(p *profile.Profile, paths []string) string {
	orders := []string{"bytes", "peak", "live", "waste"}
	if p.PeakUnknown() {
		orders = slices.DeleteFunc(orders, func(o string) bool { return o == "peak" })
	}
	if p.WasteUnknown {
		orders = slices.DeleteFunc(orders, func(o string) bool { return o == "waste" })
	}
	return fmt.Sprintf("mallow report --html FILE | --advice 0 | --tree | --callers | --by type | --sort %s %s;  mallow diff OLD NEW", strings.Join(orders, "|"), term.Word(onlyPath(paths)))
}

func onlyPath(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return "NAME.mallow"
}

func writeJSON(w io.Writer, p *profile.Profile, _ []string, o reportOptions) error {
	sites := analyze.RankGroups(p, true, o.sort, o.by)
	if o.topSet && o.top > 0 && len(sites) > o.top {
		sites = sites[:o.top]
	}
	return json.Write(w, p, json.Options{Sites: sites, By: o.by, Stacks: o.stacks, Advice: advise.For(p, advise.Options{Price: prices(p), All: o.all})})
}
