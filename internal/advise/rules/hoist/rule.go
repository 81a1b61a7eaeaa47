// Package hoist finds blocks that come one after the other from the same
// line, of which one would do.
package hoist

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
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
	// A block that is kept for the longest must not waste much on the others.
	mostSpread = 64 << 10
	// A local variable of so many bytes has room on any stack.
	onStack = 4096
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Sites {
		n := &s.Counters
		if !s.Matters() || n.Calls < leastCalls || n.SizeMax-n.SizeMin > mostSpread || n.Foreign > 0 ||
			rule.Share(s.Frees(), n.Calls) < leastShare || rule.Share(s.Temporary(), n.Calls) > mostTemporary || !s.OneByOne() {
			continue
		}
		if f, ok := finding(s); ok {
			found = append(found, f)
		}
	}
	return found
}

// finding is silent where nobody on the stack releases the block, but for
// blocks so large that keeping one pays all the same: the object is handed on,
// and whoever has it in the end releases it.
func finding(s *rule.Site) (f rule.Finding, ok bool) {
	n := &s.Counters
	owner, owned := s.Owner()
	if !owned && (s.Contained() || !s.OneSize() || n.SizeMax < onStack/4) {
		return f, false
	}
	lives, _ := s.LivesUpTo(leastShare)
	f = rule.Finding{
		Means: rule.Reuse,
		Title: rule.Blocks(n.Calls, s) + ", one after the other",
		Evidence: fmt.Sprintf("%s of them were gone within %s heap events of their thread, and %s lie between two",
			figure.Percent(s.Frees(), n.Calls), figure.Count(lives), figure.Count(s.Between())),
		Places: rule.Places(owner, s.Frame),
		Claims: []rule.Claim{s.Claim(n.Calls - min(n.Calls, max(1, s.Known.Threads)))},
	}
	switch {
	case s.Contained():
		f.Remedy = "declare the string, container or stream outside of the loop, and clear() it in each round: it keeps its memory"
	case owned && n.SizeMax <= onStack:
		f.Means = rule.Avoid
		f.Remedy = fmt.Sprintf("a variable of %s of the function that releases it, on the stack; else one block for all rounds of the loop", rule.Bytes(n.SizeMax))
	case owned:
		f.Remedy = fmt.Sprintf("allocate one block of %s ahead of the loop and use it again", rule.Bytes(n.SizeMax))
	default:
		f.Remedy = fmt.Sprintf("keep the block of %s where it is used next instead of releasing it, and use it again", rule.Bytes(n.SizeMax))
	}
	return f, true
}
