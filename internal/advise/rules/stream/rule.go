// Package stream finds text that is formatted or read by string streams that
// are made anew each time.
package stream

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "string-stream", Find: find}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.Stream) {
		n := &s.Counters
		if !s.DiesSoon() {
			continue
		}
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			Title:    fmt.Sprintf("%s allocations by string streams that live for a moment", rule.SoonGone(s)),
			Remedy:   "std::to_chars, std::from_chars or snprintf on an array of chars; or one stream for all, set back by str(\"\")",
			Evidence: fmt.Sprintf("%s calls went through a std::stringstream or its buffer; %s were freed within 32 heap events", figure.Count(n.Calls), figure.Percent(n.ShortLived, n.Calls)),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.ShortLived)},
		})
	}
	return found
}
