package diff

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mallow/internal/profile"
)

// Metric is what must not grow.
type Metric string

const (
	Allocations Metric = "allocations"
	Bytes       Metric = "bytes"
	Peak        Metric = "peak"
	Live        Metric = "live" // bytes never freed
)

// Metrics are all there are.
var Metrics = []Metric{Allocations, Bytes, Peak, Live}

// MetricOf returns the metric of that name, and Allocations for a name that has
// none: what stacks are compared by where a figure of that name grew.
func MetricOf(name string) Metric {
	if m := Metric(name); slices.Contains(Metrics, m) {
		return m
	}
	return Allocations
}

// ParseMetrics reads a list such as "allocations,peak".
func ParseMetrics(list string) ([]Metric, error) {
	var metrics []Metric
	for _, name := range strings.Split(list, ",") {
		m := Metric(strings.TrimSpace(name))
		if !slices.Contains(Metrics, m) {
			return nil, fmt.Errorf("%q is none of allocations, bytes, peak and live", name)
		}
		if !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	return metrics, nil
}

// Verdict says of a metric whether it grew.
type Verdict struct {
	Metric   Metric
	Old, New uint64
	// Excess is by how much it grew, of as much work (Diff.Per) where that
	// was not the same.
	Excess     float64
	Error      float64 // that Excess may have by chance or by threads
	Regression bool
	Unknown    string // why it cannot be told; "" if it can
}

// Judge tells whether a metric of program and libraries (of everything with
// Options.All) grew by more than what estimates and threads explain.
func (d *Diff) Judge(m Metric) Verdict {
	v := Verdict{Metric: m}
	o, n := &d.OldTotals, &d.NewTotals
	switch m {
	case Allocations:
		v.Old, v.New = o.Allocations, n.Allocations
	case Bytes:
		v.Old, v.New = o.Bytes, n.Bytes
	case Peak:
		v.Old, v.New = o.PeakBytes, n.PeakBytes
	case Live:
		v.Old, v.New = o.LiveBytes, n.LiveBytes
	}
	v.Excess = d.excess(m, v.Old, v.New)
	v.Error = d.errorOf(m)
	v.Unknown = d.unknown(m)
	v.Regression = v.Unknown == "" && v.Excess > v.Error
	return v
}

// excess leaves out of what grew with the work: the peak and what is never
// freed should not grow with that.
func (d *Diff) excess(m Metric, old, new uint64) float64 {
	if d.Per == nil || m == Peak || m == Live {
		return float64(new) - float64(old)
	}
	sum := 0.0
	for _, s := range d.Sites {
		switch {
		case s.Status == Same:
		case m == Allocations:
			sum += s.Excess
		default:
			sum += float64(s.NewCounters().Bytes) - d.asMuchWork(s.OldCounters().Bytes)
		}
	}
	return sum
}

func (d *Diff) errorOf(m Metric) float64 {
	var variance float64
	for _, s := range d.Sites {
		o, n := &s.OldCounters().Variance, &s.NewCounters().Variance
		switch m {
		case Allocations:
			variance += o.Calls + n.Calls
		case Bytes:
			variance += o.Bytes + n.Bytes
		default:
			variance += o.LiveBytes + n.LiveBytes
		}
	}
	e := standardErrors * math.Sqrt(variance)
	if m == Peak {
		e += float64(d.Old.Quality.PeakErrorBytes + d.New.Quality.PeakErrorBytes)
	}
	return e
}

func (d *Diff) unknown(m Metric) string {
	switch {
	case d.Old.Quality.Incomplete != d.New.Quality.Incomplete && d.Old.Quality.Incomplete:
		return "OLD is incomplete and NEW is not"
	case d.Old.Quality.Incomplete != d.New.Quality.Incomplete:
		return "NEW is incomplete and OLD is not"
	case d.Old.Running+d.New.Running > 0:
		return "a program still runs"
	case m == Peak && d.PeakUnknown():
		return profile.WhyPeakUnknown
	}
	return ""
}

// Guilty is the site that a metric grew most at; nil where it grew at none.
func (d *Diff) Guilty(m Metric) *Site {
	growth := func(s *Site) float64 { return s.Excess }
	switch m {
	case Bytes:
		growth = bytesChange
	case Peak:
		growth = func(s *Site) float64 { return float64(s.NewCounters().PeakBytes - s.OldCounters().PeakBytes) }
	case Live:
		growth = func(s *Site) float64 { return float64(s.NewCounters().LiveBytes() - s.OldCounters().LiveBytes()) }
	}
	var most *Site
	for _, s := range d.Sites {
		if growth(s) > 0 && (most == nil || growth(s) > growth(most)) {
			most = s
		}
	}
	return most
}
