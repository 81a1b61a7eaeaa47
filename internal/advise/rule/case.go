package rule

import (
	"time"

	"mallow/internal/analyze"
	"mallow/internal/profile"
)

// Case is a profile as rules see it. What is expensive is found out when a
// rule first asks, for all sites at once, and only once.
type Case struct {
	Profile *profile.Profile
	// Sites are those worth looking at, the most allocations first. Where one
	// is a helper that its callers use for different things, its callers stand
	// here in its place.
	Sites []*Site
	// Of program and libraries, or of all.
	Allocations, Bytes, PeakBytes uint64

	sites    map[*profile.Site]*Site
	passage  *profile.Passage
	partners *profile.Partners
	moments  *[]profile.Moment
	phases   *[]analyze.Phase
	events   float64 // of a thread, see eventsPerThread; 0 before that was asked
}

// Worthwhile is the share from which on something is worth a change.
const Worthwhile = 0.01

// tooFew is the share of all allocations below which nothing is looked at:
// four such together are not worth a change.
const tooFew = Worthwhile / 4

// NewCase prepares a profile; all tells whether libc's own allocations count.
func NewCase(p *profile.Profile, all bool) *Case {
	totals := p.Totals
	if !all {
		totals = p.WithoutLibc()
	}
	c := &Case{
		Profile: p, Allocations: totals.Allocations, Bytes: totals.Bytes, PeakBytes: totals.PeakBytes,
		sites: make(map[*profile.Site]*Site), passage: p.NewPassage(symbolsOf, symbolsOfFile),
	}
	var heavy []*profile.Site
	for _, s := range analyze.Rank(p, all, analyze.ByCalls) {
		if c.heavy(s) && s.Known() {
			heavy = append(heavy, s)
		}
	}
	parts := c.withoutHelpers(p.Whole(heavy))
	plain := make([]*profile.Site, len(parts))
	for i, part := range parts {
		plain[i] = part.Site
	}
	c.partners = p.NewPartners(plain)
	c.Sites = c.each(parts)
	for _, s := range c.Sites {
		c.sites[s.Site] = s
	}
	return c
}

// Which returns the sites of which something holds that costs nothing to find
// out, such as their counters, with Knowledge of all of them: it is found
// quicker at once than one by one.
func (c *Case) Which(holds func(*Site) bool) []*Site {
	var sites []*Site
	for _, s := range c.Sites {
		if holds(s) {
			sites = append(sites, s)
		}
	}
	c.Know(sites)
	return sites
}

// Know finds Knowledge of sites.
func (c *Case) Know(sites []*Site) {
	var unknown []*Site
	var plain []*profile.Site
	for _, s := range sites {
		if s.known == nil {
			s.known = new(profile.Knowledge) // so that one named twice is asked for once
			unknown, plain = append(unknown, s), append(plain, s.Site)
		}
	}
	for i, known := range c.Profile.KnowledgeAmong(plain, c.partners) {
		*unknown[i].known = known
	}
}

func (c *Case) heavy(s *profile.Site) bool {
	return Share(s.Counters.Calls, c.Allocations) >= tooFew || Share(s.Counters.Bytes, c.Bytes) >= Worthwhile
}

func (c *Case) each(parts []*profile.Part) []*Site {
	sites := make([]*Site, len(parts))
	for i, part := range parts {
		sites[i] = &Site{Part: part, c: c}
	}
	return sites
}

// Whole makes a site of one of the profile's.
func (c *Case) Whole(s *profile.Site) *Site {
	return c.each(c.Profile.Whole([]*profile.Site{s}))[0]
}

// AllFor returns the allocations of which those of a finding are a part.
func (c *Case) AllFor(f *Finding) uint64 {
	if f.Libc != "" {
		return c.Profile.Totals.Allocations
	}
	return c.Allocations
}

// Partner returns the site that most of some calls have in common; nil where
// it is not worth looking at.
func (c *Case) Partner(of *profile.Common) *Site {
	if of == nil {
		return nil
	}
	return c.sites[of.Site]
}

// Moments returns the course of the processes.
func (c *Case) Moments() []profile.Moment {
	if c.moments == nil {
		moments := c.Profile.Timeline(false)
		c.moments = &moments
	}
	return *c.moments
}

// Phases returns what analyze tells apart; nil where there is no steady state.
func (c *Case) Phases() []analyze.Phase {
	if c.phases == nil {
		phases := analyze.Phases(c.Moments())
		c.phases = &phases
	}
	return *c.phases
}

// Waves returns how many times the program let go of most of the blocks that
// it has at most; 1 at the least.
func (c *Case) Waves() uint64 {
	var most int64
	for _, m := range c.Moments() {
		most = max(most, m.LiveBlocks)
	}
	waves, high := uint64(0), false
	for _, m := range c.Moments() {
		switch {
		case m.LiveBlocks > most*2/3:
			high = true
		case m.LiveBlocks < most/3 && high:
			high = false
			waves++
		}
	}
	return max(1, waves)
}

// GoesOn tells whether the program would go on if nobody stopped it, as a
// server does: what such a program does not release grows for ever.
func (c *Case) GoesOn() bool {
	for _, rec := range c.Profile.Recordings {
		if rec.Meta != nil && rec.Meta.Joined {
			return true
		}
	}
	for _, process := range c.Profile.Processes {
		if process.Image.Running || process.Exit != nil && process.Exit.Signal != 0 {
			return true
		}
	}
	phases := c.Phases()
	return len(phases) > 1 && phases[0].Name == analyze.StartUp
}

// Steady returns from when to when the program was in its steady state.
func (c *Case) Steady() (from, to time.Duration, ok bool) {
	for _, phase := range c.Phases() {
		if phase.Name == analyze.Steady {
			return phase.From, phase.To, true
		}
	}
	return 0, 0, false
}
