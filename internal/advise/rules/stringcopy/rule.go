// Package stringcopy finds strings that are copied and soon thrown away.
package stringcopy

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "string-copy", Find: find}

var copies = []struct {
	symbol       rule.Symbol
	what, remedy string
}{
	{rule.StringCopy, "copies of a std::string", "take and pass it as const std::string& or std::string_view, and move it where it is no longer needed"},
	{rule.StringLiteral, "std::strings made of a C string", "let the function take a std::string_view; or make the string once, outside of the loop"},
	{rule.StringOfChars, "std::strings made of characters that stand elsewhere", "use a std::string_view of them, and make a string only of what outlives them"},
	{rule.Substring, "strings made by substr", "std::string_view(text).substr, which copies nothing"},
}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, of := range copies {
		for _, s := range c.By(of.symbol) {
			n := &s.Counters
			if !s.DiesSoon() {
				continue
			}
			found = append(found, rule.Finding{
				Named:    true,
				Means:    rule.Avoid,
				Title:    fmt.Sprintf("%s %s, %s on average, soon thrown away", figure.Count(n.Calls), of.what, figure.Size(s.MeanSize())),
				Remedy:   of.remedy,
				Evidence: fmt.Sprintf("%s of them were freed within 32 heap events", figure.Percent(n.ShortLived, n.Calls)),
				Places:   []profile.Frame{s.Frame},
				Claims:   []rule.Claim{s.Claim(n.Calls)},
			})
		}
	}
	return found
}
