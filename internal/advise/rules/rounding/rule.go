// Package rounding finds blocks that are a little too long for the size that
// the malloc gives them.
package rounding

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rounding", Find: find}

const (
	// Of the block's memory so much must be lost: size classes are up to an
	// eighth apart, and nobody counts every byte.
	leastLost = 0.2
	// Smaller ones are all rounded to 16 bytes, by every malloc.
	leastSize = 128
	// In all so much of the peak.
	leastShare = rule.Worthwhile
	leastBytes = 64 << 10
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Sites {
		n := &s.Counters
		if !s.OneSize() || n.SizeMax < leastSize || n.Bytes == 0 || n.UsableBytes <= n.Bytes || n.PeakBytes <= 0 {
			continue
		}
		lost := rule.Share(n.UsableBytes-n.Bytes, n.UsableBytes)
		atPeak := uint64(float64(n.PeakBytes) * (float64(n.UsableBytes)/float64(n.Bytes) - 1))
		if lost < leastLost || atPeak < leastBytes || rule.Share(atPeak, c.PeakBytes) < leastShare {
			continue
		}
		usable := n.UsableBytes / n.Calls
		found = append(found, rule.Finding{
			Means:    rule.Avoid,
			Notable:  true,
			Title:    fmt.Sprintf("blocks of %s take %s: %s are lost at the peak", rule.Bytes(n.SizeMax), rule.Bytes(usable), figure.Size(atPeak)),
			Remedy:   fmt.Sprintf("make them smaller by the little that is too much (a header, a terminator), or use all of the %s", rule.Bytes(usable)),
			Evidence: fmt.Sprintf("%s of %s each with libmallow's size classes; other mallocs round, too, to other sizes", rule.Bytes(usable-n.SizeMax), rule.Bytes(usable)),
			Places:   rule.Places(s.Frame),
			Memory:   atPeak,
		})
	}
	return found
}
