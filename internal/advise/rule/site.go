package rule

import "mallow/internal/profile"

// Site is a line that allocates, or what one caller asks of it.
type Site struct {
	*profile.Part
	Known profile.Knowledge

	c         *Case
	outer     []profile.Frame // nil before Outer was asked
	contained *bool           // nil before Contained was asked
	symbols   *Symbol         // of all functions that its calls went through; nil before By was asked
}

// Claim claims a number of the site's calls, of the size that is usual there.
func (s *Site) Claim(calls uint64) Claim {
	return Claim{Site: s, Calls: calls, Bytes: calls * s.MeanSize()}
}

// MeanSize is what a call asks for on average.
func (s *Site) MeanSize() uint64 { return s.Counters.Bytes / max(1, s.Counters.Calls) }

// Callers returns what each caller asks of the site, the most frequent first.
func (s *Site) Callers() []*Site {
	return s.c.know(s.c.Profile.Split([]*profile.Part{s.Part})[0])
}

// Where narrows the site down to where something holds of its calls: to the
// site itself if it holds of the whole, else to those of its callers, however
// far out, of which it does. What is not worth looking at is left out.
func (s *Site) Where(holds func(*Site) bool, partly func(*Site) bool) []*Site {
	var found []*Site
	level := []*Site{s}
	for depth := 0; len(level) > 0 && depth < farthest; depth++ {
		var mixed []*Site
		for _, part := range level {
			switch {
			case !s.c.heavy(part.Site):
			case holds(part):
				found = append(found, part)
			case partly(part):
				mixed = append(mixed, part)
			}
		}
		level = level[:0:0]
		for _, part := range mixed {
			level = append(level, part.Callers()...)
		}
	}
	return found
}

// Outer returns the functions that nearly all of the site's calls come
// through, the nearest first.
func (s *Site) Outer() []profile.Frame {
	if s.outer == nil {
		s.outer = append([]profile.Frame{}, s.c.Profile.Outer(s.Part, dominant)...)
	}
	return s.outer
}

// Owner returns the line in the function that has the blocks for as long as
// they live: that which releases them, if it is the site's own or one that
// all calls come through. ok is false where it is another one: then the blocks
// are passed on.
func (s *Site) Owner() (owner profile.Frame, ok bool) {
	by := s.Known.FreedBy
	if !Certain(by, 0.5) {
		return s.Frame, false
	}
	for _, f := range append([]profile.Frame{s.Frame}, s.Outer()...) {
		if f.Function == by.Function && f.Module == by.Module && f.Function != "" {
			return f, true
		}
	}
	return s.Frame, false
}

// Through returns the site's calls that went through a wrapper, such as a
// container's, whose function matches; nil where there are none.
func (s *Site) Through(match func(function string) bool) *Site {
	part := s.c.Profile.Through(s.Part, match)
	if part == nil {
		return nil
	}
	return s.c.know([]*profile.Part{part})[0]
}
