package gocode

import (
	"bufio"
	"fmt"

	"mallow/internal/figure"
	"mallow/internal/gocode"
	"mallow/internal/term"
)

// cpuRows are shown by the time of their own, and as many by the time with what
// they call.
const cpuRows = 5

// writeCPU prints where the CPU time went.
func writeCPU(out *bufio.Writer, c *gocode.CPU, of string, o Options) {
	fmt.Fprintf(out, "        CPU time: %s %s: %s in malloc, %s in the collector", figure.Counted(uint64(c.Samples), "sample", "samples"), of, percent(c.Malloc), percent(c.Collector))
	if c.C > 0 {
		fmt.Fprintf(out, ", %s in C", percent(c.C))
	}
	fmt.Fprintln(out)
	fmt.Fprintf(out, "%14s %10s  function\n", "flat", "cumulated")
	rows := cpuRows
	if o.Top == 0 {
		rows = 0
	}
	for _, f := range c.Top(rows) {
		fmt.Fprintf(out, "%14s %10s  %s\n", percent(f.Flat), percent(f.Cumulated), term.Safe(gocode.LongFunction(f.Function)))
	}
}

// ofTimedRun and ofCountedRun say which run samples are of.
const ofTimedRun = "of the run that gives the time, in which nothing is counted"

func ofCountedRun(c *gocode.CPU) string {
	return fmt.Sprintf("of this run, and %s more in counting, which are left out", figure.Count(uint64(c.Counting)))
}

// percent writes a share that some hundred samples tell, without digits that
// they do not.
func percent(share float64) string {
	switch {
	case share <= 0:
		return "0 %"
	case share < 0.005:
		return "<1 %"
	case share < 1 && share > 0.995:
		return ">99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

type cpu struct {
	Samples int64 `json:"samples"`
	Rate    int64 `json:"rate"` // samples of a second of CPU time
	// CountingSamples are further ones, within the counting of allocations.
	CountingSamples int64         `json:"counting_samples"`
	MallocShare     float64       `json:"malloc_share"`
	CollectorShare  float64       `json:"collector_share"`
	CShare          float64       `json:"c_share"`   // in C that Go called
	Functions       []cpuFunction `json:"functions"` // those with the most of their own first
}

type cpuFunction struct {
	Function  string  `json:"function"`
	File      *string `json:"file"`
	Flat      float64 `json:"flat_share"`
	Cumulated float64 `json:"cumulated_share"`
}

func cpuKeys(c *gocode.CPU) *cpu {
	if c == nil {
		return nil
	}
	keys := &cpu{
		Samples: c.Samples, Rate: c.Rate, CountingSamples: c.Counting, MallocShare: c.Malloc, CollectorShare: c.Collector, CShare: c.C, Functions: []cpuFunction{},
	}
	for _, f := range c.Functions {
		keys.Functions = append(keys.Functions, cpuFunction{f.Function, known(f.File), f.Flat, f.Cumulated})
	}
	return keys
}

func cpuShare(c *gocode.CPU, l *gocode.Line) *float64 {
	if c == nil {
		return nil
	}
	share := c.Line(l)
	return &share
}
