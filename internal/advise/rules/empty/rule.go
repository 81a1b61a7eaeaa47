// Package empty finds blocks that hold nothing: empty strings, of which only
// the terminator is stored, and requests for no bytes at all.
package empty

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/recording"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "empty", Find: find}

const (
	leastCalls = 100
	// A line of whose blocks more than half are empty.
	leastShare = 0.5
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Which(hasEmpty) {
		size := s.Knowledge().Size
		if size == nil || size.Size > 1 || !rule.Certain(size, leastShare) {
			continue
		}
		empty := uint64(rule.Share(size.Most, size.OutOf) * float64(s.Counters.Calls))
		contents, remedy := told(s, size.Size)
		found = append(found, rule.Finding{
			Means:    rule.Avoid,
			Title:    fmt.Sprintf("%s of %s hold %s", figure.Count(empty), figure.Counted(s.Counters.Calls, "block", "blocks"), contents),
			Remedy:   remedy,
			Evidence: fmt.Sprintf("%s of the calls asked for %s", rule.AtLeast(rule.Share(size.Least, size.OutOf)), rule.Bytes(size.Size)),
			Places:   rule.Places(s.Frame),
			Claims:   []rule.Claim{{Site: s, Calls: empty, Bytes: empty * size.Size}},
		})
	}
	return found
}

// hasEmpty tells whether there may be empty ones. Single objects of C++ and of
// Rust are never empty, and strings of Rust have no block then.
func hasEmpty(s *rule.Site) bool {
	return s.Counters.SizeMin <= 1 && s.Counters.Calls >= leastCalls && s.Counters.ByRealloc == 0 &&
		(!s.InCpp() || s.IsArray()) && !s.InRust()
}

// told tells what the blocks hold, and what to do. A byte that no strdup copied
// may be a character.
func told(s *rule.Site, size uint64) (contents, remedy string) {
	remedy = "let all of them share one constant (a static \"\"), or none at all (NULL), and do not free it"
	switch {
	case size == 0:
		return "nothing", remedy
	case 2*s.CallsOf(recording.GroupStrdup) > s.Counters.Calls:
		return "a single byte, as an empty string does", remedy
	}
	return "a single byte", "where that is an empty string, " + remedy + "; where it is a character, keep it in place of the pointer to it"
}
