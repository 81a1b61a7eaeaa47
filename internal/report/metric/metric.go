// Package metric names the figures of stacks that add up, so that a graph of
// calls can be drawn of them.
package metric

import (
	"fmt"
	"slices"
	"strings"

	"mallow/internal/recording"
)

// Metric is one of those figures.
type Metric string

const (
	Calls     Metric = "calls"     // allocations
	Bytes     Metric = "bytes"     // requested
	Peak      Metric = "peak"      // bytes that lived when the process had most
	Temporary Metric = "temporary" // allocations freed with nothing allocated in between
	Live      Metric = "live"      // bytes never freed
)

// All are the metrics in the order of a report.
var All = []Metric{Calls, Bytes, Peak, Temporary, Live}

// Of returns the figure of what was counted; never less than nothing.
func (m Metric) Of(c *recording.Counters) uint64 {
	switch m {
	case Bytes:
		return c.Bytes
	case Peak:
		return uint64(max(0, c.PeakBytes))
	case Temporary:
		return c.Temporary
	case Live:
		return uint64(c.LiveBytes())
	}
	return c.Calls
}

// IsBytes tells bytes from numbers of calls.
func (m Metric) IsBytes() bool { return m == Bytes || m == Peak || m == Live }

// Title is what a viewer shows.
func (m Metric) Title() string {
	return map[Metric]string{
		Calls: "calls", Bytes: "bytes allocated", Peak: "bytes at the peak",
		Temporary: "temporary allocations", Live: "bytes never freed",
	}[m]
}

// Set and the others make Metric a flag.
func (m *Metric) Set(s string) error {
	if !slices.Contains(All, Metric(s)) {
		return fmt.Errorf("must be %s", strings.Join(words(), ", "))
	}
	*m = Metric(s)
	return nil
}

func (m *Metric) String() string { return string(*m) }

// Type names the values of the flag in its help.
func (m *Metric) Type() string { return strings.Join(words(), "|") }

func words() []string {
	list := make([]string, len(All))
	for i, m := range All {
		list[i] = string(m)
	}
	return list
}
