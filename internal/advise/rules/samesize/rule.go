// Package samesize finds lines whose blocks come and go, all of one size.
package samesize

import (
	"fmt"

	"mallow/internal/advise/rule"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "same-size", Find: find}

const (
	// A block of a pool must serve so many times, or the pool only keeps memory.
	leastTurnover = 10
	// A pool takes as many steps as a good malloc: it must save many calls to be worth
	// its code.
	leastShare = 10 * rule.Worthwhile
	// What a list takes of malloc's time: it saves no way to memory that is not in
	// the caches. Of groff's nodes of characters 36 % was saved, of its iterators
	// nothing, of m4's chunks of 4,064 bytes 25 %, and of nasm's vectors, in a list
	// that does not touch them, 75 %.
	ofList = 0.5
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	many := func(s *rule.Site) bool {
		return s.OneSize() && rule.Share(s.Counters.Calls, c.Allocations) >= leastShare && !s.Contained()
	}
	for _, s := range c.Which(many) {
		n := &s.Counters
		if n.Calls < leastTurnover*s.AtOnce() {
			continue
		}
		remedy := fmt.Sprintf("keep the block that was released last, and take it again (%s; one lives at a time)", rule.Bytes(n.SizeMax))
		if !s.OneByOne() {
			remedy = pool(n.SizeMax)
		}
		if n.Foreign > 0 {
			remedy += "; other threads release some, so give each thread its own"
		}
		lives, saved, atMost := s.LivesAtOnce(leastTurnover)
		found = append(found, rule.Finding{
			Means:    rule.Pool,
			ForSpeed: true,
			Title:    rule.Blocks(n.Calls, s) + " come and go",
			Remedy:   remedy,
			Evidence: "all have the same size, and " + lives,
			Places:   rule.Places(s.Frame),
			Claims:   []rule.Claim{s.Claim(saved)},
			AtMost:   atMost,
			Takes:    ofList,
		})
	}
	return found
}

func pool(size uint64) string {
	return fmt.Sprintf("keep released blocks of %s in a list of your own, and take the next one from there while it has any", rule.Bytes(size))
}
