package pair

import (
	"math/rand/v2"
	"testing"

	"mallow/internal/advise/rule"
)

// TestAboutAsMany demands that no pair is lost by what is asked first: whatever
// bornTogether accepts it accepts.
func TestAboutAsMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 200_000 {
		calls := leastCalls + random.Uint64N(1<<random.IntN(30))
		near := func(n uint64) uint64 { return n/2 + random.Uint64N(n+1) }
		runs := near(calls)
		follow := near(runs)
		first := near(follow)
		if first < leastCalls || follow > runs || rule.Share(follow, runs) < leastShare ||
			!rule.Alike(first, follow, mostApart) || !rule.Alike(runs, calls, 2*mostApart) {
			continue
		}
		accepted++
		if !aboutAsMany(first, calls) {
			t.Fatalf("%d calls, %d runs of which %d follow one of %d", calls, runs, follow, first)
		}
	}
	if accepted == 0 {
		t.Error("no pair was tried")
	}
}
