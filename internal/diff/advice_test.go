package diff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mallow/internal/advise"
	"mallow/internal/advise/rule"
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

// Two lines copy what one site allocates: what it makes less is first of the one
// that promised less, and no allocation is credited twice.
func TestDividedAdvice(t *testing.T) {
	d := diff.Compare(difftest.Profile("3000 malloc 16: copy a.c:10"), difftest.Profile("600 malloc 16: copy a.c:10"), diff.Options{All: true})
	of := func(line int, saves uint64) advise.Advice {
		a := advised("object-copy", "caller", "b.c", line, saves)
		a.Sites = append(a.Sites, advised("", "copy", "a.c", 10, 0).Sites...)
		a.Saves.AtMost = true
		return a
	}
	changes := d.Advice(advise.Result{Advice: []advise.Advice{of(1, 1999), of(2, 999)}}, advise.Result{})
	if len(changes) != 2 || !changes[0].Divided || changes[0].Status != diff.Followed || *changes[0].Brought != 1401 || *changes[1].Brought != 999 {
		t.Errorf("%+v", changes)
	}
}

// Part of what a line makes less is made by a new line of its function. What is new
// elsewhere stands for nothing.
func TestAdviceWithNewLineBeside(t *testing.T) {
	d := diff.Compare(difftest.Profile("36000 malloc 48: insert map.cc:283 < build b.cc:1\n5000 malloc 8: note map.cc:300 < build b.cc:2"),
		difftest.Profile("12000 malloc 64: insert map.cc:283 < build b.cc:1\n6000 malloc 128: insert map.cc:284 < build b.cc:1\n100 malloc 8: note map.cc:300 < build b.cc:2\n700 malloc 9: text t.cc:3 < build b.cc:3"), diff.Options{All: true})
	growth, copies := advised("growth", "insert", "map.cc", 283, 24267), advised("temporary", "note", "map.cc", 300, 4990)
	changes := d.Advice(advise.Result{Advice: []advise.Advice{growth, copies}}, advise.Result{})
	if len(changes) != 2 || changes[0].Status != diff.Followed || *changes[0].Brought != 18000 || *changes[1].Brought != 4900 {
		t.Errorf("%v %v", *changes[0].Brought, *changes[1].Brought)
	}
}

// Advice about callers of lines that allocate is credited with what those make less.
func TestAdviceAboutCallers(t *testing.T) {
	d := diff.Compare(difftest.Profile("3000 malloc 48: item a.c:10 < object b.c:1\n5000 malloc 4: text a.c:20 < object b.c:2"), difftest.Profile("9 malloc 65536: chunk c.c:7"), diff.Options{All: true})
	arena := advised("arena", "item", "a.c", 10, 7991)
	arena.Sites = append(arena.Sites, advised("", "object", "b.c", 2, 0).Sites...)
	for _, site := range []advise.Advice{advised("", "item", "a.c", 10, 0), advised("", "text", "a.c", 20, 0)} {
		arena.At = append(arena.At, site.Sites[0].Frame)
	}
	changes := d.Advice(advise.Result{Advice: []advise.Advice{arena}}, advise.Result{})
	if len(changes) != 1 || changes[0].Status != diff.Followed || *changes[0].Brought != 8000 {
		t.Errorf("%+v", changes)
	}
}

// The line that uses a package may allocate, too: what it makes less itself is
// nothing that advice about the package's lines has brought, nor are two pieces of
// such advice one.
func TestAdviceAboutPackages(t *testing.T) {
	d := diff.Compare(difftest.Profile("3000 malloc 48: clone p.rs:10 < count m.rs:5\n5000 malloc 4: count m.rs:5\n700 malloc 8: grow p.rs:30 < count m.rs:5"),
		difftest.Profile("3000 malloc 48: clone p.rs:10 < count m.rs:5\n1000 malloc 4: count m.rs:5\n700 malloc 8: grow p.rs:30 < count m.rs:5"), diff.Options{All: true})
	of := func(function string, line int) advise.Advice {
		a := advised("rust-clone", "count", "m.rs", 5, 3000)
		a.Sites, a.Uses = append(a.Sites, advised("", function, "p.rs", line, 0).Sites...), true
		a.At = []profile.Frame{a.Sites[1].Frame}
		return a
	}
	changes := d.Advice(advise.Result{Advice: []advise.Advice{of("clone", 10)}}, advise.Result{Advice: []advise.Advice{of("grow", 30)}})
	if len(changes) != 2 || changes[0].Status != diff.Withdrawn || *changes[0].Brought != 0 || changes[1].Status != diff.Arisen {
		t.Errorf("%+v", changes)
	}
}

