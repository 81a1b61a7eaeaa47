package rule

import (
	"fmt"

	"mallow/internal/figure"
	"mallow/internal/profile"
)

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

// CopiesGone is the evidence that so many of the copies for which a copier asked
// are not needed.
func CopiesGone(copier string, gone, copies uint64) string {
	return fmt.Sprintf("%s asked for them, and %s were gone within %s heap events of their thread", copier, figure.Percent(gone, copies), figure.Count(CopyLife))
}

// CopiesThrownAway finds that most of the copies that the site makes are gone
// soon; title has a place for how much they take.
func (s *Site) CopiesThrownAway(title, remedy, copier string) (f Finding, ok bool) {
	gone, copies := s.ThrownAway(), s.Counters.Calls
	if Share(gone, copies) < LeastThrownAway {
		return Finding{}, false
	}
	return Finding{
		Named:    true,
		Means:    Avoid,
		AtMost:   true,
		Title:    fmt.Sprintf(title, Blocks(copies, s)),
		Remedy:   remedy,
		Evidence: CopiesGone(copier, gone, copies),
		Places:   []profile.Frame{s.Frame},
		Claims:   []Claim{s.Claim(gone)},
	}, true
}
