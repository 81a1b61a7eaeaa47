// Package neverfreed finds memory that grows for as long as the program runs.
package neverfreed

import (
	"fmt"
	"time"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "never-freed", Find: find}

const (
	// Of the memory at the peak a line must hold so much.
	leastShare = 0.05
	leastCalls = 100
	// It must go on from the first to the last tenth of the steady state.
	edge = 0.1
	// Of what the line makes so much must stay: caches let go of what they
	// keep, in the end.
	leastKept = 0.5
)

func find(c *rule.Case) []rule.Finding {
	from, to, ok := c.Steady()
	if !ok || !c.GoesOn() {
		return nil
	}
	margin := time.Duration(edge * float64(to-from))
	var found []rule.Finding
	for _, s := range c.Sites {
		n, k := &s.Counters, &s.Known
		live := uint64(n.LiveBlocks())
		if live < leastCalls || rule.Share(live, n.Calls) < leastKept || rule.Share(uint64(n.LiveBytes()), c.PeakBytes) < leastShare ||
			k.First == nil || k.Last == nil || *k.First > from+margin || *k.Last < to-margin {
			continue
		}
		found = append(found, rule.Finding{
			Means:   rule.Avoid,
			Notable: true,
			Title: fmt.Sprintf("%s (%s) pile up while the program runs, and are never freed",
				figure.Counted(live, "block", "blocks"), figure.Size(uint64(n.LiveBytes()))),
			Remedy: "release them when their work is done, or limit how many are kept; if they are meant to be kept, say how many at the most",
			Evidence: fmt.Sprintf("allocated from %v to %v of a steady state of %v, of %s only %s were released",
				round(*k.First), round(*k.Last), round(to-from), figure.Count(n.Calls), figure.Count(n.Releases)),
			Places: rule.Places(s.Frame),
			Memory: uint64(n.LiveBytes()),
		})
	}
	return found
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
