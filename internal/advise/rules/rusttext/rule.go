// Package rusttext finds short texts of Rust programs that stay, each in a
// block of its own.
package rusttext

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rust-text", Find: find}

const (
	// What a text type as large as String, three words, keeps in itself.
	inline = 24
	// Fewer of all allocations are not many.
	leastShare = 0.05
	leastCalls = 1000
	// What lives shorter may be borrowed.
	leastLife = 512
	leastStay = 0.8
	// Of the texts so many must be short.
	leastFitting = 0.5
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.By(rule.Text) {
		n := &s.Counters
		if n.Calls < leastCalls || rule.Share(n.Calls, c.Allocations) < leastShare || n.ByRealloc > 0 {
			continue
		}
		fitting := s.UpTo(inline)
		if fitting < leastFitting || s.Outlive(leastLife) < leastStay {
			continue
		}
		short := uint64(fitting * float64(n.Calls))
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			ForSpeed: true,
			Title:    fmt.Sprintf("%s texts of %s on average that stay, a block for each", figure.Count(n.Calls), figure.Size(s.MeanSize())),
			Remedy: fmt.Sprintf("a text type that keeps up to %d bytes in itself (those of the crates compact_str and smol_str), or a slice of the text that they are part of (&str, Cow<str>)",
				inline),
			Evidence: fmt.Sprintf("%s have no more than %d bytes, and %s outlive the next %d heap events of their thread",
				rule.AtLeast(fitting), inline, rule.AtLeast(s.Outlive(leastLife)), leastLife),
			Places: rule.Places(s.Frame),
			Claims: []rule.Claim{s.Claim(short)},
		})
	}
	return found
}
