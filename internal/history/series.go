package history

import (
	"cmp"
	"slices"

	"mallow/internal/stat"
)

// Series is the course of one metric of a key.
type Series struct {
	Key
	Metric string
	Unit   string
	Points []*Point // in order
	// Steps are where the level of the series changes, the first one first.
	// Points of changed trees do not count: nobody can go back to them.
	Steps []*Step
}

// Step is a change of the level of a series.
type Step struct {
	stat.Change        // Index counts the points of whole commits
	At          *Point // the first one of the new level
	Last        *Point // the last one of the old level
}

// Value returns the figure of a point of the series.
func (s *Series) Value(p *Point) float64 { return p.Metrics[s.Metric].Value }

// Class tells how far runs of the same program agree, as the last point has it.
func (s *Series) Class() string {
	if len(s.Points) == 0 {
		return ""
	}
	return s.Points[len(s.Points)-1].Metrics[s.Metric].Class
}

// Collect makes series of points, which are in order. They are sorted by key
// and metric, the usual metrics first.
func Collect(points []Point) []*Series {
	type name struct {
		Key
		metric, unit string
	}
	by := make(map[name]*Series)
	var all []*Series
	for i := range points {
		p := &points[i]
		for metric, v := range p.Metrics {
			n := name{p.Key, metric, v.Unit}
			if by[n] == nil {
				by[n] = &Series{Key: p.Key, Metric: metric, Unit: v.Unit}
				all = append(all, by[n])
			}
			by[n].Points = append(by[n].Points, p)
		}
	}
	slices.SortFunc(all, func(a, b *Series) int {
		return cmp.Or(a.Key.compare(b.Key), cmp.Compare(metricRank(a.Metric), metricRank(b.Metric)),
			cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Unit, b.Unit))
	})
	for _, s := range all {
		s.findSteps()
	}
	return all
}

func (k Key) compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Benchmark, o.Benchmark), cmp.Compare(k.Platform, o.Platform), cmp.Compare(k.Build, o.Build))
}

// usual are metrics in the order in which they are shown.
var usual = []string{"allocations", "bytes", "peak", "live", "libc", "temporary", "cpu", "wall"}

func metricRank(metric string) int {
	if at := slices.Index(usual, metric); at >= 0 {
		return at
	}
	return len(usual)
}

func (s *Series) findSteps() {
	var whole []*Point
	var values []float64
	for _, p := range s.Points {
		if !p.Dirty {
			whole, values = append(whole, p), append(values, s.Value(p))
		}
	}
	for _, c := range stat.Changes(values, stat.ChangeOptions{}) {
		s.Steps = append(s.Steps, &Step{Change: c, At: whole[c.Index], Last: whole[c.Index-1]})
	}
}
