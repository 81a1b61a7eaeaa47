// Package behalf finds what libc allocates on the program's behalf, by the
// function of libc that the program called.
package behalf

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "libc", Find: find}

// leastCalls is how often the function must have been called.
const leastCalls = 100

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	all := c.Profile.OnBehalf()
	compile := compiling(all)
	for _, b := range all {
		n := &b.Counters
		name := b.Function
		do, known := remedyFor[name]
		if b.Buffer { // whatever the access was
			do, known = remedy{text: keepStream}, true
		}
		if matchers[name] && compile[functionOf(&b)] {
			do.text = keepExpression
		}
		if !known || !b.Known() || !isRepeated(b.Site) {
			continue
		}
		found = append(found, rule.Finding{
			Named:    true,
			Libc:     b.Function,
			Means:    rule.Reuse,
			Title:    fmt.Sprintf("libc makes %s for %s", figure.Counted(n.Calls, "allocation", "allocations"), what(&b, name)),
			Remedy:   do.text,
			Evidence: fmt.Sprintf("libc itself asked for %s (%s) while %s was called from here", figure.Counted(n.Calls, "block", "blocks"), figure.Size(n.Bytes), name),
			Places:   []profile.Frame{b.Frame},
			Claims:   []rule.Claim{c.Whole(b.Site).Claim(n.Calls)},
			AtMost:   do.partly,
		})
	}
	return found
}

// function is one of the program's or its libraries'.
type function struct{ module, name string }

func functionOf(b *profile.Behalf) function { return function{b.Module, b.Frame.Function} }

// compiling are the functions that compile expressions again and again.
func compiling(all []profile.Behalf) map[function]bool {
	found := make(map[function]bool)
	for i := range all {
		if b := &all[i]; compilers[b.Function] && isRepeated(b.Site) {
			found[functionOf(b)] = true
		}
	}
	return found
}

func what(b *profile.Behalf, name string) string {
	if b.Buffer {
		return "buffers of streams, by " + name
	}
	return name
}

// isRepeated tells that the function was called again and again: one call may
// allocate much, but by many ways.
func isRepeated(s *profile.Site) bool {
	repeated := false
	s.EachStack(func(_ int32, c *recording.Counters) { repeated = repeated || c.Calls >= leastCalls })
	return repeated
}
