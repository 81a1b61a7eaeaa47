package recording

import "testing"

// A stack that failed before it counted a call has its rare counts first.
func TestSizesDoNotDependOnTheOrderOfPages(t *testing.T) {
	var counts, rare [recordBytes]byte
	le.PutUint32(counts[0:], 1<<30) // calls
	le.PutUint32(counts[44:], 24)   // size_min
	le.PutUint32(counts[48:], 48)   // size_max
	le.PutUint32(rare[0:], 1)       // units of calls
	le.PutUint64(rare[24:], 1)      // failed
	want := Counters{Calls: 2 << 30, Failed: 1, SizeMin: 24, SizeMax: 48}

	var im Image
	var rareLast, rareFirst Counters
	im.addCounts(&rareLast, &counts)
	im.addRareCounts(&rareLast, &rare)
	im.addRareCounts(&rareFirst, &rare)
	im.addCounts(&rareFirst, &counts)
	if rareLast != want || rareFirst != want {
		t.Errorf("rare counts last %+v, first %+v, want %+v", rareLast, rareFirst, want)
	}
}
