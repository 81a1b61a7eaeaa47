package advise

import (
	"fmt"

	"mallow/internal/advise/price"
	"mallow/internal/advise/rule"
	"mallow/internal/profile"
)

// worthwhile is the share of CPU time from which on a change pays.
const worthwhile = rule.Worthwhile

// Price finds out what allocating costs with a malloc; nil where that cannot
// be measured. It may take a moment: it is asked only when there is something
// to price.
type Price func(price.Malloc) *price.Costs

// cost prices what is saved.
type cost struct {
	each  func(s *profile.Site) float64 // ns of an allocation and its release; nil where it is not known
	basis func(average float64) string  // how it is known
	total float64                       // ns of CPU time that the program would use without us
}

func newCost(p *profile.Profile, ask Price) *cost {
	if ask != nil && price.Known(p) {
		if run := price.For(p, ask(price.MallocOf(p.Recordings))); run != nil {
			return &cost{each: run.Site, basis: run.Basis, total: run.Nanoseconds()}
		}
	}
	if sampled := bySamples(p); sampled != nil {
		return sampled
	}
	return &cost{}
}

// bySamples is for where nothing was measured; it returns nil where no samples
// were taken. Of single lines there are too few to tell their cost apart: all
// have the average.
func bySamples(p *profile.Profile) *cost {
	cpu := p.CPU()
	if cpu == nil || cpu.Allocator == 0 || p.Totals.Allocations == 0 {
		return nil
	}
	average := float64(cpu.Allocator) / float64(p.Totals.Allocations)
	return &cost{
		each: func(*profile.Site) float64 { return average },
		basis: func(float64) string {
			return fmt.Sprintf("CPU samples: malloc and free took %.0f ns a pair while libmallow recorded", average)
		},
		total: float64(cpu.Total),
	}
}

// fitIn keeps what is saved in all within what the program uses: a price that
// was measured beside the program may be too high for it.
func fitIn(all []Advice) {
	var sum float64
	for i := range all {
		sum += cpuShare(&all[i].Saves)
	}
	if sum <= 1 {
		return
	}
	for i := range all {
		if share := all[i].Saves.CPUShare; share != nil {
			*share /= sum
		}
	}
}

func (c *cost) price(s *Saves, f *found) {
	if c.each == nil || f.left.Calls == 0 && f.Nanoseconds == 0 {
		return
	}
	var ns float64
	for _, p := range f.parts {
		ns += float64(p.calls) * c.each(p.site.Site)
	}
	share := min(1, (ns*(1-f.Takes)+f.Nanoseconds)/c.total)
	s.CPUShare = &share
	if s.Basis = f.Basis; f.left.Calls > 0 {
		s.Basis = c.basis(ns / float64(f.left.Calls))
	}
	if f.Takes > 0 {
		s.Basis += fmt.Sprintf(", of which the remedy takes %.0f %%", 100*f.Takes)
	}
}
