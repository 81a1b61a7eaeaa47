// Package manysmall finds lines that make many small blocks which stay.
package manysmall

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "many-small", Find: find}

const (
	// A block up to this size is mostly the malloc's own overhead, and shares
	// its cache line with strangers.
	small = 64
	// Fewer of all allocations are not many.
	leastShare = 0.05
	leastCalls = 1000
	// What lives shorter is for other rules.
	leastLife = 512
	leastStay = 0.8
	chunk     = 4096
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	many := func(s *rule.Site) bool {
		n := &s.Counters
		return n.SizeMax <= small && n.SizeMax > 0 && n.Calls >= leastCalls && rule.Share(n.Calls, c.Allocations) >= leastShare &&
			n.ByRealloc == 0 && !s.Contained()
	}
	for _, s := range c.Which(many) {
		if s = s.Own(); s == nil || !many(s) {
			continue
		}
		n := &s.Counters
		if s.Outlive(leastLife) < leastStay || s.PilesUp() {
			continue
		}
		perChunk := chunk / n.SizeMax
		found = append(found, rule.Finding{
			Means:    rule.Pool,
			ForSpeed: true,
			Title:    rule.Blocks(n.Calls, s) + " from one line",
			Remedy: fmt.Sprintf("embed them in what they belong to (a member instead of a pointer, links in the elements themselves); else take them from chunks of %d bytes, %s at a time",
				chunk, figure.Count(perChunk)),
			Evidence: fmt.Sprintf("%s on average, and %s of them outlive the next %d heap events of their thread",
				rule.Bytes(s.MeanSize()), rule.AtLeast(s.Outlive(leastLife)), leastLife),
			Places: rule.Places(s.Frame),
			Claims: []rule.Claim{s.Claim(n.Calls - (n.Calls+perChunk-1)/perChunk)},
		})
	}
	return found
}
