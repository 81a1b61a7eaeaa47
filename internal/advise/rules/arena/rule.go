// Package arena finds blocks that all go at once when a piece of work is done.
package arena

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "arena", Find: find}

const (
	leastCalls = 10_000
	// An arena is a change of many lines: it must save more than others do.
	leastShare = 5 * rule.Worthwhile
	// Blocks that go earlier stay in an arena until all go: of more of them it
	// would be no gain.
	mostShortLived = 0.2
	leastFreed     = 0.9
	// Releases in a row, that of a whole scope or of a part of it.
	leastRow = 16
	// A line with fewer blocks is no part of the group.
	leastPart = 100
	// What lives at the peak, times how often the program let go of most of
	// what it had, must come to all blocks, give or take. Where it did so once
	// there is nothing to give: what does not live then was dropped before.
	mostOff, mostOffOnce = 0.5, 0.3
	// Memory that an arena takes at a time.
	chunk = 64 << 10
)

func find(c *rule.Case) []rule.Finding {
	byModule := make(map[string][]*rule.Site)
	var modules []string
	for _, s := range c.Which(mayTakePart) {
		if inRows(s) || inWaves(c, s) || gather(s) {
			if byModule[s.Module] == nil {
				modules = append(modules, s.Module)
			}
			byModule[s.Module] = append(byModule[s.Module], s)
		}
	}
	var found []rule.Finding
	for _, module := range modules {
		group := byModule[module]
		if calls, _ := sum(group); calls >= leastCalls && rule.Share(calls, c.Allocations) >= leastShare {
			found = append(found, finding(c, group))
		}
	}
	if f, ok := byRound(c); ok {
		found = append(found, f)
	}
	return found
}

func mayTakePart(s *rule.Site) bool {
	return s.Counters.Calls >= leastPart && staysForAWhile(s) && !s.Contained()
}

// staysForAWhile tells that blocks live longer than a few calls, and go for
// good, in the thread that made them.
func staysForAWhile(s *rule.Site) bool {
	n := &s.Counters
	return rule.Share(s.Frees(), n.Calls) >= leastFreed && rule.Share(n.ShortLived, n.Calls) <= mostShortLived && n.Foreign == 0
}

func inRows(s *rule.Site) bool { return leastRow*s.Knowledge().DeathRuns <= s.Counters.Releases }

func inWaves(c *rule.Case, s *rule.Site) bool {
	waves, off := c.Waves(), mostOff
	if waves == 1 {
		off = mostOffOnce
	}
	return rule.Alike(s.AtPeak()*waves, s.Counters.Calls, off)
}

// gather tells that blocks gather until all go, again and again: then they all
// live about as long, and on average half as many are live as at last. In a
// queue they live as long, too, but are always as many.
func gather(s *rule.Site) bool {
	const (
		leastAlike = 0.9
		leastLife  = 8 // 256 events
		mostFilled = 0.7
	)
	lives := s.Knowledge().Lifetimes
	var died, alike uint64
	for i, n := range lives {
		died += n
		if i > leastLife {
			alike = max(alike, lives[i-1]+n)
		}
	}
	last := s.AtPeak()
	return rule.Share(alike, died) >= leastAlike && last >= leastRow && s.Average() <= mostFilled*float64(last)
}

func sum(group []*rule.Site) (calls, bytes uint64) {
	for _, s := range group {
		calls += s.Counters.Calls
		bytes += s.Counters.Bytes
	}
	return calls, bytes
}

func finding(c *rule.Case, group []*rule.Site) rule.Finding {
	calls, bytes := sum(group)
	f := rule.Finding{
		Means: rule.Pool,
		Title: fmt.Sprintf("%s (%s) of %s live until a piece of work is done, and go together",
			figure.Counted(calls, "block", "blocks"), figure.Size(bytes), figure.Counted(uint64(len(group)), "line", "lines")),
		Remedy: fmt.Sprintf("an arena: cut the blocks from memory of %d kB at a time, and give all of it back at once in place of the single frees", chunk>>10),
	}
	switch {
	case group[0].InCpp():
		f.Remedy = fmt.Sprintf("an arena for the objects and containers of one piece of work, such as std::pmr::monotonic_buffer_resource, %d kB at a time: no single release, all goes at once", chunk>>10)
	case group[0].InRust():
		f.Remedy = fmt.Sprintf("an arena for the values of one piece of work, such as that of the crate bumpalo, %d kB at a time: no single release, all goes at once", chunk>>10)
	}
	first := group[0]
	if waves := c.Waves(); inWaves(c, first) && waves > 1 {
		f.Evidence = fmt.Sprintf("the program let go of most of what it had %s times", figure.Count(waves))
	} else if !inRows(first) {
		f.Evidence = fmt.Sprintf("%s live on average, and %s at the peak", figure.Count(uint64(first.Average())), figure.Count(first.AtPeak()))
	} else {
		f.Evidence = fmt.Sprintf("released in rows of %s on average", figure.Count(first.Counters.Releases/max(1, first.Knowledge().DeathRuns)))
	}
	var places []profile.Frame
	var shortLived uint64
	for _, s := range group {
		places = append(places, s.Frame)
		shortLived += s.Counters.ShortLived
		chunks := s.Counters.Bytes/chunk + 1
		f.Claims = append(f.Claims, s.Claim(s.Counters.Calls-min(s.Counters.Calls, chunks)))
	}
	f.Evidence += fmt.Sprintf("; %s of the blocks outlive the next 32 heap events", figure.Percent(calls-shortLived, calls))
	f.Places = rule.Places(places...)
	return f
}
