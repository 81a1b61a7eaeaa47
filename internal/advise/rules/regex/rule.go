// Package regex finds regular expressions that are compiled again and again.
package regex

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "regex-in-loop", Find: find}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.RegexCompile) {
		n := &s.Counters
		if !s.IsReleased() {
			continue // they are kept, as they should be
		}
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Reuse,
			Title:    fmt.Sprintf("%s allocations to compile regular expressions that are thrown away", figure.Count(n.Calls)),
			Remedy:   "compile the expression once: static const std::regex, or a member, outside of the loop",
			Evidence: fmt.Sprintf("%s calls went through the compiler of std::regex; %s of the blocks were freed again", figure.Count(n.Calls), figure.Percent(n.Releases, n.Calls)),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.Calls)},
		})
	}
	return found
}
