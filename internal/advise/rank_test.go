package advise

import "testing"

// The sum is rounded as its parts are: one advice cannot save more than all of
// them together.
func TestPercentOfAllTogether(t *testing.T) {
	for share, want := range map[float64]string{
		0: "less than 0.1 %", 0.0009: "less than 0.1 %", 0.001: "0.1 %", 0.00297: "0.3 %", 0.00949: "0.9 %",
		0.0096: "less than 1 %", 0.00999: "less than 1 %",
	} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}
