// Package rustbox finds many small values of Rust programs that have a Box
// each.
package rustbox

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rust-box", Find: find}

const (
	leastCalls = 1000
	// What is greater costs more to move than to box.
	small = 64
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.Box) {
		n := &s.Counters
		if n.Calls < leastCalls || s.MeanSize() > small {
			continue
		}
		found = append(found, rule.Finding{
			Means:    rule.Pool,
			OnlyTime: true,
			Title:    fmt.Sprintf("%s boxes of %s on average", figure.Count(n.Calls), figure.Size(s.MeanSize())),
			Remedy:   "keep the values themselves in a Vec: an enum instead of Box<dyn Trait>, indices instead of Box for what links to each other; or an arena",
			Evidence: fmt.Sprintf("%s calls of Box::new, none for more than %s", figure.Count(n.Calls), figure.Size(n.SizeMax)),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.Calls)},
		})
	}
	return found
}
