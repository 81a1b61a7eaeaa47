// Package rustclone finds values of Rust programs that are cloned and soon
// dropped.
package rustclone

import (
	"fmt"
	"strings"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rust-clone", Find: find}

const leastCalls = 100

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range append(c.By(rule.Clone), derived(c)...) {
		n := &s.Counters
		if isClone(s) || !s.DiesSoon() {
			continue
		}
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			Title:    fmt.Sprintf("%s allocations to clone what is soon dropped, %s on average", figure.Count(n.ShortLived), figure.Size(s.MeanSize())),
			Remedy:   "borrow it (&T, &str, &[T]); Cow<str> where it is changed only now and then, Rc or Arc where it is shared, clone_from where a buffer can be used again",
			Evidence: fmt.Sprintf("%s of %s were freed within 32 heap events", figure.Count(n.ShortLived), figure.Count(n.Calls)),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.ShortLived)},
		})
	}
	return found
}

// derived are the callers of the program's own implementations of Clone.
func derived(c *rule.Case) []*rule.Site {
	var callers []*rule.Site
	for _, s := range c.Sites {
		if !isClone(s) {
			continue
		}
		for _, caller := range s.Callers() {
			n := &caller.Counters
			if n.Calls >= leastCalls && rule.Share(n.Calls, c.Allocations) >= rule.Worthwhile {
				callers = append(callers, caller)
			}
		}
	}
	return callers
}

// isClone tells that the site is in an implementation of Clone, which does
// what it is there for.
func isClone(s *rule.Site) bool {
	return strings.HasSuffix(s.Function, " as core::clone::Clone>::clone")
}
