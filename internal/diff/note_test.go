package diff_test

import (
	"slices"
	"testing"
	"time"

	"mallow/internal/diff"
	"mallow/internal/diff/difftest"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
)

// ran is the profile of a program that was run so, n times.
func ran(program string, n int, meta recording.Meta) *profile.Profile {
	var recordings []*recording.Recording
	for range n {
		rec := difftest.Recording(program)
		rec.Meta = &meta
		recordings = append(recordings, rec)
	}
	return profile.New(recordings, profile.Options{Symbolizer: profiletest.Demo()})
}

func TestNotes(t *testing.T) {
	const program = "7 malloc 16: f a.c:10 < main m.c:1"
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	run := recording.Meta{Command: []string{"/old/bin/demo", "-x"}, Started: noon, Ended: noon.Add(time.Second)}
	with := func(change func(m *recording.Meta)) recording.Meta {
		m := run
		change(&m)
		return m
	}
	later := with(func(m *recording.Meta) { m.Started, m.Ended = noon.Add(time.Hour), noon.Add(time.Hour+time.Second) })
	for _, c := range []struct {
		name     string
		old, new *profile.Profile
		want     string // "" for no note
	}{
		{"the same again", ran(program, 1, run), ran(program, 1, later), ""},
		{"a program elsewhere", ran(program, 1, run), ran(program, 1, with(func(m *recording.Meta) { m.Command = []string{"/new/bin/demo", "-x"} })), ""},
		{"other arguments", ran(program, 1, run), ran(program, 1, with(func(m *recording.Meta) { m.Command = []string{"demo", "-y"} })),
			`OLD ran "demo -x", NEW ran "demo -y"`},
		{"another end", ran(program, 1, run), ran(program, 1, with(func(m *recording.Meta) { m.Signal = 11 })),
			"OLD ended with status 0, NEW with signal 11"},
		{"the wrong way round", ran(program, 1, later), ran(program, 1, run), "OLD was recorded after NEW"},
		{"much longer", ran(program, 1, run), ran(program, 1, with(func(m *recording.Meta) { m.Ended = noon.Add(9 * time.Second) })),
			"OLD ran 1.0 s, NEW 9.0 s: if they did not do the same work, compare by unit of work (mallow record --per FUNCTION)"},
		{"more runs of the same length", ran(program, 1, run), ran(program, 3, run), ""},
		{"much longer, of more work", ran(program+"\nunit request 1", 1, run), ran(program+"\nunit request 9", 1,
			with(func(m *recording.Meta) { m.Ended = noon.Add(9 * time.Second) })), ""},
	} {
		d := diff.Compare(c.old, c.new, diff.Options{})
		if c.want == "" && len(d.Notes) > 0 || c.want != "" && !slices.Equal(d.Notes, []string{c.want}) {
			t.Errorf("%s: %q, want %q", c.name, d.Notes, c.want)
		}
	}
}

// TestRunsAreUnits compares one recording with the sum of several.
func TestRunsAreUnits(t *testing.T) {
	const old, new = "8 malloc 16: f a.c:10 < main m.c:1", "9 malloc 16: f a.c:10 < main m.c:1"
	d := diff.Compare(ran(old, 1, recording.Meta{}), ran(old, 4, recording.Meta{}), diff.Options{})
	if !d.Empty() || d.Per == nil || d.Judge(diff.Allocations).Regression {
		t.Errorf("four times the same: %s", described(d))
	}
	d = diff.Compare(ran(old, 4, recording.Meta{}), ran(new, 3, recording.Meta{}), diff.Options{})
	if v := d.Judge(diff.Allocations); !v.Regression || v.Excess != 3 {
		t.Errorf("one more in each of three: %+v", v)
	}
}

// TestStartUpIsNoWork has work and what is made once at one site.
func TestStartUpIsNoWork(t *testing.T) {
	old := "100 malloc 16: f a.c:10 < start m.c:1\n50 malloc 16: f a.c:10 < serve m.c:9\nunit request 50"
	for _, c := range []struct {
		new        string
		regression bool
	}{
		{"100 malloc 16: f a.c:10 < start m.c:1\n10 malloc 16: f a.c:10 < serve m.c:9\nunit request 10", false},
		{"100 malloc 16: f a.c:10 < start m.c:1\n20 malloc 16: f a.c:10 < serve m.c:9\nunit request 10", true},
		{"100 malloc 16: f a.c:10 < start m.c:1\n500 malloc 16: f a.c:10 < serve m.c:9\nunit request 500", false},
		{"160 malloc 16: f a.c:10 < start m.c:1\n500 malloc 16: f a.c:10 < serve m.c:9\nunit request 500", true},
		{"100 malloc 16: f a.c:10 < start m.c:1\n400 malloc 16: f a.c:10 < serve m.c:9\nunit request 500", false},
		{"100 malloc 16: f a.c:10 < start m.c:1\n700 malloc 16: f a.c:10 < serve m.c:9\nunit request 500", true},
	} {
		d := diff.Compare(difftest.Profile(old), difftest.Profile(c.new), diff.Options{})
		if v := d.Judge(diff.Allocations); v.Regression != c.regression {
			t.Errorf("%s: %+v", c.new, v)
		}
	}
}
