package profile

import "mallow/internal/recording"

// Calls returns how often each function of malloc's family returned a block
// at the site.
func (s *Site) Calls() map[recording.Function]uint64 {
	calls := make(map[recording.Function]uint64)
	for i := range s.stacks {
		if n := s.stacks[i].counters.Calls; n > 0 {
			calls[s.stacks[i].function] += n
		}
	}
	return calls
}

// Wraps tells whether a function only passes allocations on, so that no site
// is in it.
func (p *Profile) Wraps(f *Frame) bool { return !p.sites.accept(f) }
