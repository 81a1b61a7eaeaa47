package rule

import (
	"slices"

	"mallow/internal/profile"
)

// Site is a line that allocates, or what one caller asks of it.
type Site struct {
	*profile.Part

	c         *Case
	known     *profile.Knowledge // nil before Knowledge was asked
	outer     []profile.Frame    // nil before Outer was asked
	contained *bool              // nil before Contained was asked
	symbols   *Symbol            // of all wrappers that its calls went through; nil before By was asked
}

// Knowledge returns what is usual of the site.
func (s *Site) Knowledge() *profile.Knowledge {
	if s.known == nil {
		s.c.Know([]*Site{s})
	}
	return s.known
}

// Claim claims a number of the site's calls, of the size that is usual there.
func (s *Site) Claim(calls uint64) Claim {
	return Claim{Site: s, Calls: calls, Bytes: calls * s.MeanSize()}
}

// MeanSize is what a call asks for on average.
func (s *Site) MeanSize() uint64 { return s.Counters.Bytes / max(1, s.Counters.Calls) }

// Callers returns what each caller asks of the site, the most frequent first,
// as far as it matters.
func (s *Site) Callers() []*Site {
	return s.c.Callers([]*Site{s})[0]
}

// AllCallers returns all of them, however few their calls are.
func (s *Site) AllCallers() []*Site {
	return s.c.each(s.c.Profile.Split([]*profile.Part{s.Part})[0])
}

// Callers does the same for several sites.
func (c *Case) Callers(sites []*Site) [][]*Site {
	parts := make([]*profile.Part, len(sites))
	for i, s := range sites {
		parts[i] = s.Part
	}
	all := make([][]*Site, len(sites))
	for i, callers := range c.Profile.Split(parts) {
		all[i] = c.each(slices.DeleteFunc(slices.Clone(callers), func(part *profile.Part) bool { return !c.matters(part) }))
	}
	return all
}

// IsFew tells that nothing is to be found out about so few allocations.
func (s *Site) IsFew() bool { return Share(s.Counters.Calls, s.c.Allocations) < tooFew }

// Matters tells whether the site makes so many allocations that to save them
// is worth a change.
func (s *Site) Matters() bool { return s.c.matters(s.Part) }

func (c *Case) matters(part *profile.Part) bool {
	return Share(part.Counters.Calls, c.Allocations) >= Worthwhile
}

// Where narrows the site down to where something holds of its calls: to the
// site itself if it holds of the whole, else to those of its callers, however
// far out, of which it does. It looks further where it holds of some of them.
func (s *Site) Where(holds, ofSome func(*profile.Part) bool) []*Site {
	if holds(s.Part) {
		return []*Site{s}
	}
	var found []*profile.Part
	level := []*profile.Part{s.Part}
	for depth := 0; len(level) > 0 && depth < farthest; depth++ {
		var mixed []*profile.Part
		for _, part := range level {
			switch {
			case !s.c.matters(part):
			case holds(part):
				found = append(found, part)
			case ofSome(part):
				mixed = append(mixed, part)
			}
		}
		level = slices.Concat(s.c.Profile.Split(mixed)...)
	}
	return s.c.each(found)
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
	by := s.Knowledge().FreedBy
	if !Certain(by, 0.5) {
		return s.Frame, false
	}
	releases := func(f profile.Frame) bool {
		return f.Function == by.Function && f.Module == by.Module && f.Function != ""
	}
	if releases(s.Frame) {
		return s.Frame, true
	}
	if at := slices.IndexFunc(s.Outer(), releases); at >= 0 {
		return s.Outer()[at], true
	}
	return s.Frame, false
}

// UserOfLibrary returns the line that calls the library that the site is in:
// who uses it can often change what the library cannot. It is the zero Frame
// for the program's own lines, and where there are several.
func (s *Site) UserOfLibrary() profile.Frame {
	if s.Origin == profile.OriginLibraries {
		for _, f := range s.Outer() {
			if f.Module != s.Module {
				return f
			}
		}
	}
	return profile.Frame{}
}
