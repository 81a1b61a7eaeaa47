package recording

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestIndexAgreesWithAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []uint32{0, 1, 5000, 900, 1023, 1024, 5001, 1<<32 - 1, 3000, 2500, 4999, 7000, 2, mostNear - 1, mostNear, 1 << 31}
	var none *Index
	if none.At(3) != -1 {
		t.Error("a nil index has a number")
	}
	for range 50 {
		var x Index
		want := make(map[uint32]int32)
		for step := range int32(3000) {
			number := numbers[random.IntN(len(numbers))]
			if random.IntN(2) == 0 {
				number = uint32(random.IntN(1 << (1 + random.IntN(22))))
			}
			if random.IntN(4) == 0 {
				x.Remove(number)
				delete(want, number)
			} else {
				x.Set(number, step)
				want[number] = step
			}
			index, known := want[number]
			if got := x.At(number); known && got != index || !known && got != -1 {
				t.Fatalf("%d has index %d, want %d (%v)", number, got, index, known)
			}
		}
		if len(x.near) > mostNear {
			t.Fatalf("%d numbers are near", len(x.near))
		}
		var visited []uint32
		x.Each(func(number uint32, index int32) {
			if want[number] != index {
				t.Fatalf("%d has index %d, want %d", number, index, want[number])
			}
			visited = append(visited, number)
		})
		if !slices.Equal(visited, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("visited %d of %d", len(visited), len(want))
		}
	}
}
