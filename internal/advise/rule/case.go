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
	// Sites are those worth looking at, by allocations, the most first.
	Sites []*Site
	// Of program and libraries, or of all.
	Allocations, Bytes, PeakBytes uint64

	sites  map[profile.Frame]*Site
	phases *[]analyze.Phase
}

// tooFew is the share of all allocations below which no site is looked at:
// twenty such together would not be worth a per cent.
const tooFew = 0.0005

// NewCase prepares a profile; all tells whether libc's own allocations count.
func NewCase(p *profile.Profile, all bool) *Case {
	totals := p.Totals
	if !all {
		totals = p.WithoutLibc()
	}
	c := &Case{
		Profile: p, Allocations: totals.Allocations, Bytes: totals.Bytes, PeakBytes: totals.PeakBytes,
		sites: make(map[profile.Frame]*Site),
	}
	least := uint64(tooFew * float64(c.Allocations))
	for _, of := range analyze.Rank(p, all, analyze.ByCalls) {
		heavy := of.Counters.Calls >= least || Share(of.Counters.Bytes, c.Bytes) >= Worthwhile
		if heavy && of.Known() {
			site := &Site{Site: of, c: c}
			c.Sites = append(c.Sites, site)
			c.sites[of.Frame] = site
		}
	}
	c.know(c.Sites)
	return c
}

// Worthwhile is the share from which on something is worth a change.
const Worthwhile = 0.01

func (c *Case) know(sites []*Site) {
	plain := make([]*profile.Site, len(sites))
	for i, s := range sites {
		plain[i] = s.Site
	}
	for i, known := range c.Profile.Knowledge(plain) {
		sites[i].Known = known
	}
}

// At returns the site of a frame; nil for one that is not worth looking at.
func (c *Case) At(f profile.Frame) *Site { return c.sites[f] }

// Phases returns what analyze tells apart; nil where there is no steady state.
func (c *Case) Phases() []analyze.Phase {
	if c.phases == nil {
		phases := analyze.Phases(c.Profile.Timeline(false))
		c.phases = &phases
	}
	return *c.phases
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
