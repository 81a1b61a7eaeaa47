package rule

import "time"

const (
	// Of the memory at the peak a line must hold so much.
	leastHeld  = 0.05
	leastPiled = 100
	// It must go on from the first to the last tenth of the steady state.
	edge = 0.1
	// Of what the line makes so much must stay: caches let go of what they
	// keep, in the end.
	leastKept = 0.5
)

// PilesUp tells whether the site's blocks grow in number for as long as the
// program does its work, in a program that would go on if nobody stopped it.
func (s *Site) PilesUp() bool {
	from, to, ok := s.c.Steady()
	if !ok || !s.c.GoesOn() {
		return false
	}
	n := &s.Counters
	live := uint64(n.LiveBlocks())
	if live < leastPiled || Share(live, n.Calls) < leastKept || Share(uint64(n.LiveBytes()), s.c.PeakBytes) < leastHeld {
		return false
	}
	k, margin := s.Knowledge(), time.Duration(edge*float64(to-from))
	return k.First != nil && k.Last != nil && *k.First <= from+margin && *k.Last >= to-margin
}