// Of several that one line uses, and of which each copies by the same function, the
// one whose own line it is goes on.
func TestAlikeAdviceAboutPackages(t *testing.T) {
	d := diff.Compare(difftest.Profile("720 malloc 4: clone n.rs:9 < count m.rs:5"), difftest.Profile("360 malloc 4: clone n.rs:9 < count m.rs:5"), diff.Options{All: true})
	of := func(function string, line int) advise.Advice {
		a := advised("object-copy", "count", "m.rs", 5, 360)
		a.Sites, a.Uses = append(a.Sites, append(advised("", function, "p.rs", line, 0).Sites, advised("", "clone", "n.rs", 9, 0).Sites...)...), true
		return a
	}
	changes := d.Advice(advise.Result{Advice: []advise.Advice{of("close", 16), of("open", 20)}}, advise.Result{Advice: []advise.Advice{of("open", 20)}})
	if len(changes) != 2 || changes[0].Status != diff.Followed || changes[1].Status != diff.Open {
		t.Errorf("%+v", changes)
	}
}

// What libc allocates for a line is at no site of it: it is counted by the function
// that calls libc, of which others may call it instead.
func TestAdviceAboutLibc(t *testing.T) {
	const old = `900 malloc 52: l10n in /lib/libc.so.6 < dcgettext in /lib/libc.so.6 < split f.c:10 < main m.c:1
		300 malloc 52: l10n in /lib/libc.so.6 < dcgettext in /lib/libc.so.6 < usage u.c:7 < main m.c:2
		400 malloc 472: fopen in /lib/libc.so.6 < split f.c:12 < main m.c:1
		500 malloc 9: split f.c:10 < main m.c:1`
	for _, c := range []struct {
		name, new string
		want      float64
	}{
		{"followed", strings.Replace(strings.Replace(old, "900", "1", 1), "f.c:10", "f.c:9", 1), 899},
		{"not followed", strings.Replace(old, "500", "100", 1), 0},
		{"another function of libc", strings.Replace(old, "400", "4", 1), 0},
		{"done by another function", strings.Replace(old, "dcgettext in /lib/libc.so.6 < split", "dcgettext in /lib/libc.so.6 < part < divide", 1), 0},
		{"half of it elsewhere", strings.Replace(strings.Replace(old, "900", "100", 1), "300", "500", 1), 600},
	} {
		for _, all := range []bool{false, true} {
			d := diff.Compare(difftest.Profile(old), difftest.Profile(c.new), diff.Options{All: all})
			a := advised("libc", "split", "f.c", 10, 900)
			a.Libc = "dcgettext"
			changes := d.Advice(advise.Result{Advice: []advise.Advice{a}}, advise.Result{})
			if len(changes) != 1 || changes[0].Brought == nil || *changes[0].Brought != c.want || (changes[0].Status == diff.Followed) != (c.want > 450) {
				t.Errorf("%s: %+v", c.name, changes)
			}
		}
	}
}

// Which of the copies are needed nobody knows, and a few that are gone are what the
// advice was about. A list of released blocks leaves hardly one: what makes a third
// less was another change.
func TestAtMost(t *testing.T) {
	for _, c := range []struct {
		means rule.Means
		now   int
		want  diff.AdviceStatus
	}{{rule.Avoid, 6000, diff.Followed}, {rule.Pool, 6000, diff.Withdrawn}, {rule.Pool, 3000, diff.Followed}} {
		d := diff.Compare(difftest.Profile("9000 malloc 40: make a.c:10"), difftest.Profile(fmt.Sprintf("%d malloc 40: make a.c:10", c.now)), diff.Options{All: true})
		a := advised("rule", "make", "a.c", 10, 8100)
		a.Means, a.Saves.AtMost = c.means, true
		if changes := d.Advice(advise.Result{Advice: []advise.Advice{a}}, advise.Result{}); changes[0].Status != c.want {
			t.Errorf("%+v: %+v", c, changes)
		}
	}
}

