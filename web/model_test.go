package web

import "testing"

// slow is a course whose clock ticks every 4 ms while moments are closer.
const slow = `{ at: [0, 0, 4, 4, 4, 8], allocations: [10, 20, 30, 40, 60, 80] }`

// The curve holds all that was allocated, however many moments one tick has.
func TestRates(t *testing.T) {
	for course, want := range map[string][]float64{
		slow: {10000, 10000, 10000, 10000, 10000, 5000},
		`{ at: [100, 300, 400], allocations: [10, 30, 30] }`: {100, 100, 0},
		`{ at: [0, 0], allocations: [5, 9] }`:                {0, 0},
		`{ at: [], allocations: [] }`:                        {},
	} {
		var got []float64
		evaluate(t, "model", `(m) => m.rates(`+course+`)`, &got)
		if len(got) != len(want) {
			t.Fatalf("%s has the rates %v, want %v", course, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s has the rates %v, want %v", course, got, want)
				break
			}
		}
	}
}

// A tick at which a range ends is in it, one at which it begins but for its first
// moment, which tells what was before; a whole run has everything.
func TestRangesOfTime(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     float64
	}{
		{"0", "8", 80}, {"0", "Infinity", 80}, {"0", "4", 60}, {"4", "8", 50}, {"4", "4", 30}, {"0", "0", 20}, {"8", "100", 0}, {"9", "100", 0},
		{"5", "7", 10}, {"2", "6", 45}, // between moments in proportion
	} {
		var got float64
		evaluate(t, "model", `(m) => { const model = Object.create(m.Model.prototype, { timelines: { value: [`+slow+`] } });
			return model.allocationsUntil(0, `+test.to+`) - model.allocationsBefore(0, `+test.from+`); }`, &got)
		if got != test.want {
			t.Errorf("from %s to %s ms there are %v allocations, want %v", test.from, test.to, got, test.want)
		}
	}
}
