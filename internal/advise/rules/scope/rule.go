// Package scope finds blocks that all go at once when a piece of work is done.
package scope

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
	// An arena is a change of many lines: it must save more than others.
	leastShare = 5 * rule.Worthwhile
	// Blocks that go earlier are not for an arena.
	mostShortLived = 0.1
	leastFreed     = 0.9
	// Releases in a row: all of a scope's, or those of a part of it.
	leastRow = 16
	// Where rows are mixed: so much of all was live at the peak.
	leastAtPeak = 0.5
	// Memory that an arena takes at a time.
	chunk = 64 << 10
)

func find(c *rule.Case) []rule.Finding {
	byEnd := make(map[profile.Frame][]*rule.Site)
	var ends []profile.Frame
	for _, s := range c.Sites {
		by := s.Known.FreedBy
		if mayStay(s) && (rule.Certain(by, leastFreed) || rule.Certain(by, 0.5) && inScopes(s)) {
			if byEnd[by.Frame] == nil {
				ends = append(ends, by.Frame)
			}
			byEnd[by.Frame] = append(byEnd[by.Frame], s)
		}
	}
	var found []rule.Finding
	for _, end := range ends {
		group := together(c, byEnd[end])
		if calls := sum(group).calls; calls >= leastCalls && rule.Share(calls, c.Allocations) >= leastShare {
			found = append(found, finding(end, group))
		}
	}
	return found
}

// mayStay tells whether blocks live longer than a few calls, and go for good.
func mayStay(s *rule.Site) bool {
	n := &s.Counters
	return rule.Share(s.Frees(), n.Calls) >= leastFreed && rule.Share(n.ShortLived, n.Calls) <= mostShortLived && n.Foreign == 0
}

// together keeps those of the sites whose blocks go in long rows, alone or with
// others of the group.
func together(c *rule.Case, sites []*rule.Site) []*rule.Site {
	members := make(map[*rule.Site]bool)
	for _, s := range sites {
		members[s] = true
	}
	var group []*rule.Site
	for _, s := range sites {
		n := &s.Counters
		rows := rule.Share(s.Known.DeathRuns, n.Releases)*leastRow <= 1
		mixed := members[c.Partner(s.Known.FreedAfter)] && rule.Certain(s.Known.FreedAfter, 0.5) &&
			rule.Share(uint64(max(0, n.PeakBytes)), n.Bytes) >= leastAtPeak
		if rows || mixed || inScopes(s) {
			group = append(group, s)
		}
	}
	return group
}

// inScopes tells whether blocks gather until all go, again and again: then
// they all live about as long, and on average half as many are live as at
// last. In a queue they live as long, too, but are always as many.
func inScopes(s *rule.Site) bool {
	const (
		leastAlike = 0.9
		leastLife  = 8 // 256 events
		mostFilled = 0.7
	)
	lives := s.Known.Lifetimes
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

type total struct{ calls, bytes uint64 }

func sum(group []*rule.Site) (t total) {
	for _, s := range group {
		t.calls += s.Counters.Calls
		t.bytes += s.Counters.Bytes
	}
	return t
}

func finding(end profile.Frame, group []*rule.Site) rule.Finding {
	all := sum(group)
	f := rule.Finding{
		Means:  rule.Pool,
		Title:  fmt.Sprintf("%s (%s) are released in long rows by %s", figure.Counted(all.calls, "block", "blocks"), figure.Size(all.bytes), rule.Name(&end)),
		Remedy: fmt.Sprintf("an arena: cut the blocks from memory of %d kB at a time, and give all of it back at once in place of the row of frees", chunk>>10),
		Evidence: fmt.Sprintf("%s, of whose blocks hardly one is released before the others, and nearly all by that line",
			figure.Counted(uint64(len(group)), "line allocates them", "lines allocate them")),
	}
	if group[0].InCpp() {
		f.Remedy = fmt.Sprintf("a std::pmr::monotonic_buffer_resource of %d kB at a time for the containers and objects, which gives all back at once", chunk>>10)
	}
	f.Places = rule.Places(group[0].Frame)
	for _, s := range group {
		f.Places = append(f.Places, rule.Places(s.Frame)...)
		chunks := s.Counters.Bytes/chunk + 1
		f.Claims = append(f.Claims, s.Claim(s.Counters.Calls-min(s.Counters.Calls, chunks)))
	}
	f.Places = append(rule.Places(f.Places...), rule.Places(end)...)
	return f
}
