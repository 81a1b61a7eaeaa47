// Package rustformat finds strings that Rust programs format and soon drop.
package rustformat

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rust-format", Find: find}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.Format) {
		n := &s.Counters
		if !s.DiesSoon() {
			continue
		}
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			Title:    fmt.Sprintf("%s allocations by format! or to_string for strings that are soon dropped", figure.Count(n.Calls)),
			Remedy:   "write! into one String that is cleared each time, or straight to where the text goes",
			Evidence: fmt.Sprintf("%s of them, %s on average, were freed within 32 heap events", figure.Percent(n.ShortLived, n.Calls), figure.Size(s.MeanSize())),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.Calls)},
		})
	}
	return found
}
