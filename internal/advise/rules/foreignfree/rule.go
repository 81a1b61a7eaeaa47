// Package foreignfree finds blocks that one thread allocates and another frees.
package foreignfree

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "foreign-free", Find: find}

const (
	// Blocks go from one thread to another by intention if so many do.
	leastShare = 0.8
	leastCalls = 100
	// A block must come back so many times to be worth sending back.
	leastTurnover = 10
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Which(goesAbroad) {
		n := &s.Counters
		atOnce := s.AtOnce()
		if n.Calls < leastTurnover*atOnce {
			continue
		}
		found = append(found, rule.Finding{
			Means: rule.Reuse,
			Title: rule.Blocks(n.Foreign, s) + " are freed by another thread than made them",
			Remedy: fmt.Sprintf("let the other thread send them back through a queue of its own and use them again (about %s are under way at a time); or pass many in one block",
				figure.Count(atOnce)),
			Evidence: fmt.Sprintf("%s of %s; a malloc must move each such block from one thread's cache to the other's",
				figure.Percent(n.Foreign, n.Releases), figure.Counted(n.Releases, "release", "releases")),
			Places: rule.Places(s.Frame),
			Claims: []rule.Claim{s.Claim(n.Calls - atOnce)},
		})
	}
	return found
}

func goesAbroad(s *rule.Site) bool {
	return s.Counters.Calls >= leastCalls && rule.Share(s.Counters.Foreign, s.Counters.Calls) >= leastShare
}
