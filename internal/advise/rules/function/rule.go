// Package function finds callables that have no room in a std::function.
package function

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "std-function", Find: find}

// inline is what libstdc++ and libc++ have room for in the std::function
// itself; libc++ has a little more. libstdc++ puts there only what can be copied
// byte by byte.
const inline = 16

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.ByWithout(rule.StdFunction, rule.Parts) {
		n := &s.Counters
		found = append(found, rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			Title:    fmt.Sprintf("%s times a callable of %s is put into a std::function, which has room for %d B of plain data", figure.Count(n.Calls), sizes(n.SizeMin, n.SizeMax), inline),
			Remedy:   remedy(s),
			Evidence: fmt.Sprintf("%s blocks of %s; %s freed soon after", figure.Count(n.Calls), sizes(n.SizeMin, n.SizeMax), figure.Percent(n.ShortLived, n.Calls)),
			Places:   []profile.Frame{s.Frame},
			Claims:   []rule.Claim{s.Claim(n.Calls)},
		})
	}
	return found
}

// remedy does not know who keeps the callable: the library's manager of it releases
// it for whoever had it last.
func remedy(s *rule.Site) string {
	fit := fmt.Sprintf("capture one pointer or reference to what it needs, where that lives as long as the callable, so that it fits into %d bytes", inline)
	if s.Counters.SizeMax <= inline {
		fit = "capture a plain pointer or reference to what has a copy constructor, such as a std::shared_ptr, where that lives as long as the callable"
	}
	if s.DiesSoon() {
		return "let the function that is called, where it does not keep it, take it as a template parameter or as a reference to a callable, and pass a std::function on by reference; or " + fit
	}
	return fit + "; move the std::function instead of copying it"
}

func sizes(least, most uint64) string {
	if least == most {
		return figure.Size(most)
	}
	return fmt.Sprintf("%d to %s", least, figure.Size(most))
}
