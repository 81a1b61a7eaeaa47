package profile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mallow/internal/recording"
)

// TestMostFrequentStacks compares with a sorted list, with many ties.
func TestMostFrequentStacks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		stacks := make([]*stack, random.IntN(60))
		all := make([]int, len(stacks))
		for i := range stacks {
			stacks[i] = &stack{counters: &recording.Counters{Calls: random.Uint64N(uint64(1 + round%20))}}
			all[i] = i
		}
		most := 1 + random.IntN(12)
		slices.SortStableFunc(all, func(a, b int) int { return int(stacks[b].counters.Calls) - int(stacks[a].counters.Calls) })
		want := slices.Clone(all[:min(most, len(all))])
		slices.Sort(want)
		if got := mostFrequentStacks(stacks, most); !slices.Equal(got, want) {
			t.Fatalf("the %d most frequent of %d are %v, want %v", most, len(stacks), got, want)
		}
	}
}
