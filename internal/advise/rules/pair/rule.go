// Package pair finds blocks that are always made in one go, and released
// in one go: they could be one block.
package pair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
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

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, group := range groups(c) {
		if dieTogether(c, group) && slices.ContainsFunc(group, func(s *rule.Site) bool { return !isLocal(s) }) {
			found = append(found, finding(group))
		}
	}
	return found
}

// groups joins the lines each of which follows another one of the group.
func groups(c *rule.Case) [][]*rule.Site {
	groupOf := make(map[*rule.Site]int)
	var all [][]*rule.Site
	for _, s := range c.Which(func(s *rule.Site) bool { return mayFollow(c, s) }) {
		first := c.Partner(s.Knowledge().BornAfter)
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

// mayFollow tells whether the site may be the second of a pair, by all that is
// known without Knowledge: there is another one with about as many calls.
func mayFollow(c *rule.Case, second *rule.Site) bool {
	if !second.Matters() || !mayJoin(second) {
		return false
	}
	return slices.ContainsFunc(c.Sites, func(first *rule.Site) bool {
		return first != second && aboutAsMany(first.Counters.Calls, second.Counters.Calls) && mayBeFirst(first)
	})
}

// aboutAsMany holds of the calls of all pairs: of the second's nearly all are
// runs, and most of these follow one of the first's. See bornTogether.
func aboutAsMany(first, second uint64) bool {
	return float64(min(first, second)) >= (leastShare-3*mostApart)*float64(max(first, second))
}

func mayBeFirst(s *rule.Site) bool {
	return s.Counters.Calls >= leastCalls && mayJoin(s) &&
		rule.Share(s.Temporary(), s.Counters.Calls) <= mostApart // the others were gone when the second came
}

func bornTogether(first, second *rule.Site) bool {
	after := second.Knowledge().BornAfter
	return mayBeFirst(first) && rule.Certain(after, leastShare) &&
		rule.Alike(first.Counters.Calls, after.Least, mostApart) &&
		rule.Alike(second.Knowledge().Runs, second.Counters.Calls, 2*mostApart) &&
		mayJoin(second) && rule.Kin(first, second) && rule.LiveAlike(first, second, 1)
}

// mayJoin tells whether the program decides where the block lies, and lets it stay
// there but for few that are enlarged. Where the counts of a std::shared_ptr lie it
// decides by std::make_shared alone.
func mayJoin(s *rule.Site) bool {
	if rule.Share(s.Counters.ByRealloc, s.Counters.Calls) > mostApart || s.Contained() {
		return false
	}
	counts := s.By(rule.ControlBlock)
	return counts == nil || 2*counts.Counters.Calls <= s.Counters.Calls
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
		} else if after := c.Partner(s.Knowledge().FreedAfter); after != nil && after != s && members[after] && rule.Certain(s.Knowledge().FreedAfter, leastShare) {
			following++
		}
	}
	return kept == len(group) || kept == 0 && following >= len(group)-1
}

// isLocal tells that the function that makes the blocks releases each before it
// makes the next: it has them in variables, and no object has them.
func isLocal(s *rule.Site) bool {
	owner, owned := s.Owner()
	return owned && owner.Function == s.Function && s.OneByOne()
}

