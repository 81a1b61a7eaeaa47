package diff_test

import (
	"testing"

	"mallow/internal/advise"
	"mallow/internal/diff"
	"mallow/internal/diff/difftest"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

func advised(rule, function, file string, line int, saves uint64) advise.Advice {
	return advise.Advice{
		Rule:  rule,
		Sites: []advise.Place{{Frame: profile.Frame{Function: function, File: file, Line: line, Module: "/opt/demo/bin/demo"}}},
		Saves: advise.Saves{Allocations: saves},
	}
}

// Two lines copy what one site allocates: what it makes less is divided by what
// was promised of them, and no allocation is credited twice.
func TestDividedAdvice(t *testing.T) {
	d := diff.Compare(difftest.Profile("3000 malloc 16: copy a.c:10"), difftest.Profile("600 malloc 16: copy a.c:10"), diff.Options{All: true})
	of := func(line int, saves uint64) advise.Advice {
		a := advised("object-copy", "caller", "b.c", line, saves)
		a.Sites = append(a.Sites, advised("", "copy", "a.c", 10, 0).Sites...)
		a.Saves.AtMost = true
		return a
	}
	changes := d.Advice(advise.Result{Advice: []advise.Advice{of(1, 1999), of(2, 999)}}, advise.Result{})
	if len(changes) != 2 || !changes[0].Divided || changes[0].Status != diff.Followed || *changes[0].Brought != 1600 || *changes[1].Brought != 800 {
		t.Errorf("%+v", changes)
	}
}

// What a site makes less is that of the advice which is no more given, and not
// of one that still promises as much.
func TestAdviceBesideOpenOne(t *testing.T) {
	d := diff.Compare(difftest.Profile("6000 malloc 16: split a.c:10"), difftest.Profile("4000 malloc 16: split a.c:10"), diff.Options{All: true})
	copies, growth := advised("string-copy", "split", "a.c", 10, 3000), advised("growth", "split", "a.c", 10, 2000)
	changes := d.Advice(advise.Result{Advice: []advise.Advice{copies, growth}}, advise.Result{Advice: []advise.Advice{copies}})
	if len(changes) != 2 || changes[0].Status != diff.Open || *changes[0].Brought > 1 || changes[1].Status != diff.Followed || *changes[1].Brought < 1999 {
		t.Errorf("%+v", changes)
	}
}

func TestAdvice(t *testing.T) {
	d := diff.Compare(
		difftest.Profile("4000 malloc 16: f a.c:10\n100 malloc 8: g a.c:20\n50 malloc 8: h a.c:30\n7 malloc 9: i a.c:40"),
		difftest.Profile("12 malloc 16: f a.c:12\n100 malloc 8: g a.c:22\n50 malloc 8: h a.c:32\n7 malloc 9: i a.c:42\n90 malloc 3: new a.c:50"),
		diff.Options{All: true})
	old := advise.Result{Advice: []advise.Advice{
		advised("temporary", "f", "a.c", 10, 3990), advised("pair", "g", "a.c", 20, 90),
		advised("hoist", "h", "a.c", 30, 49), advised("loop", "caller", "a.c", 99, 10),
	}}
	new := advise.Result{Advice: []advise.Advice{
		advised("pair", "g", "a.c", 22, 91), advised("pool", "new", "a.c", 50, 80), advised("loop", "caller", "a.c", 98, 10),
	}}
	changes := d.Advice(old, new)
	type outcome struct {
		rule    string
		status  diff.AdviceStatus
		brought float64
	}
	want := []outcome{
		{"temporary", diff.Followed, 3988}, {"pair", diff.Open, 0}, {"hoist", diff.Withdrawn, 0}, {"loop", diff.Open, -1}, {"pool", diff.Arisen, -90},
	}
	if len(changes) != len(want) {
		t.Fatalf("%+v", changes)
	}
	for i, c := range changes {
		got := outcome{c.Rule, c.Status, -1}
		if c.Brought != nil {
			got.brought = *c.Brought
		}
		if got != want[i] {
			t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
	if changes[0].Promised != 3990 || changes[1].Saves.Allocations != 91 {
		t.Errorf("promised %d, the open one says %d", changes[0].Promised, changes[1].Saves.Allocations)
	}
}

// Where other arguments may have been less work, less that is made is nobody's
// merit, unless work was counted.
func TestAdviceOfAnotherCommand(t *testing.T) {
	profileOf := func(program, argument string) *profile.Profile {
		return ran(program, 1, recording.Meta{Command: []string{"demo", argument}})
	}
	const more, fewer = "4000 malloc 16: f a.c:10 < main m.c:1", "40 malloc 16: f a.c:10 < main m.c:1"
	const units = "\nunit request 10"
	for _, c := range []struct {
		name     string
		old, new *profile.Profile
		want     diff.AdviceStatus
	}{
		{"the same", profileOf(more, "big"), profileOf(fewer, "big"), diff.Followed},
		{"another", profileOf(more, "big"), profileOf(fewer, "small"), diff.Withdrawn},
		{"another, of counted work", profileOf(more+units, "big"), profileOf(fewer+units, "small"), diff.Followed},
	} {
		d := diff.Compare(c.old, c.new, diff.Options{All: true})
		changes := d.Advice(advise.Result{Advice: []advise.Advice{advised("temporary", "f", "a.c", 10, 3990)}}, advise.Result{})
		if len(changes) != 1 || changes[0].Status != c.want || (changes[0].Brought == nil) != (c.want == diff.Withdrawn) {
			t.Errorf("%s: %+v", c.name, changes)
		}
	}
}
