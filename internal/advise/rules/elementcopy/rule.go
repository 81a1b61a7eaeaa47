// Package elementcopy finds what is made, copied into a container and thrown
// away, instead of being moved there.
package elementcopy

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "element-copy", Find: find}

const (
	leastCalls = 100
	// The original and its copy are as many, and as large.
	alike = 0.01
	// So many originals are thrown away.
	leastFreed = 0.9
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Sites {
		copies := s.CopiesOfElements()
		if copies == nil || !copies.Matters() || copies.Counters.Calls < leastCalls {
			continue
		}
		original := originalOf(copies, s, c.Sites)
		if original == nil {
			continue
		}
		n := &copies.Counters
		found = append(found, rule.Finding{
			Named:  true,
			Means:  rule.Avoid,
			Title:  fmt.Sprintf("%s are copied into a container, and the originals thrown away", rule.Blocks(n.Calls, copies)),
			Remedy: "move what is no longer needed, push_back(std::move(x)); or make it in its place, by emplace_back()",
			Evidence: fmt.Sprintf("%s makes as many blocks of the same sizes, and %s of them were freed",
				rule.Name(&original.Frame), figure.Percent(original.Frees(), original.Counters.Calls)),
			Places: rule.Places(copies.Frame, original.Frame),
			Claims: []rule.Claim{copies.Claim(n.Calls)},
			Needs:  []rule.Claim{original.Claim(original.Counters.Calls)}, // they become the elements
		})
	}
	return found
}

// originalOf is the line, written by the same hand, that makes what is copied;
// nil where there is none.
func originalOf(copies, site *rule.Site, all []*rule.Site) *rule.Site {
	of := &copies.Counters
	for _, s := range all {
		n := &s.Counters
		if s != site && rule.Alike(n.Calls, of.Calls, alike) && rule.Alike(n.Bytes, of.Bytes, alike) &&
			rule.Share(s.Frees(), n.Calls) >= leastFreed && rule.Kin(s, copies) {
			return s
		}
	}
	return nil
}
