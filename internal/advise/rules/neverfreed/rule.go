// Package neverfreed finds memory that grows for as long as the program runs.
package neverfreed

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "never-freed", Find: find}

func find(c *rule.Case) []rule.Finding {
	from, to, ok := c.Steady()
	if !ok {
		return nil
	}
	var found []rule.Finding
	for _, s := range c.Sites {
		if !s.PilesUp() {
			continue
		}
		n, k := &s.Counters, s.Knowledge()
		live := uint64(n.LiveBlocks())
		found = append(found, rule.Finding{
			Means:   rule.Avoid,
			Notable: true,
			Title: fmt.Sprintf("%s (%s) pile up while the program runs, and are %s",
				figure.Counted(live, "block", "blocks"), figure.Size(uint64(n.LiveBytes())), c.Profile.Fate()),
			Remedy: "release them when their work is done, or limit how many are kept; if they are meant to be kept, say how many at the most",
			Evidence: fmt.Sprintf("allocated from %s to %s after the start, with a steady state from %s to %s; %s of %s were released",
				figure.Time(*k.First), figure.Time(*k.Last), figure.Time(from), figure.Time(to), figure.Percent(n.Releases, n.Calls), figure.Count(n.Calls)),
			Places: rule.Places(s.Frame),
			Memory: uint64(n.LiveBytes()),
		})
	}
	return found
}