// What a new site makes in place of one that is gone is not less.
func TestAdviceOfWhatIsElsewhere(t *testing.T) {
	const old = "6000 malloc 30: evaluate e.c:10 < parse p.c:40 < main m.c:1\n500 malloc 9: other o.c:7 < main m.c:2"
	for _, c := range []struct {
		name, new string
		want      float64
	}{
		{"a function with another name", "2001 malloc 31: evaluate_into e.c:12 < parse p.c:41 < main m.c:1", 3999},
		{"in the function that called it", "2001 malloc 31: parse p.c:41 < main m.c:1", 3999},
		{"called by the function itself", "20 malloc 4096: chunk c.c:5 < evaluate e.c:11 < parse p.c:41 < main m.c:1", 5980},
		{"more than before", "9000 malloc 31: parse p.c:41 < main m.c:1", 0},
		{"far from there", "2001 malloc 31: print w.c:41 < write w.c:7 < main m.c:1", 6000},
	} {
		d := diff.Compare(difftest.Profile(old), difftest.Profile(c.new+"\n500 malloc 9: other o.c:7 < main m.c:2"), diff.Options{All: true})
		changes := d.Advice(advise.Result{Advice: []advise.Advice{advised("hoist", "evaluate", "e.c", 10, 5999)}}, advise.Result{})
		if len(changes) != 1 || changes[0].Brought == nil || *changes[0].Brought != c.want {
			t.Errorf("%s: %+v", c.name, changes)
		}
	}
}

// Two that say the same of one function, whose helper allocates for all: what
// another advice brought there is not theirs.
func TestAlikeAdvice(t *testing.T) {
	d := diff.Compare(difftest.Profile("9000 malloc 72: helper a.c:7"), difftest.Profile("6000 malloc 72: helper a.c:7"), diff.Options{All: true})
	of := func(rule, function string, line int, saves uint64) advise.Advice {
		a := advised(rule, function, "b.c", line, saves)
		a.Sites = append(a.Sites, advised("", "helper", "a.c", 7, 0).Sites...)
		return a
	}
	first, second, pair := of("temporary", "dump", 1, 2990), of("temporary", "dump", 2, 2980), of("pair", "make", 9, 3000)
	changes := d.Advice(advise.Result{Advice: []advise.Advice{pair, first, second}}, advise.Result{Advice: []advise.Advice{second, first}})
	if len(changes) != 3 || changes[0].Status != diff.Followed || *changes[0].Brought != 3000 || changes[1].Sites[0].Line != 1 || changes[2].Sites[0].Line != 2 {
		t.Errorf("%+v", changes)
	}
	for _, c := range changes[1:] {
		if c.Status != diff.Open || *c.Brought != 0 {
			t.Errorf("%+v", c)
		}
	}
}

// Of one line and of many, the advice about the line was followed as long as it
// explains what is less.
func TestAdviceOfOneLineAndOfMany(t *testing.T) {
	d := diff.Compare(
		difftest.Profile("3200 new 64: node a.cc:1\n3200 new 64: ref a.cc:2"),
		difftest.Profile("1600 new 64: node a.cc:1\n1600 new 64: ref a.cc:2"), diff.Options{All: true})
	node, ref, arena := advised("shared-ptr", "node", "a.cc", 1, 1600), advised("shared-ptr", "ref", "a.cc", 2, 1600), advised("arena", "node", "a.cc", 1, 3100)
	arena.Sites = append(arena.Sites, ref.Sites...)
	changes := d.Advice(advise.Result{Advice: []advise.Advice{arena, node, ref}}, advise.Result{})
	if len(changes) != 3 || changes[0].Status != diff.Withdrawn || changes[1].Status != diff.Followed || *changes[1].Brought != 1600 || changes[2].Status != diff.Followed {
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

// Where other arguments, or another end, may have been less work, less that is made
// is nobody's merit, unless work was counted.
func TestAdviceOfOtherWork(t *testing.T) {
	profileOf := func(program, argument string) *profile.Profile {
		return ran(program, 1, recording.Meta{Command: []string{"demo", argument}})
	}
	ended := func(program string, signal int) *profile.Profile {
		return ran(program, 1, recording.Meta{Command: []string{"demo"}, Ended: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Signal: signal})
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
		{"the same end", ended(more, 0), ended(fewer, 0), diff.Followed},
		{"an early end", ended(more, 0), ended(fewer, 6), diff.Withdrawn},
		{"an early end, of counted work", ended(more+units, 0), ended(fewer+units, 6), diff.Followed},
	} {
		d := diff.Compare(c.old, c.new, diff.Options{All: true})
		changes := d.Advice(advise.Result{Advice: []advise.Advice{advised("temporary", "f", "a.c", 10, 3990)}}, advise.Result{})
		if len(changes) != 1 || changes[0].Status != c.want || (changes[0].Brought == nil) != (c.want == diff.Withdrawn) {
			t.Errorf("%s: %+v", c.name, changes)
		}
	}
}
