package rule

// How the copies that are not needed are told from those that are: by how soon
// they are gone.
const (
	// CopyLife, in heap events of its thread, is the longest life of one that is
	// not needed: it ends with a call of which it is an argument, or with a round
	// of a loop, not with a piece of work.
	CopyLife = 4096
	// LeastThrownAway is the least share of such copies: where most stay, copies
	// are needed.
	LeastThrownAway = 0.5
)

// ThrownAway estimates how many of the copies that the site makes are gone
// within CopyLife; none where other threads free them, for which they are made.
func (s *Site) ThrownAway() uint64 {
	n := &s.Counters
	if n.Foreign > 0 {
		return 0
	}
	return uint64((1 - s.Outlive(CopyLife)) * float64(n.Calls))
}
