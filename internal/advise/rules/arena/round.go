package arena

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

const (
	// A round is worth an arena if so many lines take part, and make this share
	// of all allocations.
	leastLines      = 4
	leastRoundShare = 0.2
	leastRounds     = 100
	// A line takes part if each round makes the same number of its blocks, up to
	// so many, give or take.
	mostPerRound = 8
	mostUneven   = 0.05
	// What lives at the peak must be few rounds' blocks.
	mostAtPeak = 4 * mostPerRound
)

// function is a function wherever it calls from.
type function struct{ name, module string }

func functionOf(f *profile.Frame) function { return function{f.Function, f.Module} }

// byRound finds what is made in each round of some work, in lockstep, and
// dropped before the next: small scopes, that no timeline can tell apart.
func byRound(c *rule.Case) (f rule.Finding, ok bool) {
	var candidates []*rule.Site
	for _, s := range c.Which(mayTakePartInRound) {
		if s.AtPeak() <= mostAtPeak && s.Knowledge().LongestRun <= mostPerRound {
			candidates = append(candidates, s)
		}
	}
	if len(candidates) < leastLines {
		return f, false
	}
	around, candidates := commonFunction(candidates)
	rounds, sites := lockstep(candidates)
	calls, bytes := sum(sites)
	if around == (profile.Frame{}) || len(sites) < leastLines || rounds < leastRounds || rule.Share(calls, c.Allocations) < leastRoundShare {
		return f, false
	}
	f = rule.Finding{
		Means:    rule.Pool,
		ForSpeed: true,
		Title: fmt.Sprintf("each of about %s rounds below %s makes some %.0f blocks in %s, and drops them",
			figure.Count(rounds), rule.Name(&around), math.Round(float64(calls)/float64(rounds)), figure.Counted(uint64(len(sites)), "line", "lines")),
		Remedy: fmt.Sprintf("an arena for one round, emptied at its end and used again (some %s each); fewer rounds that do more save the same", figure.Size(bytes/rounds)),
		Evidence: fmt.Sprintf("the lines allocate in lockstep, %s blocks in all, and hardly a block outlives its round; no line has more than %d at the peak",
			figure.Count(calls), mostAtPeak),
		Places: rule.Places(around),
	}
	for _, s := range sites {
		f.Places = rule.Places(append(f.Places, s.Frame)...)
		f.Claims = append(f.Claims, s.Claim(s.Counters.Calls))
	}
	return f, true
}

func mayTakePartInRound(s *rule.Site) bool {
	return s.Matters() && s.Counters.Foreign == 0 && rule.Share(s.Frees(), s.Counters.Calls) >= leastFreed && !s.Contained()
}

// commonFunction returns the nearest function that most of the sites'
// allocations come through, with the line if it is one for all of them, and the
// sites of which that is so.
func commonFunction(sites []*rule.Site) (nearest profile.Frame, through []*rule.Site) {
	type reach struct {
		frame        profile.Frame
		calls, depth uint64 // depth is weighed by calls
		sites        []*rule.Site
	}
	byFunction := make(map[function]*reach)
	var order []*reach
	for _, s := range sites {
		for depth, f := range s.Outer() {
			of := byFunction[functionOf(&f)]
			if of == nil {
				of = &reach{frame: f}
				byFunction[functionOf(&f)] = of
				order = append(order, of)
			}
			if of.frame.Line != f.Line {
				of.frame.Line = 0
			}
			of.calls += s.Counters.Calls
			of.depth += uint64(depth) * s.Counters.Calls
			of.sites = append(of.sites, s)
		}
	}
	if len(order) == 0 {
		return nearest, nil
	}
	most := slices.MaxFunc(order, func(a, b *reach) int { return cmp.Compare(a.calls, b.calls) }).calls
	order = slices.DeleteFunc(order, func(r *reach) bool { return rule.Share(r.calls, most) < 0.8 })
	best := slices.MinFunc(order, func(a, b *reach) int { return cmp.Compare(a.depth/max(1, a.calls), b.depth/max(1, b.calls)) })
	return best.frame, best.sites
}

// lockstep returns the number of rounds, and the sites that make the same
// number of blocks in each: the choice that has most allocations.
func lockstep(sites []*rule.Site) (rounds uint64, members []*rule.Site) {
	var most uint64
	for _, s := range sites {
		n := s.Counters.Calls
		var with []*rule.Site
		for _, other := range sites {
			each := float64(other.Counters.Calls) / float64(n)
			whole := math.Round(each)
			if whole >= 1 && whole <= mostPerRound && math.Abs(each-whole) <= mostUneven && livesWithin(other, n) {
				with = append(with, other)
			}
		}
		if calls, _ := sum(with); calls > most {
			rounds, members, most = n, with, calls
		}
	}
	return rounds, members
}

// livesWithin tells whether nearly all blocks are gone when the next round
// begins; a life is known to a factor of two.
func livesWithin(s *rule.Site, rounds uint64) bool {
	lives, ok := s.LivesUpTo(leastFreed)
	round := s.Between() * s.Counters.Calls / max(1, rounds)
	return ok && lives <= 2*round
}
