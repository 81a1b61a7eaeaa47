package text

import (
	"strings"
	"testing"

	"mallow/internal/profile"
)

func TestPerUnit(t *testing.T) {
	for _, test := range []struct {
		unit profile.Unit
		want string
	}{
		{profile.Unit{Name: "request", Count: 4, Allocations: 8, Bytes: 80}, "2.00 allocations per request, 20 B (4 of them)"},
		{profile.Unit{Name: "parse", Function: true, Count: 4, Allocations: 4, Bytes: 40}, "1.00 allocation per call of parse, 10 B (4 of them)"},
		{profile.Unit{Name: "request", Count: 4}, "no allocation per request (4 of them)"},
		{profile.Unit{Name: "request"}, "no request was counted"},
		{profile.Unit{Name: "bytes", Count: 3000, Allocations: 3}, "one allocation per 1.00 kB (3.00 kB)"},
		{profile.Unit{Name: "response bytes", Count: 3000, Allocations: 3}, "one allocation per 1.00 kB response (3.00 kB)"},
		// Less than a byte each.
		{profile.Unit{Name: "bytes", Count: 2, Allocations: 5, Bytes: 20}, "2.50 allocations per byte, 10 B (2 of them)"},
		{profile.Unit{Name: "response bytes", Count: 2, Allocations: 5, Bytes: 20}, "2.50 allocations per response byte, 10 B (2 of them)"},
	} {
		r := &report{profile: &profile.Profile{}}
		if got := r.perUnit(&test.unit); got != test.want {
			t.Errorf("%+v: %q, want %q", test.unit, got, test.want)
		}
	}
	for _, test := range []struct {
		unit profile.Unit
		want string
	}{
		{profile.Unit{Name: "request", Count: 4, Allocations: 8, Bytes: 80}, "~2.00 allocations per request, ~20 B (4 of them)"},
		{profile.Unit{Name: "bytes", Count: 3000, Allocations: 3}, "one allocation per ~1.00 kB (3.00 kB)"},
	} {
		r := &report{profile: &profile.Profile{Sampling: &profile.Sampling{}}}
		if got := r.perUnit(&test.unit); got != test.want {
			t.Errorf("sampled: %+v: %q, want %q", test.unit, got, test.want)
		}
	}
}

func TestUnitsShown(t *testing.T) {
	r := &report{profile: &profile.Profile{}}
	for range unitsShown + 2 {
		r.profile.Units = append(r.profile.Units, &profile.Unit{Name: "request", Count: 1, Allocations: 1})
	}
	r.units()
	text := strings.Join(r.lines, "\n")
	if strings.Count(text, "per request") != unitsShown || !strings.HasSuffix(text, "        2 more units") {
		t.Errorf("%q", text)
	}
}
