package profile

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
)

// TestCallersDecideNothingTogether has callers looked for by several at the
// same time: what a wrapper is must have been decided by then, since what was
// decided is kept in maps.
func TestCallersDecideNothingTogether(t *testing.T) {
	rec, err := recording.Open("../../format/testdata/handmade/single-thread.mallow")
	if err != nil {
		t.Fatal(err)
	}
	p := New([]*recording.Recording{rec}, Options{Symbolizer: profiletest.Demo()})
	i := slices.IndexFunc(p.Sites, func(s *Site) bool { return s.Function == "collect" })
	if i < 0 {
		t.Fatal("no site in a function that is inlined")
	}
	var deciding, most atomic.Int32
	accept := p.sites.accept
	p.sites.accept = func(f *Frame) bool {
		if now := deciding.Add(1); now > most.Load() {
			most.Store(now)
		}
		defer deciding.Add(-1)
		time.Sleep(time.Millisecond)
		return accept(f)
	}
	p.Callers(slices.Repeat([]*Site{p.Sites[i]}, 100))
	if most.Load() > 1 {
		t.Errorf("%d at the same time decide what a wrapper is", most.Load())
	}
}
