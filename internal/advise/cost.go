package advise

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/profile"
)

// worthwhile is the share of CPU time from which on a change pays.
const worthwhile = rule.Worthwhile

// Price is what allocating costs with the malloc that the program would use
// without us.
type Price interface {
	// Pair returns the CPU time, in nanoseconds, of one malloc and free of a
	// block of size bytes.
	Pair(size uint64) float64
	// Recorded returns that of the same on libmallow while every call is
	// recorded: it is part of the CPU time of the run that was recorded.
	Recorded(size uint64) float64
	// Malloc names the malloc: "glibc's malloc".
	Malloc() string
}

// cost prices what is saved: by CPU samples where there are any, else by the
// price of a pair and the CPU time that the program used.
type cost struct {
	pair  func(size uint64) float64    // ns of a malloc and free; nil where it is not known
	basis func(average float64) string // how it is known
	total float64                      // ns of CPU time that the program would use without us
}

func newCost(p *profile.Profile, price Price) *cost {
	if sampled := bySamples(p); sampled != nil {
		return sampled
	}
	total := float64(p.UsedCPU())
	if price == nil || total == 0 {
		return &cost{}
	}
	for _, s := range p.Sites {
		size := s.Counters.Bytes / max(1, s.Counters.Calls)
		total += float64(s.Counters.Calls) * (price.Pair(size) - price.Recorded(size))
	}
	if total <= 0 {
		return &cost{} // a run too short to be measured
	}
	return &cost{
		pair: price.Pair,
		basis: func(ns float64) string {
			return fmt.Sprintf("%s at %.0f ns a pair, measured on this machine", price.Malloc(), ns)
		},
		total: total,
	}
}

// bySamples returns nil where none were taken. Of single lines there are too
// few to tell their cost apart: all have the average.
func bySamples(p *profile.Profile) *cost {
	cpu := p.CPU()
	if cpu == nil || cpu.Allocator == 0 || p.Totals.Allocations == 0 {
		return nil
	}
	average := float64(cpu.Allocator) / float64(p.Totals.Allocations)
	return &cost{
		pair:  func(uint64) float64 { return average },
		basis: func(float64) string { return fmt.Sprintf("CPU samples: malloc and free took %.0f ns a pair", average) },
		total: float64(cpu.Total),
	}
}

func (c *cost) price(s *Saves, f *found) {
	if c.pair == nil {
		return
	}
	var pairs float64
	for _, p := range f.pairs {
		pairs += float64(p.calls) * c.pair(p.size)
	}
	share := min(1, (pairs+f.Nanoseconds)/c.total)
	s.CPUShare = &share
	s.Basis = c.basis(pairs / float64(max(1, f.left.Calls)))
}
