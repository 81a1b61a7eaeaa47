// Package temporary finds blocks that are released before the thread
// allocates anything else, again and again.
package temporary

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "temporary", Find: find}

const (
	// A function whose every second block outlives the next allocation does
	// something else with them.
	leastShare = 0.8
	// Fewer are no loop.
	leastCalls = 100
	// Blocks up to this size have room on any stack.
	onStack = 4096
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Sites {
		n := &s.Counters
		if n.Temporary < leastCalls || rule.Share(n.Temporary, n.Calls) < leastShare {
			continue
		}
		found = append(found, rule.Finding{
			Means:    rule.Avoid,
			Title:    fmt.Sprintf("%s blocks of %s live until the next allocation at the longest", rule.Count(n.Temporary), sizes(n.SizeMin, n.SizeMax)),
			Remedy:   remedy(n.SizeMax),
			Evidence: fmt.Sprintf("%s of %s were freed with nothing allocated in between", rule.Count(n.Temporary), rule.Counted(n.Calls, "call", "calls")),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.Temporary)},
		})
	}
	return found
}

func sizes(least, most uint64) string {
	if least == most {
		return rule.Exactly(most)
	}
	return fmt.Sprintf("%d to %s", least, rule.Exactly(most))
}

func remedy(most uint64) string {
	if most <= onStack {
		return fmt.Sprintf("a fixed array of %s on the stack, and malloc only for what is longer", rule.Exactly(most))
	}
	return "allocate once, outside of the loop, and use the same block again"
}
