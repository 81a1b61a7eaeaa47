// Package containercopy finds containers that are copied, elements and all,
// and soon thrown away.
package containercopy

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "container-copy", Find: find}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.ContainerCopy) {
		if _, own := rule.CopyOf(s.Function); own {
			continue // object-copy tells who copies the object that holds it
		}
		n := &s.Counters
		gone := s.ThrownAway()
		if rule.Share(gone, n.Calls) < rule.LeastThrownAway {
			continue
		}
		found = append(found, rule.Finding{
			Named:  true,
			Means:  rule.Avoid,
			AtMost: true,
			Title:  fmt.Sprintf("copies of a container or pair take %s, and are soon thrown away", rule.Blocks(n.Calls, s)),
			Remedy: "take and pass it as a const reference, in loops too (const auto&); copy it only where it is changed, and move it where it is no longer needed",
			Evidence: fmt.Sprintf("its copy constructor or assignment asked for them, and %s were gone within %s heap events of their thread",
				figure.Percent(gone, n.Calls), figure.Count(rule.CopyLife)),
			Places: []profile.Frame{s.Frame},
			Claims: []rule.Claim{s.Claim(gone)},
		})
	}
	return found
}
