package gocode

import (
	"strconv"
	"strings"
	"testing"
)

// Two kinds of allocations in one line: the one that formats can be rewritten,
// the one that grows keeps its own remedy.
func TestAnnounce(t *testing.T) {
	seen := 0
	marked(t, "announced", "// line: ", func(s *subject, _ []byte) {
		seen++
		formats, grows := *s.line, *s.line
		formats.Allocs, formats.Reason.Rule = 50, "format"
		grows.Allocs, grows.Callee, grows.Reason.Rule, grows.Remedy = 5, "runtime.growslice", "append-capacity", "make it before the loop"
		announce([]*Line{&formats, &grows}, s.sources, 1)
		if formats.Fix == "" || formats.Rule != "format" {
			t.Errorf("%q by %s", formats.Fix, formats.Rule)
		}
		if grows.Fix != "" || grows.Rule != "append-capacity" || grows.Remedy != "make it before the loop" {
			t.Errorf("%q: %s by %s", grows.Fix, grows.Remedy, grows.Rule)
		}
	})
	if seen != 1 {
		t.Errorf("%d lines", seen)
	}
}

// What variables of a package are made of is made once: neither a cache nor
// another function makes it less often.
func TestExplainVariables(t *testing.T) {
	for function, once := range map[string]bool{
		"example.org/text.init": true, "example.org/text.map.init.0": true,
		"example.org/text.compile": false, "example.org/text.(*T).init": false, "example.org/text.init.0": false,
	} {
		l := &Line{Frame: Frame{Function: function, File: "text.go", Line: 1}, Callee: "regexp.MustCompile"}
		explain([]*Line{l}, new(sources), nil)
		if strings.Contains(l.Why, "once") != once || (l.Rule == "") != once || (l.Remedy == "") != once {
			t.Errorf("%s: %s: %s by %q", function, l.Why, l.Remedy, l.Rule)
		}
	}
}

// What ends the function is done once, whatever loops are around it.
func TestExplainWhatEndsALoop(t *testing.T) {
	seen := 0
	marked(t, "announced", "// turn: ", func(s *subject, _ []byte) {
		seen++
		turn := s.line.Callee == "true"
		s.line.Callee = newObject
		s.escapes = []Escape{{Message: "&wrong{...} escapes to heap"}}
		if r := s.reason(); (r.Rule == "slab") != turn {
			t.Errorf("line %d: %s: %s by %q", s.line.Line, r.Why, r.Remedy, r.Rule)
		}
	})
	if seen != 4 {
		t.Errorf("%d lines", seen)
	}
}

// A variable that is on the heap for what it is handed to can be declared once; one
// whose address is kept needs a place of its own in each turn.
func TestExplainMovedVariables(t *testing.T) {
	seen := 0
	marked(t, "announced", "// moved: ", func(s *subject, _ []byte) {
		seen++
		name, want, _ := strings.Cut(s.line.Callee, " ")
		s.line.Callee = newObject
		flow := "from render(&" + name + ", text) (call parameter)"
		if want == "slab" {
			flow = "from append(all, &kept) (call parameter)"
		}
		s.escapes = []Escape{{Message: "moved to heap: " + name, Flow: []Step{{Text: flow}}}}
		if r := s.reason(); r.Rule != want && (want != "other" || r.Rule == "slab" || r.Rule == "reuse") {
			t.Errorf("line %d: %s: %s by %q", s.line.Line, r.Why, r.Remedy, r.Rule)
		}
	})
	if seen != 3 {
		t.Errorf("%d lines", seen)
	}
}

// What converts bytes only to compare them is told so, as of strings.
func TestExplainFoldedBytes(t *testing.T) {
	seen := 0
	marked(t, "announced", "// fold: ", func(s *subject, _ []byte) {
		seen++
		want := s.line.Callee
		s.line.Callee = "bytes.ToLower"
		if r := s.reason(); !strings.HasPrefix(r.Remedy, want) {
			t.Errorf("line %d: %s: %s by %q", s.line.Line, r.Why, r.Remedy, r.Rule)
		}
	})
	if seen != 2 {
		t.Errorf("%d lines", seen)
	}
}

