// Package foreignfree finds blocks that one thread allocates and another frees.
package foreignfree

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "foreign-free", Find: find}

const (
	// Blocks go from one thread to another by intention if so many do.
	leastShare = 0.8
	leastCalls = 100
	// A block must come back so many times to be worth sending back.
	leastTurnover = 10
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Which(goesAbroad) {
		n := &s.Counters
		atOnce := s.AtOnce()
		if n.Calls < leastTurnover*atOnce {
			continue
		}
		most := s.MostAtOnce()
		underWay, saved := fmt.Sprintf("about %s were under way when memory was at its peak, and never more than %s", figure.Count(atOnce), figure.Count(most)), n.Calls-most
		unseen := n.Calls < leastTurnover*most
		if unseen {
			saved = n.Calls - atOnce
			underWay = fmt.Sprintf("about %s were under way when memory was at its peak, at other times there may be more", figure.Count(atOnce))
		}
		if peakError := c.Profile.Quality.PeakErrorBytes; n.Calls < leastTurnover*(atOnce+peakError/max(1, s.MeanSize())) {
			underWay = "how many are under way at a time was not seen: the peak is exact to " + figure.Size(peakError)
		}
		found = append(found, rule.Finding{
			Means:  rule.Reuse,
			Title:  rule.Blocks(n.Foreign, s) + " are freed by another thread than made them",
			Remedy: fmt.Sprintf("let the other thread send them back through a queue of its own and use them again (%s); or pass many in one block", underWay),
			Evidence: fmt.Sprintf("%s of %s; a malloc must move each such block from one thread's cache to the other's",
				figure.Percent(n.Foreign, n.Releases), figure.Counted(n.Releases, "release", "releases")),
			Places: rule.Places(s.Frame),
			Claims: []rule.Claim{s.Claim(saved)},
			AtMost: unseen,
		})
	}
	return found
}

func goesAbroad(s *rule.Site) bool {
	return s.Counters.Calls >= leastCalls && rule.Share(s.Counters.Foreign, s.Counters.Calls) >= leastShare
}
