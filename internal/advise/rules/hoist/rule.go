// Package hoist finds blocks that come one after the other from the same
// line, of which one would do.
package hoist

import (
	"fmt"
	"slices"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "hoist", Find: find}

const (
	// Blocks that stay, or change hands, cannot be used again at once.
	leastShare = 0.9
	// Those are for the rule of temporary blocks.
	mostTemporary = 0.8
	// Fewer are no loop.
	leastCalls = 100
	// Callers with fewer of a helper's blocks are told what is to be done about all.
	leastOfHelper = 0.5
	// A block that is kept for the longest must not waste much on the others.
	mostSpread = 64 << 10
	// From this size on a block is worth keeping whoever has it.
	large = 1024
	// A local variable of so many bytes has room on any stack.
	onStack = 4096
)

func find(c *rule.Case) []rule.Finding {
	byOwner := make(map[profile.Frame][]*rule.Site)
	var owners []profile.Frame
	var found []rule.Finding
	for _, s := range oneByOne(c) {
		if s.OfElements() || s.Contained() && !s.KeepsMemory() {
			continue
		}
		owner, owned := s.Owner()
		switch {
		case !owned || outlivesCall(s, owner):
			// The object is handed on, and whoever has it in the end releases it: to
			// keep one pays where it is large.
			if s.OneSize() && s.Counters.SizeMax >= large && !s.Contained() {
				found = append(found, one(s, s.Frame, false))
			}
		case owner.Function == s.Function || s.Contained() || s.IsElement():
			found = append(found, one(s, owner, true))
		default:
			owner.Line = 0
			if byOwner[owner] == nil {
				owners = append(owners, owner)
			}
			byOwner[owner] = append(byOwner[owner], s)
		}
	}
	for _, owner := range owners {
		sites := byOwner[owner]
		first, _ := sites[0].Owner()
		if len(sites) == 1 {
			found = append(found, one(sites[0], first, true))
		} else {
			found = append(found, several(sites, first))
		}
	}
	return found
}

// outlivesCall tells that the function that makes the blocks, their owner as far as
// is known, releases most of them, and others the rest: a block that it releases may
// be that of an earlier call, which the new one replaces, and is no variable of it.
func outlivesCall(s *rule.Site, owner profile.Frame) bool {
	const leastByOthers = 0.1
	by := s.Knowledge().FreedBy
	return owner.Function == s.Function && !s.Contained() && rule.Share(by.Most, by.OutOf) < 1-leastByOthers
}

// oneByOne returns the sites of which each block is gone when the next is asked for;
// where that is not so of a site, those of its callers of which it is, if they
// release the blocks and make most of them.
func oneByOne(c *rule.Case) (found []*rule.Site) {
	for _, s := range c.Which(comesAndGoes) {
		if s.OneByOne() {
			found = append(found, s)
			continue
		}
		callers := slices.DeleteFunc(s.Callers(), func(caller *rule.Site) bool { return !comesAndGoes(caller) })
		c.Know(callers)
		callers = slices.DeleteFunc(callers, func(caller *rule.Site) bool {
			_, owned := caller.Owner()
			return !owned || !caller.OneByOne()
		})
		var calls uint64
		for _, caller := range callers {
			calls += caller.Counters.Calls
		}
		if rule.Share(calls, s.Counters.Calls) >= leastOfHelper {
			found = append(found, callers...)
		}
	}
	return found
}

// comesAndGoes tells whether one block would do for all calls, if they come
// one by one.
func comesAndGoes(s *rule.Site) bool {
	n := &s.Counters
	return s.Matters() && n.Calls >= leastCalls && n.SizeMax-n.SizeMin <= mostSpread && n.Foreign == 0 &&
		rule.Share(s.Frees(), n.Calls) >= leastShare && rule.Share(s.Temporary(), n.Calls) <= mostTemporary
}

func claim(s *rule.Site) rule.Claim {
	calls, stay := s.Counters.Calls, max(1, s.Knowledge().Threads)
	if s.Contained() {
		calls, stay = s.Clearable().Counters.Calls, s.BlocksOfOneKept()
	}
	return s.Claim(calls - min(calls, stay))
}