// What a function returns is its own, whatever those do that it is inlined into.
func TestExplainReturnedWhereInlined(t *testing.T) {
	l := &Line{Frame: Frame{Function: "example.org/text.array", File: "text.go", Line: 1}, Callee: "runtime.makeslice"}
	e := escapes{"text.go": {1: {{Message: "make([]any, n) escapes to heap", Flow: []Step{
		{Text: "flow: v ← &{storage for make([]any, n)}:"}, {Text: "from v := make([]any, n) (assign)"}, {Text: "flow: ~r0 ← v:"}, {Text: "from return v, err (return)"},
		{Text: "flow: {storage for .autotmp_98} ← .autotmp_98:"}, {Text: "from .autotmp_98 (interface-converted)"},
	}}}}}
	explain([]*Line{l}, new(sources), e)
	if l.Why != "make([]any, n) goes to the heap: it is returned" || l.Remedy != "" {
		t.Errorf("%s: %s by %q", l.Why, l.Remedy, l.Rule)
	}
}

// Of the values of one line that go to the heap each allocation is told its own.
func TestExplainWhatIsMade(t *testing.T) {
	e := escapes{"text.go": {1: {
		{Message: "make([]code, size, 1 << c) escapes to heap", Flow: []Step{{Text: "flow: {storage for &encoder{...}} ← &{storage for make([]code, size, 1 << c)}:"}, {Text: "from encoder{...} (struct literal element)"}}},
		{Message: "&encoder{...} escapes to heap", Flow: []Step{{Text: "flow: ~r0 ← &{storage for &encoder{...}}:"}, {Text: "from return &encoder{...} (return)"}}},
	}}}
	for _, c := range []struct {
		callee string
		bytes  float64
		why    string
	}{
		{newObject, 5000, "&encoder{...} goes to the heap: it is returned"},
		{"runtime.makeslice", 1000, "make([]code, size, 1 << c) goes to the heap: it is stored by encoder{...}, which goes to the heap"},
	} {
		l := &Line{Frame: Frame{Function: "example.org/text.encoder", File: "text.go", Line: 1}, Callee: c.callee, Allocs: 1, Bytes: c.bytes}
		explain([]*Line{l}, new(sources), e)
		if l.Why != c.why {
			t.Errorf("%s: %s: %s by %q", c.callee, l.Why, l.Remedy, l.Rule)
		}
	}
}

// A slice that a turn of a loop leaves somewhere cannot be that of the next.
func TestExplainKeptInLoop(t *testing.T) {
	seen := 0
	marked(t, "announced", "// in a loop: ", func(s *subject, _ []byte) {
		seen++
		what, kept := s.line.Callee, s.line.Callee == "kept"
		s.line.Callee = "runtime.makeslice"
		s.escapes = []Escape{{Message: "make([]int, n) escapes to heap", Flow: []Step{{Text: "flow: {heap} ← &{storage for make([]int, n)}:"}, {Text: "from make([]int, n) (non-constant size)"}}}}
		if kept {
			s.escapes[0].Flow = []Step{{Text: "from kept := make([]int, n) (assign)"}, {Text: "from append(all, kept) (call parameter)"}}
		}
		if r := s.reason(); (r.Rule == "reuse") == kept || (r.Why == "make([]int, n) goes to the heap: it is stored by append(all, kept)") != kept {
			t.Errorf("%s: %s: %s by %q", what, r.Why, r.Remedy, r.Rule)
		}
	})
	if seen != 2 {
		t.Errorf("%d lines", seen)
	}
}

// The last step of the compiler's flow is the reason: a variable that has the
// value before is none.
func TestReasonOfLiterals(t *testing.T) {
	for last, want := range map[string]string{
		"from Constraints{...} (struct literal element)":        "x goes to the heap: it is stored by Constraints{...}, which goes to the heap",
		"from []*html.Node{...} (slice-literal-element)":        "x goes to the heap: it is stored by []*html.Node{...}, which goes to the heap",
		"from map[string]interface {}{...} (map literal value)": "x goes to the heap: it is stored by map[string]interface {}{...}, which goes to the heap",
		"from ... argument (slice-literal-element)":             "x goes to the heap: it is stored by or := x",
	} {
		e := Escape{Message: "x escapes to heap", Flow: []Step{{Text: "flow: or ← &{storage for x}:"}, {Text: "from or := x (assign)"}, {Text: "flow: {storage for y} ← or:"}, {Text: last}}}
		if got := e.reason(); got != want {
			t.Errorf("%s: %s", last, got)
		}
	}
}

