// Package pair finds blocks that are always made in one go, and released
// in one go: they could be one block.
package pair

import (
	"fmt"
	"strings"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "pair", Find: find}

const (
	leastCalls = 100
	// So many of a line's blocks must follow one of the partner's. The votes
	// give this as a bound: there may be more.
	leastShare = 0.8
	// Partners are made as often as each other, but for those of an error path.
	mostApart = 0.05
)

func find(c *rule.Case) []rule.Finding { return append(among(c), among(c.ByCaller())...) }

func among(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, group := range groups(c) {
		if dieTogether(c, group) {
			found = append(found, finding(group))
		}
	}
	return found
}

// groups joins the lines each of which follows another one of the group.
func groups(c *rule.Case) [][]*rule.Site {
	groupOf := make(map[*rule.Site]int)
	var all [][]*rule.Site
	for _, s := range c.Sites {
		first := c.Partner(s.Known.BornAfter)
		if first == nil || first == s || !bornTogether(first, s) {
			continue
		}
		at, known := groupOf[first]
		if !known {
			at = len(all)
			all = append(all, []*rule.Site{first})
			groupOf[first] = at
		}
		if other, known := groupOf[s]; !known {
			all[at] = append(all[at], s)
			groupOf[s] = at
		} else if other != at {
			for _, member := range all[other] {
				groupOf[member] = at
			}
			all[at] = append(all[at], all[other]...)
			all[other] = nil
		}
	}
	return all
}

func bornTogether(first, second *rule.Site) bool {
	return second.Counters.Calls >= leastCalls && rule.Certain(second.Known.BornAfter, leastShare) &&
		rule.Alike(first.Counters.Calls, second.Counters.Calls, mostApart) &&
		rule.Alike(second.Known.Runs, second.Counters.Calls, 2*mostApart) &&
		second.Counters.ByRealloc == 0 && first.Counters.ByRealloc == 0 && rule.Kin(first, second) &&
		!first.AreBuffers() && !second.AreBuffers()
}

// dieTogether tells whether all but one of the group follow another one into
// death, or all stay.
func dieTogether(c *rule.Case, group []*rule.Site) bool {
	if len(group) < 2 {
		return false
	}
	members := make(map[*rule.Site]bool)
	for _, s := range group {
		members[s] = true
	}
	following, kept := 0, 0
	for _, s := range group {
		if s.Kept() {
			kept++
		} else if after := c.Partner(s.Known.FreedAfter); after != nil && after != s && members[after] && rule.Certain(s.Known.FreedAfter, leastShare) {
			following++
		}
	}
	return kept == len(group) || kept == 0 && following >= len(group)-1
}

func finding(group []*rule.Site) rule.Finding {
	owner := group[0]
	for _, s := range group {
		if s.MeanSize() > owner.MeanSize() {
			owner = s
		}
	}
	var claims []rule.Claim
	var names []string
	places := rule.Places(owner.Frame)
	fixed, sum := true, uint64(0)
	for _, s := range group {
		fixed = fixed && s.OneSize()
		sum += s.Counters.SizeMax
		names = append(names, rule.Name(&s.Frame))
		if s != owner {
			claims = append(claims, s.Claim(s.Counters.Calls))
			places = append(places, s.Frame)
		}
	}
	ends := "released together"
	if owner.Kept() {
		ends = "kept together"
	}
	return rule.Finding{
		Means:    rule.Avoid,
		Title:    fmt.Sprintf("%s times %s are made together and %s", figure.Count(owner.Counters.Calls), strings.Join(names, " and "), ends),
		Remedy:   remedy(owner, fixed, sum),
		Evidence: evidence(group),
		Places:   places,
		Claims:   claims,
	}
}

func remedy(owner *rule.Site, fixed bool, sum uint64) string {
	if fixed {
		text := fmt.Sprintf("one block of %s for all of them: members instead of pointers", rule.Bytes(sum))
		if owner.InCpp() {
			text += " (std::make_shared where a shared_ptr owns it)"
		}
		return text
	}
	return "one block for all of them: what has a fixed size first, and what varies behind it (a flexible array member)"
}

func evidence(group []*rule.Site) string {
	var parts []string
	for _, s := range group {
		if after := s.Known.BornAfter; rule.Certain(after, leastShare) {
			parts = append(parts, fmt.Sprintf("%s of those of %s follow one of %s",
				figure.Percent(after.Least, after.OutOf), rule.Name(&s.Frame), rule.Name(&after.Frame)))
		}
	}
	return strings.Join(parts, ", ")
}