func one(s *rule.Site, owner profile.Frame, owned bool) rule.Finding {
	n := &s.Counters
	lives, _ := s.LivesUpTo(leastShare)
	f := rule.Finding{
		Means: rule.Reuse,
		Title: rule.Blocks(n.Calls, s) + ", one after the other",
		Evidence: fmt.Sprintf("%s of them were gone within %s heap events of their thread, and %s lie between two on average",
			figure.Percent(s.Frees(), n.Calls), figure.Count(lives), figure.Count(s.Between())),
		Places: rule.Places(owner, s.Frame),
		Claims: []rule.Claim{claim(s)},
	}
	switch {
	case s.InObject():
		f.Remedy = rule.SetAnew
	case s.Contained():
		f.Remedy = s.KeptByLoop()
		f.AtMost = s.By(rule.Deque) != nil
	case owned && s.IsElement():
		f.Means = rule.Avoid
		f.Remedy = rule.HoldElements
	case owned && s.IsReplaced():
		f.Remedy = s.Replacement()
	case owned && n.SizeMax <= onStack && s.IsArray():
		f.Means = rule.Avoid
		f.Remedy = fmt.Sprintf("a fixed array of %s in the function that releases it, and new[] only for what is longer; else one array for all rounds of the loop", rule.Bytes(n.SizeMax))
	case owned && n.SizeMax <= onStack && s.IsObject():
		f.Means = rule.Avoid
		f.Remedy = fmt.Sprintf("a local variable of %s in the function that releases it, without new; else one object for all rounds of the loop", rule.Bytes(n.SizeMax))
	case owned && n.SizeMax <= onStack && s.InCpp():
		f.Means = rule.Avoid
		f.Remedy = fmt.Sprintf("an array of %s in the function that releases them, or a container that is kept, where they are buffers; local variables, without new, where they are objects", rule.Bytes(n.SizeMax))
	case owned && n.SizeMax <= onStack && !s.OneSize() && s.InRust():
		f.Means = rule.Avoid
		f.Remedy = "plain values of the function that releases them, without Box, or SmallVec and ArrayVec, which have room on the stack; else the same for all rounds of the loop"
	case owned && n.SizeMax <= onStack && !s.MayBeObject() && !s.InRust():
		f.Means = rule.Avoid
		f.Remedy = fmt.Sprintf("a fixed array of %s in the function that releases it, and %s only for what is longer; else one block for all rounds of the loop", rule.Bytes(n.SizeMax), s.Malloc())
	case owned && n.SizeMax <= onStack:
		f.Means = rule.Avoid
		f.Remedy = fmt.Sprintf("a variable of %s of the function that releases it, on the stack; else one block for all rounds of the loop", rule.Bytes(n.SizeMax))
	case owned:
		f.Remedy = fmt.Sprintf("allocate one block of %s ahead of the loop and use it again", rule.Bytes(n.SizeMax))
	default:
		f.Places = rule.Places(s.Frame, s.UserOfLibrary())
		f.Remedy = fmt.Sprintf("keep the block of %s where it is used next instead of releasing it, and use it again", rule.Bytes(n.SizeMax))
	}
	return f
}

// several are lines that make blocks for one function.
func several(sites []*rule.Site, owner profile.Frame) rule.Finding {
	f := rule.Finding{Means: rule.Reuse, Places: rule.Places(owner)}
	var calls, most uint64
	what := "objects"
	for _, s := range sites {
		calls += s.Counters.Calls
		most = max(most, s.Counters.SizeMax)
		if !s.IsObject() {
			what = "buffers"
		}
		f.Claims = append(f.Claims, claim(s))
		f.Places = rule.Places(append(f.Places, s.Frame)...)
	}
	f.Title = fmt.Sprintf("%s of %s, one after the other, for one function that releases them",
		figure.Counted(calls, "block", "blocks"), figure.Counted(uint64(len(sites)), "line", "lines"))
	f.Remedy = fmt.Sprintf("let it pass %s of its own to those who fill them (%s at the most), and keep them for all rounds of the loop", what, rule.Bytes(most))
	lives, _ := sites[0].LivesUpTo(leastShare)
	f.Evidence = fmt.Sprintf("it releases the blocks of all of them; most of those of the first are gone within %s heap events of their thread, and %s lie between two on average",
		figure.Count(lives), figure.Count(sites[0].Between()))
	return f
}