func finding(group []*rule.Site) rule.Finding {
	owner := ownerOf(group)
	times := owner.Counters.Calls
	fixed, sum := true, uint64(0)
	names, places := []string{named(owner, group)}, rule.Places(owner.Frame, line(owner, group))
	for _, s := range group {
		times = min(times, s.Counters.Calls)
		fixed = fixed && s.MayBeObject()
		sum += s.Counters.SizeMax
		if s != owner {
			names, places = append(names, named(s, group)), append(places, asks(s, owner), s.Frame, line(s, group))
		}
	}
	var claims []rule.Claim
	var enlarged uint64
	for _, s := range group {
		if s != owner {
			claims = append(claims, s.Claim(times-min(times, s.Counters.ByRealloc)))
			enlarged += s.Counters.ByRealloc
		}
	}
	do := remedy(owner, fixed, sum)
	if enlarged > 0 {
		do += fmt.Sprintf("; keep the pointer for what a realloc enlarges, here %s of them", figure.Count(enlarged))
	}
	ends := "released together"
	if owner.Kept() {
		ends = "kept together"
	}
	return rule.Finding{
		Means:    rule.Avoid,
		Title:    fmt.Sprintf("%s times %s are made together and %s", figure.Count(times), strings.Join(names, " and "), ends),
		Remedy:   do,
		Evidence: evidence(group, owner),
		Places:   rule.Places(places...),
		Claims:   claims,
	}
}

// asks returns the line that asks a helper for the partner of the owner's
// blocks, where the helper allocates for others, too.
func asks(s, owner *rule.Site) (line profile.Frame) {
	if rule.Alike(s.Counters.Calls, owner.Counters.Calls, mostApart) {
		return line
	}
	for _, caller := range s.Callers() {
		if rule.Alike(caller.Counters.Calls, owner.Counters.Calls, mostApart) && rule.Kin(caller, owner) {
			return caller.Frame
		}
	}
	return line
}

func named(s *rule.Site, group []*rule.Site) string {
	at := line(s, group)
	return fmt.Sprintf("%s (%s)", rule.Name(&at), rule.Sizes(s))
}

// line is where the site is told from the others of its group: where one line gets
// several blocks, by helpers of its own for each, it is in the place of all of them,
// and instances of a template have one line. Then it is the innermost line that is on
// the way of none of the others, or the nearest of those who call.
func line(s *rule.Site, group []*rule.Site) profile.Frame {
	for _, f := range slices.Concat([]profile.Frame{s.Frame}, s.Way, s.Outer()) {
		named := func(other profile.Frame) bool { return rule.Name(&other) == rule.Name(&f) }
		if !slices.ContainsFunc(group, func(o *rule.Site) bool {
			return o != s && (slices.ContainsFunc(o.Way, named) || slices.ContainsFunc(o.Outer(), named))
		}) {
			return f
		}
	}
	return s.Frame
}

// ownerOf returns the one that the others could become part of: whose function
// calls those of the others, else the one that stays where it is, else the largest.
func ownerOf(group []*rule.Site) *rule.Site {
	callees := func(s *rule.Site) (n int) {
		for _, other := range group {
			if other != s && slices.ContainsFunc(other.Outer(), func(f profile.Frame) bool {
				return f.Function == s.Function && f.Module == s.Module && other.Function != s.Function
			}) {
				n++
			}
		}
		return n
	}
	return slices.MaxFunc(group, func(a, b *rule.Site) int {
		return cmp.Or(cmp.Compare(callees(a), callees(b)), cmp.Compare(b.Counters.ByRealloc, a.Counters.ByRealloc),
			cmp.Compare(a.MeanSize(), b.MeanSize()), cmp.Compare(b.Line, a.Line))
	})
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

// evidence tells who follows whom. Round a loop the first follows the last,
// which is told only where nothing else is.
func evidence(group []*rule.Site, owner *rule.Site) string {
	var parts []string
	ofOwner := ""
	for _, s := range group {
		after := s.Knowledge().BornAfter
		if !rule.Certain(after, leastShare) {
			continue
		}
		first := slices.IndexFunc(group, func(o *rule.Site) bool { return o.Site == after.Site })
		if first < 0 {
			continue
		}
		at, follows := line(s, group), line(group[first], group)
		text := fmt.Sprintf("%s of those of %s follow one of %s", figure.Percent(after.Least, after.OutOf), rule.Name(&at), rule.Name(&follows))
		if s == owner {
			ofOwner = text
		} else {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return ofOwner
	}
	return strings.Join(parts, ", ")
}
