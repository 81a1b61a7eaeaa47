// Package stringcopy finds strings that are copied and soon thrown away.
package stringcopy

import (
	"fmt"
	"strings"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/signature"
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

// returned is said of strings that another function has than the one that made them of
// characters: these may be its own, and gone when it has returned.
const returned = "let the caller have a string of its own filled with them, which keeps its memory; a std::string_view only where they live as long as it is used"

// returnedCopy is said of copies that another function has than the one that made
// them of a string that it has, too.
const returnedCopy = "return const std::string& or std::string_view of what stays where it was copied from, instead of a copy of it; move what does not"

// outgrown is said of strings that something is appended to: then a view of
// what was copied is no help.
const outgrown = "make an empty string, reserve() room for all of it there, and append the parts"

// returns tells that of all functions which release the strings of a line the one
// that does so most is another one than has the line, and that neither is of an
// object that they are part of.
func returns(s *rule.Site) bool {
	const surely = 0.25 // of several callers none has most of them
	by := s.Knowledge().FreedBy
	if !rule.Certain(by, surely) || by.Function == "" || by.Function == s.Function || rule.IsConstructor(s.Function) {
		return false
	}
	_, method := signature.Method(by.Function)
	return !strings.HasPrefix(method, "~")
}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, of := range copies {
		for _, s := range c.By(of.symbol) {
			n := &s.Counters
			if !s.DiesSoon() {
				continue
			}
			f := rule.Finding{
				Named:    true,
				Means:    rule.Avoid,
				AtMost:   true,
				Title:    fmt.Sprintf("%s %s, %s on average, soon thrown away", rule.SoonGone(s), of.what, figure.Size(s.MeanSize())),
				Remedy:   of.remedy,
				Evidence: fmt.Sprintf("%s of them were freed within 32 heap events", figure.Percent(n.ShortLived, n.Calls)),
				Places:   []profile.Frame{s.Frame},
				Claims:   []rule.Claim{s.Claim(n.ShortLived)},
			}
			if owner, owned := s.Owner(); owned && owner.Function != s.Function {
				f.Places = rule.Places(owner, s.Frame)
				if of.symbol == rule.StringOfChars {
					f.Remedy = returned
				}
			}
			if of.symbol == rule.StringCopy && returns(s) {
				f.Remedy = returnedCopy
			}
			if by, blocks := s.Releaser(rule.StringGrowth); by == rule.ByGrowth {
				f.Title = fmt.Sprintf("%s %s, %s on average, to which so much is appended that they take another block", figure.Count(n.Calls), of.what, figure.Size(s.MeanSize()))
				f.AtMost = false
				f.Remedy, f.Claims = outgrown, []rule.Claim{s.Claim(min(blocks, n.Calls))}
			}
			found = append(found, f)
		}
	}
	return found
}
