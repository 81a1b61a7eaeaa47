// Package containercopy finds containers that are copied, elements and all,
// and soon thrown away.
package containercopy

import "mallow/internal/advise/rule"

// Rule is the rule.
var Rule = rule.Rule{Name: "container-copy", Find: find}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.ContainerCopy) {
		if _, own := rule.CopyOf(s.Function); own {
			continue // object-copy tells who copies the object that holds it
		}
		if f, ok := s.CopiesThrownAway("copies of a container or pair take %s, and are soon thrown away",
			"take and pass it as a const reference, in loops too (const auto&); copy it only where it is changed, and move it where it is no longer needed",
			"its copy constructor or assignment"); ok {
			found = append(found, f)
		}
	}
	return found
}
