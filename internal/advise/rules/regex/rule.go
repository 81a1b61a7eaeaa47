// Package regex finds regular expressions that are compiled again and again.
package regex

import (
	"fmt"
	"slices"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "regex-in-loop", Find: find}

func find(c *rule.Case) []rule.Finding {
	found := byLibraries(c)
	for _, s := range c.By(rule.RegexCompile) {
		n := &s.Counters
		if !s.IsReleased() || !isRepeated(s) {
			continue // they are kept, as they should be, be it until the program ends
		}
		remedy, places := cure(s)
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			Title:    title(n.Calls),
			Remedy:   remedy,
			Evidence: evidence(n, "std::regex"),
			Places:   places,
			Claims:   []rule.Claim{s.Claim(n.Calls)},
		})
	}
	return found
}

func title(calls uint64) string {
	return fmt.Sprintf("%s allocations to compile regular expressions that are thrown away", figure.Count(calls))
}

func evidence(n *recording.Counters, compiler string) string {
	return fmt.Sprintf("%s calls went through the compiler of %s; %s of the blocks were freed again", figure.Count(n.Calls), compiler, figure.Percent(n.Releases, n.Calls))
}

// isRepeated tells that expressions are compiled again and again. To compile one
// takes allocations with many stacks, most of which have a few calls.
func isRepeated(parts ...*rule.Site) bool {
	const leastTimes = 10
	var calls []uint64
	for _, s := range parts {
		s.EachStack(func(_ int32, n *recording.Counters) { calls = append(calls, n.Calls) })
	}
	slices.Sort(calls)
	return calls[len(calls)/2] >= leastTimes
}

// mostCallers are named of a function that compiles for several.
const mostCallers = 3

// cure says what to do, and where: whether a function compiles one expression or
// what it is given is not known, but who asks for it is.
func cure(s *rule.Site) (remedy string, places []profile.Frame) {
	callers := s.Callers()
	switch {
	case rule.IsConstructor(s.Function):
		remedy = "compile the expression once: as a static member of the class; or make the object once, outside of the loop"
		if len(callers) == 1 {
			return remedy, rule.Places(s.Frame, callers[0].Frame)
		}
	case len(callers) > 1:
		places = []profile.Frame{s.Frame}
		for _, caller := range callers[:min(mostCallers, len(callers))] {
			places = append(places, caller.Frame)
		}
		return fmt.Sprintf("compile each expression once: static const std::regex where it is always the same, else keep those that were compiled by their text; %d lines ask for them", len(callers)), rule.Places(places...)
	default:
		remedy = "compile the expression once: static const std::regex, or a member, outside of the loop"
	}
	return remedy, rule.Places(s.Frame)
}
