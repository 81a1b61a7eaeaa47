package advise

import (
	"cmp"
	"slices"

	"mallow/internal/advise/rule"
	"mallow/internal/recording"
)

// found is a finding with what is left for it once better remedies have taken
// theirs.
type found struct {
	rule.Finding
	rule  string
	order int // of the rule
	asked amount
	left  amount
	parts []part // what is left, by claim
}

type amount struct{ Calls, Bytes uint64 }

// part is so many calls of a site.
type part struct {
	calls uint64
	site  *rule.Site
}

func newFound(name string, order int, f rule.Finding) found {
	of := found{Finding: f, rule: name, order: order}
	for _, c := range f.Claims {
		of.asked.Calls += c.Calls
		of.asked.Bytes += c.Bytes
	}
	return of
}

// leastLeft is the share of its allocations that a finding must still have
// after better ones took theirs: with less its words are no longer true.
const leastLeft = 0.5

// leastNeeded is the share of what a remedy needs that others must have left.
const leastNeeded = 0.9

func named(f found) int {
	if f.Named {
		return 0
	}
	return 1
}

// settle gives every allocation to one finding: to one that knows what the
// blocks are, then to the best remedy, of two as good to the one that saves
// more. Findings that are left with little, or without what they need, are
// dropped.
func settle(all []found, stacks int) []found {
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(named(a)-named(b), cmp.Compare(a.Means, b.Means), cmp.Compare(b.asked.Calls, a.asked.Calls), cmp.Compare(a.order, b.order))
	})
	taken := make(ledger, stacks)
	kept := all[:0]
	for _, f := range all {
		if !taken.all(f.Needs) {
			continue
		}
		for _, claim := range f.Claims {
			calls := taken.available(claim)
			f.left.Calls += calls
			f.left.Bytes += uint64(rule.Share(calls, claim.Calls) * float64(claim.Bytes))
			f.parts = append(f.parts, part{calls, claim.Site})
		}
		if f.asked.Calls > 0 && rule.Share(f.left.Calls, f.asked.Calls) < leastLeft {
			continue
		}
		for _, claim := range slices.Concat(f.Claims, f.Needs) {
			taken.take(claim)
		}
		kept = append(kept, f)
	}
	return kept
}

// ledger has the share of each stack's calls that was given away, by the
// number of the stack.
type ledger []float64

func share(c rule.Claim) float64 { return min(1, rule.Share(c.Calls, c.Site.Counters.Calls)) }

func (l ledger) available(c rule.Claim) uint64 {
	wanted, calls := share(c), 0.0
	c.Site.EachStack(func(stack int32, of *recording.Counters) {
		calls += float64(of.Calls) * max(0, min(wanted, 1-l[stack]))
	})
	return uint64(calls + 0.5)
}

// all tells whether nearly all of these are still there.
func (l ledger) all(claims []rule.Claim) bool {
	return !slices.ContainsFunc(claims, func(c rule.Claim) bool { return rule.Share(l.available(c), c.Calls) < leastNeeded })
}

func (l ledger) take(c rule.Claim) {
	wanted := share(c)
	c.Site.EachStack(func(stack int32, _ *recording.Counters) { l[stack] = min(1, l[stack]+wanted) })
}
