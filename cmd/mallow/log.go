package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"mallow/internal/eventlog"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/report/log"
	"mallow/internal/term"
)

// logOptions are the flags of mallow log.
type logOptions struct {
	json      bool
	stack     bool
	time      bool
	site      string
	size      byteRange
	threads   []uint
	processes []uint
	from, to  float64
	wrappers  []string
}

func newLogCommand() *cobra.Command {
	var o logOptions
	c := &cobra.Command{
		Use:   "log [FLAGS] NAME.mallow",
		Short: "Print every call in order, one line each",
		Long: `log prints what "mallow record --log" kept: every call of every thread and
process in order, in the manner of curl's memory log:

  MEM url.c:297 strdup(0x559e7150d616) (24) = 0x559e73760f98  parseurl

The place is the first frame of the stack that is no wrapper, as in a report;
its function follows. [PID/TID] follows where there are several.`,
		Example: `  mallow log server.4711.mallow | grep 0x559e73760f98
  mallow log --site 'parse' --size 1M.. --stack server.4711.mallow`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("log takes one recording: mallow log NAME.mallow")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return printLog(c.OutOrStdout(), args[0], o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, `JSON, one line a call: schema "mallow.log/1"`)
	f.BoolVar(&o.stack, "stack", false, "with the whole stack of every call")
	f.BoolVar(&o.time, "time", false, "with the time of every call, since the log began")
	f.StringVar(&o.site, "site", "", "only calls whose site, as function or FILE:LINE, matches this regular expression")
	f.Var(&o.size, "size", "only calls that ask for so many bytes, K, M and G allowed")
	f.UintSliceVar(&o.threads, "thread", nil, "only this thread, by its TID (may be repeated)")
	f.UintSliceVar(&o.processes, "process", nil, "only this process, by its PID (may be repeated)")
	f.Float64Var(&o.from, "from", 0, "only from so many seconds on")
	f.Float64Var(&o.to, "to", 0, "only until so many seconds, 0: to the end")
	f.StringArrayVar(&o.wrappers, "wrapper", nil, "functions matching this regular expression pass allocations on (may be repeated)")
	return c
}

func printLog(w io.Writer, path string, o logOptions) error {
	if !(o.from >= 0 && o.to >= 0) || o.to > 0 && o.to < o.from { // NaN is no time
		return fmt.Errorf("--from and --to take seconds from 0 up, the earlier first")
	}
	shown := log.Options{
		JSON: o.json, Stack: o.stack, Time: o.time, From: o.from, To: o.to,
		Size: log.SizeRange{Set: o.size.set, Least: uint64(o.size.least), Most: uint64(o.size.most)},
	}
	for _, thread := range o.threads {
		if thread > math.MaxUint32 {
			return fmt.Errorf("--thread %d: that is no TID", thread)
		}
		shown.Threads = append(shown.Threads, uint32(thread))
	}
	var err error
	if o.site != "" {
		if shown.Site, err = regexp.Compile(o.site); err != nil {
			return fmt.Errorf("--site: %w", err)
		}
	}
	wrappers, err := compileAll("--wrapper", o.wrappers)
	if err != nil {
		return err
	}
	rec, err := recording.Open(path)
	if err != nil {
		return fmt.Errorf("%s", term.Safe(err.Error()))
	}
	var wanted func(*recording.Image) bool
	if len(o.processes) > 0 {
		wanted = func(im *recording.Image) bool { return slices.Contains(o.processes, uint(im.PID)) }
	}
	l, err := eventlog.Open(rec, wanted)
	if err != nil {
		return fmt.Errorf("%s", term.Safe(err.Error()))
	}
	defer l.Close()
	symbolizer, err := newSymbolizer(rec)
	if err != nil {
		return err
	}
	defer symbolizer.Close()
	namer := profile.NewNamer([]*recording.Recording{rec}, profile.Options{Symbolizer: symbolizer, Wrappers: wrappers})
	return log.Write(w, l, namer, shown)
}
