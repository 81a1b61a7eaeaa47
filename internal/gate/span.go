package gate

import (
	"math"
	"slices"

	"mallow/internal/budget"
)

// span is what was seen of a metric.
type span struct {
	least, middle, most float64
	runs                int
}

func spanOf(values []float64) span {
	if len(values) == 0 {
		return span{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return span{sorted[0], sorted[(len(sorted)-1)/2], sorted[len(sorted)-1], len(sorted)}
}

func spanOfFigure(f *budget.Figure) span {
	return span{least: f.Least, middle: f.Least + (f.Most-f.Least)/2, most: f.Most, runs: 1}
}

func (s span) exact() bool     { return s.least == s.most }
func (s span) spread() float64 { return s.most - s.least }

const (
	// greatestBounded is how far apart runs of a bounded metric are at most, of
	// the whole; beyond it is noisy.
	greatestBounded = 0.05
	// leastMargin is how closely a metric that varies is judged at best, of the
	// whole: a few runs do not show all that can happen.
	leastMargin = 0.001
	// timeMargin is the same for times, which others on the machine decide.
	timeMargin = 0.03
	// leastTime is what clocks tell apart, in seconds.
	leastTime = 1e-6
)

// classOf learns from repeating how steady a metric is. error is how far the
// recorder itself may be off.
func classOf(metric string, s span, error float64) Class {
	switch {
	case budget.IsTime(metric):
		return Noisy
	case s.exact() && error == 0:
		return Exact
	case s.spread() <= greatestBounded*math.Abs(s.most):
		return Bounded
	}
	return Noisy
}

// margin is by how much two spans of a metric that is no time may lie apart and
// still be the same. That all of so many runs are beyond all that was seen
// before happens by chance once in some hundred times; half of that again,
// hardly ever.
func margin(was, now span, error float64) float64 {
	if was.exact() && now.exact() && error == 0 {
		return 0
	}
	return max(was.spread()/2, now.spread()/2, leastMargin*max(was.most, now.most), error)
}

// fluctuation is by what factor times may lie apart and still be the same: as
// far as those of either side do. A busy machine stretches all times by factors,
// so that a difference of many times is one however far apart its runs are.
func fluctuation(was, now span) float64 {
	return max(was.most/max(was.least, leastTime), now.most/max(now.least, leastTime), 1+timeMargin)
}

// compare tells whether now is worse (1) or better (-1) than was, or neither.
func compare(metric string, was, now span, error float64) int {
	var most, least float64
	if budget.IsTime(metric) {
		f := fluctuation(was, now)
		most, least = max(was.most, leastTime)*f, was.least/f
	} else {
		m := margin(was, now, error)
		most, least = was.most+m, was.least-m
	}
	switch {
	case now.least > most:
		return 1
	case now.most < least:
		return -1
	}
	return 0
}
