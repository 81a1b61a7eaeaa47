package stat_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"mallow/internal/stat"
)

func indexes(changes []stat.Change) []int {
	at := []int{}
	for _, c := range changes {
		at = append(at, c.Index)
	}
	return at
}

// TestChangesAreThoseOfOtava holds the results of Apache Otava's own tests,
// and what Otava 0.8.0 said of some hundred series made for this (see
// testdata/changes.py).
func TestChangesAreThoseOfOtava(t *testing.T) {
	var goldens struct {
		Series map[string][]float64
		Cases  []struct {
			Series    string
			Window    int
			Rate      float64
			Magnitude float64
			Changes   []int
		}
	}
	b, err := os.ReadFile("testdata/changes.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &goldens); err != nil {
		t.Fatal(err)
	}
	if len(goldens.Cases) < 100 {
		t.Fatalf("only %d cases", len(goldens.Cases))
	}
	for _, c := range goldens.Cases {
		o := stat.ChangeOptions{Window: c.Window, Rate: c.Rate, Magnitude: c.Magnitude}
		if got := indexes(stat.Changes(goldens.Series[c.Series], o)); !slices.Equal(got, c.Changes) {
			t.Errorf("%s, window %d, rate %g, magnitude %g: changes at %v, Otava's are at %v", c.Series, c.Window, c.Rate, c.Magnitude, got, c.Changes)
		}
	}
}

func TestChangesTellTheLevels(t *testing.T) {
	series := slices.Concat(slices.Repeat([]float64{0.1}, 20), []float64{0.2})
	changes := stat.Changes(series, stat.ChangeOptions{})
	if len(changes) != 1 {
		t.Fatalf("%d changes", len(changes))
	}
	want := stat.Change{Index: 20, Before: stat.Level{N: 20, Mean: 0.1}, After: stat.Level{N: 1, Mean: 0.2}}
	if changes[0] != want {
		t.Errorf("%+v, want %+v", changes[0], want)
	}
	if m := changes[0].Magnitude(); m != 1 {
		t.Errorf("magnitude %v of a doubling", m)
	}
}

// Sums of a tenth are no multiples of it: that is no change.
func TestRoundingIsNoChange(t *testing.T) {
	for _, v := range []float64{0.1, 1e-9, 1e17 + 1} {
		if got := stat.Changes(slices.Repeat([]float64{v}, 200), stat.ChangeOptions{}); len(got) > 0 {
			t.Errorf("%g: %+v", v, got)
		}
	}
	if got := stat.Changes(nil, stat.ChangeOptions{}); len(got) > 0 {
		t.Errorf("of nothing: %+v", got)
	}
}
