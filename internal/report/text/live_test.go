package text

import (
	"strings"
	"testing"

	"mallow/internal/analyze"
	"mallow/internal/live"
	"mallow/internal/profile"
)

// What is shown fits on a terminal of any height that has room for the totals:
// where it did not, these would be what scrolls away.
func TestLiveOnShortTerminals(t *testing.T) {
	v := &live.View{Path: "x.mallow", Seconds: 1, Warnings: []string{"something is missing"}}
	for range 20 {
		v.Sites = append(v.Sites, live.Site{Frame: profile.Frame{Function: "work"}})
	}
	for height := 3; height < 30; height++ {
		var b strings.Builder
		if err := WriteLive(&b, v, LiveOptions{Sort: ByCallRate, Width: 80, Height: height}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(b.String(), "\n"); lines > height {
			t.Errorf("%d lines on a terminal of %d:\n%s", lines, height, b.String())
		}
	}
}

// The place of a site is what one looks for: it is there on the terminals that most have.
func TestNarrowTerminals(t *testing.T) {
	v := &live.View{Path: "x.mallow", Seconds: 1}
	v.Sites = append(v.Sites, live.Site{Frame: profile.Frame{Function: "parse_expr", File: "src/parser.c", Line: 123}})
	for sort, want := range map[LiveOrder]string{ByCallRate: "calls/s   bytes/s      live  site", ByAllCalls: "calls/s   bytes/s      live          calls  site"} {
		var b strings.Builder
		if err := WriteLive(&b, v, LiveOptions{Sort: sort, Width: 80}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "parse_expr  src/parser.c:123") {
			t.Errorf("by %s:\n%s", sort, b.String())
		}
	}
	r := newReport(&profile.Profile{}, Options{Width: 40})
	if row := r.row(r.titles()); len(row) > 26 || !strings.Contains(row, "bytes") {
		t.Errorf("%q leaves little of 40 columns to the site", row)
	}
	r.options.Sort = analyze.ByPeak
	if row := r.row(r.titles()); !strings.Contains(row, "↓at peak") {
		t.Errorf("%q is sorted by what it does not show", row)
	}
}
