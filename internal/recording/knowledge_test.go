package recording_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"mallow/internal/recording"
)

// TestAddKnowledge demands that many stacks at once have what they have one by
// one.
func TestAddKnowledge(t *testing.T) {
	folders, err := filepath.Glob("../../format/testdata/*.mallow")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	known := 0
	for _, folder := range folders {
		rec, err := recording.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range rec.Images {
			var all, sum recording.Knowledge
			im.EachStack(func(id uint32, _ *recording.Counters) {
				if im.AddKnowledge(id, &all) {
					known++
				}
				if k := im.Knowledge(id); k != nil {
					addTo(&sum, k)
				}
			})
			if !reflect.DeepEqual(all, sum) {
				t.Errorf("%s: at once %+v, one by one %+v", im.Name, all, sum)
			}
			if all.Reset(); all.Births != 0 || all.Lifetimes != [recording.LifetimeItems]uint64{} || len(all.Size)+len(all.FreedBy)+len(all.Shards) > 0 {
				t.Errorf("%s: after Reset %+v", im.Name, all)
			}
		}
	}
	if known == 0 {
		t.Error("nothing is known of any stack")
	}
}

func addTo(sum, k *recording.Knowledge) {
	if k.Births > 0 {
		if sum.Births == 0 || k.FirstMs < sum.FirstMs {
			sum.FirstMs = k.FirstMs
		}
		sum.LastMs = max(sum.LastMs, k.LastMs)
	}
	sum.Births += k.Births
	sum.Runs += k.Runs
	sum.LongestRun = max(sum.LongestRun, k.LongestRun)
	sum.Deaths += k.Deaths
	sum.DeathRuns += k.DeathRuns
	sum.LastDeathMs = max(sum.LastDeathMs, k.LastDeathMs)
	sum.Size = append(sum.Size, k.Size...)
	sum.BornAfter = append(sum.BornAfter, k.BornAfter...)
	sum.FreedAfter = append(sum.FreedAfter, k.FreedAfter...)
	sum.FreedBy = append(sum.FreedBy, k.FreedBy...)
	sum.Shards = append(sum.Shards, k.Shards...)
	sum.Reallocs.Add(&k.Reallocs)
	for i, n := range k.Lifetimes {
		sum.Lifetimes[i] += n
	}
}
