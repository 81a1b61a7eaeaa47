// Package coroutine finds coroutines of C++20 whose frames come and go.
package coroutine

import (
	"fmt"
	"slices"
	"strings"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "coroutine-frame", Find: find}

const (
	leastCalls = 100
	// A block must serve so many frames, or the pool only keeps memory.
	leastTurnover = 10
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Which(mayBeFrames) {
		n := &s.Counters
		if !areFrames(s) || n.Calls < leastTurnover*s.AtOnce() {
			continue
		}
		lives, saved, atMost := s.LivesAtOnce(leastTurnover)
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Reuse,
			Title:    fmt.Sprintf("%s frames of the coroutine %s, each a block of %s", figure.Count(n.Calls), s.Function, rule.Bytes(n.SizeMax)),
			Remedy:   "give its promise_type an operator new and operator delete that keep released frames for the next; or let what seldom waits be a plain function that is asked first",
			Evidence: "they are released when the coroutine is destroyed, and " + lives,
			Places:   rule.Places(s.Frame),
			Claims:   []rule.Claim{s.Claim(saved)},
			AtMost:   atMost,
		})
	}
	return found
}

func mayBeFrames(s *rule.Site) bool {
	return s.Matters() && s.Counters.Calls >= leastCalls && s.IsObject() && !s.Contained() && s.IsReleased() && !strings.Contains(s.Function, frame)
}

// frame is in the names of the functions that GCC makes of a coroutine's body,
// which have the frame as their parameter: "f(f(int)::_Z1fi.Frame*)".
const frame = ".Frame*)"

// areFrames tells that the blocks are released when a coroutine is destroyed. The
// function that destroys it is GCC's for the site's coroutine; it has no parameters
// where its line is known. Or it was called by a handle, and left the release of
// the frame, as its last call, to operator delete.
func areFrames(s *rule.Site) bool {
	by := s.Knowledge().FreedBy
	if !rule.Certain(by, 0.5) {
		return false
	}
	name, _, hasParameters := strings.Cut(s.Function, "(")
	switch {
	case strings.HasSuffix(by.Function, frame) && strings.Contains(by.Function, "("+s.Function+"::_Z"):
		return true
	case hasParameters && by.Function == name && by.Module == s.Module && by.File == s.File && by.Line == s.Line && by.Line > 0:
		return true
	}
	return slices.ContainsFunc(s.Knowledge().FreedThrough, destroys)
}

func destroys(function string) bool {
	return strings.HasPrefix(function, "std::") && strings.Contains(function, "coroutine_handle<") && strings.Contains(function, ">::destroy(")
}
