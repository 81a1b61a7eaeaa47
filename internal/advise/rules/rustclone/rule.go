// Package rustclone finds values of Rust programs that are cloned and soon
// dropped.
package rustclone

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rust-clone", Find: find}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.Clone) {
		n := &s.Counters
		// What the program's own implementation of Clone clones is object-copy's.
		if _, own := rule.CopyOf(s.Function); own || !s.DiesSoon() {
			continue
		}
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			AtMost:   true,
			Title:    fmt.Sprintf("%s allocations to clone what is soon dropped, %s on average", figure.Count(n.ShortLived), figure.Size(s.MeanSize())),
			Remedy:   "borrow it (&T, &str, &[T]); Cow<str> where it is changed only now and then, Rc or Arc where it is shared, clone_from where a buffer can be used again",
			Evidence: fmt.Sprintf("%s of %s were freed within 32 heap events", figure.Count(n.ShortLived), figure.Count(n.Calls)),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.ShortLived)},
		})
	}
	return found
}
