package gocode

import (
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
