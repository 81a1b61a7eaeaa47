package gocode

import "testing"

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
