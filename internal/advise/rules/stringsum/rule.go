// Package stringsum finds strings that + puts together piece by piece, where
// each result is too short for the next piece.
package stringsum

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "string-sum", Find: find}

const leastCalls = 100

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Sites {
		f, ok := outgrown(s.By(rule.StringSum))
		if !ok {
			// In a = b + c + d the first result alone is outgrown.
			f, ok = outgrown(s.ByWithout(rule.StringSum, rule.StringGrowth))
		}
		if ok {
			found = append(found, f)
		}
	}
	return found
}

// outgrown tells that most results of + were released for a larger block, when
// something was added to them.
func outgrown(s *rule.Site) (f rule.Finding, ok bool) {
	if s == nil || !s.Matters() || s.Counters.Calls < leastCalls {
		return f, false
	}
	by, blocks := s.Releaser(rule.StringGrowth)
	if by != rule.ByGrowth {
		return f, false
	}
	n := &s.Counters
	return rule.Finding{
		Named:    true,
		Means:    rule.Avoid,
		Title:    fmt.Sprintf("%s of %s for what + puts together are outgrown by the next piece", figure.Count(min(blocks, n.Calls)), rule.Blocks(n.Calls, s)),
		Remedy:   "append the pieces to one string by += or append(), after a reserve() for all of them",
		Evidence: fmt.Sprintf("the growth of a string released %s of them", figure.Percent(min(blocks, n.Calls), n.Calls)),
		Places:   rule.Places(s.Frame),
		Claims:   []rule.Claim{s.Claim(min(blocks, n.Calls))},
	}, true
}
