package stacks

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

func goldens(t *testing.T, test func(t *testing.T, p *profile.Profile)) {
	for _, golden := range recordingtest.Goldens() {
		t.Run(golden.Name, func(t *testing.T) {
			rec, err := recording.Open(filepath.Join("../../format/testdata/handmade", golden.Name+".mallow"))
			if err != nil {
				t.Fatal(err)
			}
			test(t, profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()}))
		})
	}
}

// Whatever way a set goes, it stays the same, and so does what it adds up to.
func TestRoundTrips(t *testing.T) {
	goldens(t, func(t *testing.T, p *profile.Profile) {
		s := Of(p, "")
		read, err := ParseText(s.Text("x"))
		if err != nil || !reflect.DeepEqual(s, withoutModulesOfCallers(s, read)) {
			t.Errorf("%v\n%s", err, s.Text("x"))
		}
		packed, err := s.Pprof()
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := s.Pprof(); !bytes.Equal(packed, again) {
			t.Error("the same set gives other bytes")
		}
		if read, err := ParsePprof(packed); err != nil || !reflect.DeepEqual(s, read) {
			t.Errorf("%v\n%s\n%s", err, s.Text("x"), read.Text("x"))
		}
		q, err := s.Profile(nil)
		if err != nil {
			t.Fatal(err)
		}
		old, new := p.WithoutLibc(), q.WithoutLibc()
		if old.Allocations != new.Allocations || old.Bytes != new.Bytes || old.LiveBlocks != new.LiveBlocks || old.LiveBytes != new.LiveBytes || old.News != new.News {
			t.Errorf("%+v\n%+v", old, new)
		}
		if q, err = s.OfLibc().Profile(nil); err != nil {
			t.Fatal(err)
		}
		if old := &p.Origins[profile.OriginLibc]; old.Allocations != q.Totals.Allocations || old.Bytes != q.Totals.Bytes {
			t.Errorf("%+v\n%+v", old, q.Totals)
		}
	})
}

// withoutModulesOfCallers gives what was read the modules that the text leaves
// out.
func withoutModulesOfCallers(from, read *Set) *Set {
	if read == nil || len(from.Stacks) != len(read.Stacks) {
		return read
	}
	for i := range read.Stacks {
		for k := range read.Stacks[i].Frames {
			if k < len(from.Stacks[i].Frames) {
				read.Stacks[i].Frames[k].Module = from.Stacks[i].Frames[k].Module
			}
		}
	}
	return read
}

func TestCut(t *testing.T) {
	at := func(function string, line int) Frame {
		return Frame{Function: function, File: function + ".c", Module: "tool", Line: line}
	}
	stack := func(calls uint64, frames ...Frame) Stack {
		return Stack{Function: recording.Malloc, Frames: frames, Figures: Figures{Calls: calls, Bytes: 16 * calls, SizeMin: 16, SizeMax: 16}}
	}
	s := &Set{Stacks: []Stack{
		stack(600, at("hot", 1), at("a", 1), at("main", 2)),
		stack(390, at("hot", 1), at("b", 1), at("main", 3)),
		stack(5, at("cold", 1), at("a", 1), at("main", 2)),
		stack(5, at("cold", 1), at("b", 1), at("main", 3)),
	}}
	s.sort()
	want := `cold	cold.c:1	tool
	10 malloc 160 16 0 0 0
hot	hot.c:1	tool
	600 malloc 9600 16 0 0 0	a	a.c:1
	390 malloc 6240 16 0 0 0	b	b.c:1
`
	if _, got, _ := strings.Cut(string(s.Cut(1, 0.02).Text("x")), "outwards.\n"); got != want {
		t.Errorf("%s", got)
	}
	if s.Sites()[at("hot", 1)].Calls != 990 {
		t.Error(s.Sites())
	}
	moved := &Set{Stacks: []Stack{stack(7, at("f", 20), at("main", 30)), stack(8, at("f", 25), at("main", 31))}}
	before := &Set{Stacks: []Stack{stack(7, at("f", 2), at("main", 3)), stack(8, at("f", 5), at("main", 4))}}
	other := &Set{Stacks: []Stack{stack(8, at("f", 2), at("main", 3)), stack(7, at("f", 5), at("main", 4))}}
	if !SameButLines(before, moved) || SameButLines(other, moved) {
		t.Error("lines count, or nothing else does")
	}
}

// Names that nobody vouches for stay on their line and steer no terminal.
func TestHostileNames(t *testing.T) {
	evil := "a\tb\nc\x1b[31m\u202e\\\"#\xff"
	for _, name := range []string{evil, "#x", "-", "", "unit", `operator""_s`, "f (g:3)", " x "} {
		s := &Set{
			Units: []Unit{{Name: evil, Count: 3}, {Name: "handle", Function: true, Count: 1}},
			Stacks: []Stack{{Function: recording.PosixMemalign, Figures: Figures{Calls: 1, Bytes: 2, SizeMin: 2, SizeMax: 2}, Frames: []Frame{
				{Function: name, File: evil, Module: name, Line: 3}, {Function: name, Module: evil}, {Function: "main", File: "a:b", Line: 7},
			}}},
		}
		text := string(s.Text(evil))
		if strings.ContainsAny(text, "\x1b\u202e\xff") || strings.Count(text, "\n") != 7 {
			t.Errorf("%q", text)
		}
		read, err := ParseText([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if name == "-" { // stands for none
			continue
		}
		if valid := strings.ToValidUTF8(evil, "") != evil; valid && len(read.Stacks) == 1 {
			if got := read.Stacks[0].Frames[0].Function; got != name {
				t.Errorf("%q became %q", name, got)
			}
		}
	}
}

func TestParseTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"f\tf.c:1":                             "line 1: expected a site",
		"\t1 malloc 1 1 0 0 0":                 "line 1: a way to a site stands below its site",
		"# x\nf\tf.c:1\tm\n\t1 malloc 1 1":     "line 3: expected calls",
		"f\tf.c:1\tm\n\t1 malloc 1 1 0 0 0\tx": "line 2: expected calls",
		"f\tf.c:1\tm\n\t-1 malloc 1 1 0 0 0":   `line 2: "-1" is no number`,
		"f\tf.c:1\tm\n\t1 malloc 1 1 2 0 0":    "line 2: the figures contradict each other",
		"f\tf.c:1\tm\n\t1 malloc 1 9-2 0 0 0":  "line 2: the figures contradict each other",
		"f\\q\tf.c:1\tm":                       `line 1: "f\\q" is not escaped`,
		"unit\t0\tx":                           "line 1: 0 is no number of units",
		strings.Repeat("x", mostLine+1):        "a line is too long",
		"f\tf.c:1\tm\n" + strings.Repeat("<", 7) + " ours\n\t1 malloc": "line 2: expected a site",
	} {
		if _, err := ParseText([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q gives %v", text, err)
		}
	}
	for _, data := range []string{"", "x", "\x1f\x8b", strings.Repeat("\x0a\x05", 99)} {
		if _, err := ParsePprof([]byte(data)); err == nil {
			t.Errorf("%q is a profile", data)
		}
	}
}

func FuzzParseText(f *testing.F) {
	f.Add([]byte("unit\t3\tx\nf\tf.c:1\tm\n\t1 malloc 1 1 0 0 0\tmain\tin x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseText(text)
		if err != nil {
			return
		}
		again, err := ParseText(s.Text("x"))
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("%v: %q became %q", err, text, s.Text("x"))
		}
	})
}
