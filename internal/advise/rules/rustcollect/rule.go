// Package rustcollect finds collections of Rust programs that grow while they
// are collected.
package rustcollect

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rust-collect", Find: find}

// leastGrowths is how many reallocs a collection must take on the average.
const leastGrowths = 1

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.Collect) {
		grown := s.Of(recording.GroupRealloc).Calls
		made := s.Counters.Calls - grown
		if made == 0 || grown < leastGrowths*made {
			continue
		}
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			Title:    fmt.Sprintf("%s collections are enlarged %.1f times each while they are collected, up to %s", figure.Count(made), float64(grown)/float64(made), figure.Size(s.Counters.SizeMax)),
			Remedy:   "collect knows only the least length of what was filtered, split or flattened: Vec::with_capacity (String::with_capacity) for what comes at the most, then extend",
			Evidence: fmt.Sprintf("%s reallocs for %s collections", figure.Count(grown), figure.Count(made)),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(grown)},
		})
	}
	return found
}
