package diff_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mallow/internal/diff"
	"mallow/internal/diff/difftest"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// anyProgram makes up a program, with names few enough that two have much in
// common and much that only resembles.
func anyProgram(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(20) {
		function := []string{"f", "g", "f.isra.0", "f(int)", "f(long)", "libz.so+0x10", "libz.so+0x20", ""}[r.IntN(8)]
		module := []string{"", " in libz.so", " in libz.so.1"}[r.IntN(3)]
		line := ""
		if r.IntN(4) > 0 {
			line = fmt.Sprintf(" %s:%d", []string{"a.c", "b.c", "src/a.c"}[r.IntN(3)], 1+r.IntN(9))
		}
		kept := []string{"", " kept"}[r.IntN(2)]
		fmt.Fprintf(&b, "%d %s %d%s: %s%s%s < %s m.c:%d < main m.c:1\n", r.IntN(5),
			[]string{"malloc", "new", "strdup"}[r.IntN(3)], 1+r.IntN(4), kept, function, module, line,
			[]string{"run", "walk"}[r.IntN(2)], 1+r.IntN(3))
	}
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "unit request %d\n", r.IntN(4))
	}
	return b.String()
}

func TestAnyTwoPrograms(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, b := anyProgram(r), anyProgram(r)
		checkLaws(t, difftest.Profile(a), difftest.Profile(b), diff.Options{All: r.IntN(2) == 0})
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\nand\n%s", seed, a, b)
		}
	}
}

// checkLaws holds for any two profiles: nothing is lost, nothing is counted
// twice, one against itself has no difference, and the other way round all
// differences are the other way round.
func checkLaws(t *testing.T, a, b *profile.Profile, o diff.Options) {
	t.Helper()
	d := diff.Compare(a, b, o)
	var old, new recording.Counters
	for _, s := range d.Sites {
		old.Add(s.OldCounters())
		new.Add(s.NewCounters())
		if (s.Old == nil) != (s.Status == diff.New) && s.Status != diff.Same || (s.New == nil) != (s.Status == diff.Gone) && s.Status != diff.Same {
			t.Errorf("%s: %+v", s.Status, s)
		}
		if (s.Match == diff.Unmatched) != (s.Old == nil || s.New == nil) {
			t.Errorf("match %q of %+v", s.Match, s)
		}
	}
	if old.Calls != d.OldTotals.Allocations || new.Calls != d.NewTotals.Allocations || old.Bytes != d.OldTotals.Bytes || new.Bytes != d.NewTotals.Bytes {
		t.Errorf("sites have %d and %d calls, totals %d and %d", old.Calls, new.Calls, d.OldTotals.Allocations, d.NewTotals.Allocations)
	}
	checkStacks(t, d)

	for _, p := range []*profile.Profile{a, b} {
		if self := diff.Compare(p, p, o); !self.Empty() || len(self.Notes) > 0 && !p.Quality.Incomplete {
			for _, s := range self.Sites {
				if s.Status != diff.Same {
					t.Errorf("of itself: %+v", s)
				}
			}
		}
	}

	mirrored := diff.Compare(b, a, o)
	back := make(map[string]string)
	for _, s := range mirrored.Sites {
		back[sideText(s.New)+sideText(s.Old)] = mirror(s)
	}
	for _, s := range d.Sites {
		k := sideText(s.Old) + sideText(s.New)
		if back[k] != string(s.Status)+string(s.Match) {
			t.Errorf("%s is %s, the other way round %q", k, s.Status, back[k])
		}
		delete(back, k)
	}
	if len(back) > 0 {
		t.Errorf("the other way round also %v", back)
	}
}

func sideText(p *diff.Place) string {
	if p == nil {
		return "nothing; "
	}
	return fmt.Sprintf("%v %d %d; ", p.Frame, p.Counters.Calls, p.Counters.Bytes)
}

func mirror(s *diff.Site) string {
	status := s.Status
	switch status {
	case diff.New:
		status = diff.Gone
	case diff.Gone:
		status = diff.New
	}
	return string(status) + string(s.Match)
}

// checkStacks holds the stacks of a site against it, and growth against the
// stacks.
func checkStacks(t *testing.T, d *diff.Diff) {
	t.Helper()
	stacks, total, growth := d.Stacks(d.Sites, diff.Allocations, 0)
	for i, s := range d.Sites {
		var old, new uint64
		for _, st := range stacks[i] {
			old += st.Old
			new += st.New
		}
		if old != s.OldCounters().Calls || new != s.NewCounters().Calls {
			t.Errorf("stacks of %v: %d and %d calls of %d and %d", s.Frame(), old, new, s.OldCounters().Calls, s.NewCounters().Calls)
		}
		if total[i] != len(stacks[i]) {
			t.Errorf("%d stacks of %d", len(stacks[i]), total[i])
		}
		if g := &growth[i]; len(g.Branches) == 1 {
			t.Errorf("one branch of %v: %+v", s.Frame(), g)
		}
	}
}

// FuzzCompare compares two images as they come.
func FuzzCompare(f *testing.F) {
	goldens := recordingtest.Goldens()
	for i, golden := range goldens {
		b := golden.Images[0].Bytes()
		f.Add(b, goldens[(i+1)%len(goldens)].Images[0].Bytes())
		f.Add(b[:len(b)/2], b)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var profiles []*profile.Profile
		for _, b := range [][]byte{first, second} {
			im, err := recording.ReadImage("image", bytes.NewReader(b), int64(len(b)))
			if err != nil {
				return
			}
			rec := &recording.Recording{Path: "fuzz", Images: []*recording.Image{im}}
			profiles = append(profiles, profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()}))
		}
		checkLaws(t, profiles[0], profiles[1], diff.Options{All: true})
		d := diff.Compare(profiles[0], profiles[1], diff.Options{})
		for _, m := range diff.Metrics {
			d.Judge(m)
			d.Guilty(m)
		}
	})
}
