package text_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"mallow/internal/diff"
	"mallow/internal/diff/difftest"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/report/text"
)

// stoppedAfter is the profile of a program whose recording was stopped so
// many seconds after it began; 0: that was recorded to its end.
func stoppedAfter(seconds uint64) *profile.Profile {
	rec := difftest.Recording("7 malloc 16 kept: keep a.c:10 < main m.c:1")
	im := rec.Images[0]
	im.StartRealtime = 1e9
	if seconds > 0 {
		im.StoppedRealtime = im.StartRealtime + seconds*1e9
	}
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
}

// Of a program that outlived its recording nobody knows what it frees later.
func TestStopped(t *testing.T) {
	const never, yet, note = "never freed", "not freed yet", "note: recording was stopped after 2.0 s, while the process went on"
	for seconds, want := range map[uint64][]string{0: {never}, 2: {yet, note}} {
		var b bytes.Buffer
		if err := text.Write(&b, stoppedAfter(seconds), text.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{never, yet, note} {
			if wanted := slices.Contains(want, words); strings.Contains(b.String(), words) != wanted {
				t.Errorf("stopped after %d s: %q wanted: %v\n%s", seconds, words, wanted, b.String())
			}
		}
	}
}

func TestDiffStopped(t *testing.T) {
	for _, c := range []struct{ old, new uint64 }{{2, 0}, {0, 2}, {2, 2}} {
		var b bytes.Buffer
		d := diff.Compare(stoppedAfter(c.old), stoppedAfter(c.new), diff.Options{})
		if err := text.WriteDiff(&b, d, text.DiffOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); strings.Contains(got, "never freed") || !strings.Contains(got, "not freed yet") {
			t.Errorf("stopped after %d and %d s:\n%s", c.old, c.new, got)
		}
	}
}
