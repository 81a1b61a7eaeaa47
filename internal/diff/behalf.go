package diff

import "mallow/internal/profile"

// behalf is what libc allocates on its own account, in both profiles: for the
// functions that call one of its own, and for all of them together.
type behalf struct {
	places *places
	of     map[calledLibc]*Site
}

// calledLibc is a function of libc and one that calls it, "" for all that do.
type calledLibc struct{ function, caller string }

func (p *places) onBehalf() *behalf {
	b := &behalf{places: p, of: make(map[calledLibc]*Site)}
	b.count(p.diff.Old.OnBehalf(), func(s *Site) **Place { return &s.Old })
	b.count(p.diff.New.OnBehalf(), func(s *Site) **Place { return &s.New })
	for _, s := range b.of {
		p.diff.judge(s)
	}
	return b
}

func (b *behalf) count(all []profile.Behalf, side func(*Site) **Place) {
	for i := range all {
		made := &all[i]
		if !made.Known() {
			continue
		}
		for _, key := range []calledLibc{{made.Function, b.places.nameOf(&made.Frame)}, {made.Function, ""}} {
			s := b.of[key]
			if s == nil {
				s = new(Site)
				b.of[key] = s
			}
			place := side(s)
			if *place == nil {
				*place = &Place{Frame: made.Frame, Origin: profile.OriginLibc}
			}
			(*place).Counters.Add(&made.Counters)
		}
	}
}

// calledBy is what libc allocates while a function of its own is called from a place;
// nil for nothing. What others have it allocate instead is not less.
func (b *behalf) calledBy(caller *profile.Frame, function string) *Site {
	s, all := b.of[calledLibc{function, b.places.nameOf(caller)}], b.of[calledLibc{function, ""}]
	if s != nil {
		s.Excess = max(s.Excess, min(0, all.Excess))
	}
	return s
}