// Only what the function of the runtime takes became an interface value: a text
// that was made of a number is no argument of what made it.
func TestExplainBoxedValues(t *testing.T) {
	seen := 0
	marked(t, "announced", "// boxed: ", func(s *subject, _ []byte) {
		seen++
		callee, receiver, known := strings.Cut(s.line.Callee, " ")
		s.line.Callee = callee
		why, _, found := findBoxing(s)
		if !found || strings.Contains(why, "an argument of ") != known || !strings.Contains(why, receiver) {
			t.Errorf("line %d: %s", s.line.Line, why)
		}
	})
	if seen != 8 {
		t.Errorf("%d lines", seen)
	}
}

// A slice that is given one element and no more takes as many allocations with room
// as without.
func TestExplainFirstElements(t *testing.T) {
	seen := 0
	marked(t, "announced", "// first: ", func(s *subject, _ []byte) {
		seen++
		size, no, _ := strings.Cut(s.line.Callee, " ")
		bytes, err := strconv.ParseFloat(size, 64)
		if err != nil {
			t.Fatal(err)
		}
		s.line.Callee = "runtime.growslice"
		for mean, want := range map[float64]bool{bytes: no == "", 1.5 * bytes: false} {
			s.line.Allocs, s.line.Bytes = 100, 100*mean
			_, remedy, _ := findAppendGrowth(s)
			if strings.Contains(remedy, "one allocation, too") != want {
				t.Errorf("line %d, %.0f bytes each: %s", s.line.Line, mean, remedy)
			}
		}
	})
	if seen != 6 {
		t.Errorf("%d lines", seen)
	}
}

// An object that callers store, or hand to whoever it is, is on the heap wherever it
// was made: only one that they look at can be theirs.
func TestExplainWhatCallersKeep(t *testing.T) {
	seen := 0
	marked(t, "announced", "// takes: ", func(s *subject, _ []byte) {
		seen++
		function, want, _ := strings.Cut(s.line.Callee, " ")
		caller := s.line.Frame
		made := Frame{Function: "example.org/announced." + function, File: "thing.go", Line: 1}
		for size, rule := range map[float64]string{32: "value", 200: "pointer"} {
			s.line = &Line{Frame: made, Callee: newObject, Allocs: 1, Bytes: size, Stacks: []Stack{{Frames: []Frame{made, caller}, Allocs: 1}}}
			s.escapes = []Escape{{Message: "&thing{} escapes to heap", Flow: []Step{{Text: "from return &thing{} (return)"}}}}
			if want == "given" {
				rule = "pointer"
			}
			r := s.reason()
			if r.Rule != rule || strings.Contains(r.Remedy, "let the caller bring") != (want == "looked at") || strings.Contains(r.Why, "which may keep it") != (want == "given") {
				t.Errorf("line %d, %.0f bytes: %s: %s by %q", caller.Line, size, r.Why, r.Remedy, r.Rule)
			}
		}
	})
	if seen != 10 {
		t.Errorf("%d lines", seen)
	}
}

// What is returned as an interface value needs a place of its own as a value, too, and
// the method that returns it cannot take another one.
func TestExplainReturnedAsInterface(t *testing.T) {
	l := &Line{Frame: Frame{Function: "example.org/text.(*Int).Add", File: "text.go", Line: 1}, Callee: newObject, Allocs: 10, Bytes: 80}
	e := escapes{"text.go": {1: {{Message: "&Int{...} escapes to heap", Flow: []Step{
		{Text: "flow: ~r0 ← &{storage for &Int{...}}:"}, {Text: "from &Int{...} (spill)"}, {Text: "from &Int{...} (interface-converted)"}, {Text: "from return &Int{...}, nil (return)"},
	}}}}}
	explain([]*Line{l}, new(sources), e)
	if l.Why != "&Int{...} goes to the heap: it is returned as an interface value" || !strings.Contains(l.Remedy, "again and again") || l.Rule != "pointer" {
		t.Errorf("%s: %s by %q", l.Why, l.Remedy, l.Rule)
	}
}
