package profile

import (
	"testing"

	"mallow/internal/recording"
)

func TestBallot(t *testing.T) {
	itself := func(candidate uint32) (uint32, bool) { return candidate, candidate != 13 }
	lesser := func(a, b uint32) bool { return a < b }
	var b ballot
	for round := range 3 { // in the memory of the round before
		if _, common := b.close(lesser); common != nil {
			t.Fatalf("round %d: %+v without votes", round, common)
		}
		b.add([]recording.Vote{
			{Candidate: 1 << 30, Lead: 4, Voters: 10}, {Candidate: 7, Lead: 5, Voters: 5}, {Candidate: 13, Lead: 90, Voters: 100},
			{Candidate: 1 << 30, Lead: 1, Voters: 1}, {Candidate: 1 << 20, Lead: 5, Voters: 7}, {Candidate: 3, Lead: 0, Voters: 2},
		}, itself)
		value, common := b.close(lesser)
		if value != 7 || common == nil || *common != (Common{Least: 5, Most: 5, OutOf: 125}) {
			t.Fatalf("round %d: %d, %+v", round, value, common)
		}
		b.add([]recording.Vote{{Candidate: 7, Lead: 1, Voters: 1}, {Candidate: 1 << 30, Lead: 2, Voters: 4}}, itself)
		value, common = b.close(lesser)
		if value != 1<<30 || *common != (Common{Least: 2, Most: 3, OutOf: 5}) {
			t.Fatalf("round %d: %d, %+v", round, value, common)
		}
	}
}
