package profile_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/test/harness"
)

// TestKnowledge sums up what two threads of a golden recording voted; what it
// holds is said in test/golden/golden_recordings.cc.
func TestKnowledge(t *testing.T) {
	rec, err := recording.Open(filepath.Join(harness.Root(), "format", "testdata", "habits.mallow"))
	if err != nil {
		t.Fatal(err)
	}
	p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
	site := func(calls, bytes uint64) int {
		return slices.IndexFunc(p.Sites, func(s *profile.Site) bool { return s.Counters.Calls == calls && s.Counters.Bytes == bytes })
	}
	known := p.Knowledge(p.Sites)
	nodeSite, keySite := p.Sites[site(14, 560)], p.Sites[site(14, 170)]
	node, key, buffer := known[site(14, 560)], known[site(14, 170)], known[site(70000, 7000000)]

	check := func(what string, got *profile.Common, frame profile.Frame, size, least, most, outOf uint64) {
		t.Helper()
		if got == nil {
			t.Errorf("%s: unknown", what)
		} else if want := (profile.Common{Frame: frame, Site: got.Site, Size: size, Least: least, Most: most, OutOf: outOf}); *got != want {
			t.Errorf("%s: %+v, want %+v", what, *got, want)
		}
	}
	none := profile.Frame{}
	check("node: size", node.Size, none, 40, 14, 14, 14)
	check("node: born after", node.BornAfter, keySite.Frame, 0, 10, 12, 14)
	check("node: freed after", node.FreedAfter, keySite.Frame, 0, 12, 13, 14)
	// The threads do not agree: of two as good the lesser one.
	check("key: size", key.Size, none, 11, 4, 7, 14)
	check("key: born after", key.BornAfter, nodeSite.Frame, 0, 14, 14, 14)
	if node.FreedBy == nil || key.FreedBy == nil || node.FreedBy.Frame == key.FreedBy.Frame || node.FreedBy.Least != 14 || key.FreedBy.Least != 10 {
		t.Errorf("freed by %+v and %+v", node.FreedBy, key.FreedBy)
	}
	if node.Threads != 2 || node.Runs != 14 || node.Lifetimes[3] != 4 || node.Lifetimes[4] != 6 {
		t.Errorf("node: %+v", node)
	}
	if *node.First != 3*time.Millisecond || *node.Last != time.Second || *node.LastDeath != 2*time.Second {
		t.Errorf("node: from %v to %v, released until %v", node.First, node.Last, node.LastDeath)
	}
	if buffer.Reallocs.BytesCopied != 1234 || buffer.LongestRun != 70000 || buffer.Threads != 1 {
		t.Errorf("buffer: %+v", buffer)
	}
}

// TestTimelineOfClocksThatDisagree has a second process that begins a second
// after the first, by one clock or by both.
func TestTimelineOfClocksThatDisagree(t *testing.T) {
	const second, hour = time.Second, time.Hour
	for name, later := range map[string]struct{ wall, monotonic time.Duration }{
		"both":                           {second, second},
		"the wall clock is set back":     {second - hour, second},
		"the wall clock is set forward":  {second + hour, second},
		"another monotonic clock":        {second, second + hour},
		"another monotonic clock, older": {second, second - hour},
	} {
		var recs []*recording.Recording
		for range 2 {
			rec, err := recording.Open(filepath.Join(harness.Root(), "format", "testdata", "habits.mallow"))
			if err != nil {
				t.Fatal(err)
			}
			rec.Images[0].StartMonotonic = uint64(10 * hour)
			recs = append(recs, rec)
		}
		im := recs[1].Images[0]
		im.StartRealtime += uint64(later.wall)
		im.StartMonotonic += uint64(later.monotonic)
		for _, images := range [][]*recording.Image{{recs[0].Images[0], im}, {im, recs[0].Images[0]}} {
			rec := *recs[0]
			rec.Images = images
			p := profile.New([]*recording.Recording{&rec}, profile.Options{Symbolizer: profiletest.Demo()})
			moments := p.Timeline(true)
			if first, last := moments[0].At, moments[len(moments)-1].At; first != 500*time.Millisecond || last != 3001*time.Millisecond {
				t.Errorf("%s: from %v to %v", name, first, last)
			}
		}
	}
}

// TestTimeline adds two processes up, the second of which begins later.
func TestTimeline(t *testing.T) {
	var recs []*recording.Recording
	for range 2 {
		rec, err := recording.Open(filepath.Join(harness.Root(), "format", "testdata", "habits.mallow"))
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	later := recs[1].Images[0]
	later.StartRealtime += uint64(time.Second)
	later.StartMonotonic += uint64(time.Second)
	recs[0].Images = append(recs[0].Images, later)
	p := profile.New(recs[:1], profile.Options{Symbolizer: profiletest.Demo()})
	var got [][3]int64 // ms, allocations, live blocks
	for _, m := range p.Timeline(true) {
		got = append(got, [3]int64{m.At.Milliseconds(), int64(m.Allocations), m.LiveBlocks})
	}
	// The first ends at 2001 ms with no block left.
	want := [][3]int64{{500, 300, 290}, {1500, 40000, 20}, {1500, 40300, 310}, {2001, 70328, 290}, {2500, 110028, 20}, {3001, 140056, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}
