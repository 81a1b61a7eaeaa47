package text

import (
	"strings"
	"testing"

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
