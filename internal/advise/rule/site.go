package rule

import "mallow/internal/profile"

// Site is a line that allocates, or the part of it that one caller asks for.
type Site struct {
	*profile.Site
	Known profile.Knowledge

	c *Case
}

// Claim claims a number of the site's calls, of the size that is usual there.
func (s *Site) Claim(calls uint64) Claim {
	return Claim{Site: s, Calls: calls, Bytes: calls * s.MeanSize()}
}

// MeanSize is what a call asks for on average.
func (s *Site) MeanSize() uint64 {
	if s.Counters.Calls == 0 {
		return 0
	}
	return s.Counters.Bytes / s.Counters.Calls
}
