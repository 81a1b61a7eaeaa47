// Package sharedptr finds std::shared_ptrs whose counts have a block of their
// own.
package sharedptr

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "shared-ptr", Find: find}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.ControlBlock) {
		n := &s.Counters
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			Title:    fmt.Sprintf("%s std::shared_ptrs made from a pointer: a block for the object, and one of %s for its counts", figure.Count(n.Calls), figure.Size(s.MeanSize())),
			Remedy:   "std::make_shared where the object is made, which puts both into one block",
			Evidence: fmt.Sprintf("%s blocks of %s were made by the constructor that takes a pointer", figure.Count(n.Calls), figure.Size(s.MeanSize())),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.Calls)},
		})
	}
	return found
}
