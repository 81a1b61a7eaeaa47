// Package rustformat finds strings that Rust programs format and soon drop.
package rustformat

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rust-format", Find: find}

var ways = []struct {
	of           func(*rule.Site) *rule.Site
	what, remedy string
	atMost       bool
}{
	{func(s *rule.Site) *rule.Site { return s.ByWithout(rule.Format, rule.TextCopy|rule.TextChange) },
		"allocations by format! or to_string for strings", "write! into one String that is cleared each time, or straight to where the text goes", false},
	{func(s *rule.Site) *rule.Site { return s.By(rule.TextCopy) },
		"copies by to_string of texts", "pass the text as &str: get and get_mut of a map with String keys, a comparison and most functions take one; where entry() wants a String, ask get_mut first and make one only for what is new", false},
	{func(s *rule.Site) *rule.Site { return s.ByWithout(rule.TextChange, rule.TextCopy) },
		"allocations by replace, to_lowercase and the like for strings", "look first whether anything changes (contains), and pass the text itself on where nothing does (Cow<str>); eq_ignore_ascii_case compares without a copy, and cmp of bytes().map(...) tells the order", true},
}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, all := range c.By(rule.Format) {
		for _, way := range ways {
			s := way.of(all)
			if s == nil || !s.Matters() || !s.DiesSoon() {
				continue
			}
			n := &s.Counters
			found = append(found, rule.Finding{
				Named:    true,
				Means:    rule.Avoid,
				AtMost:   way.atMost,
				Title:    fmt.Sprintf("%s %s that are soon dropped", rule.SoonGone(s), way.what),
				Remedy:   way.remedy,
				Evidence: fmt.Sprintf("%s of them, %s on average, were freed within 32 heap events", figure.Percent(n.ShortLived, n.Calls), figure.Size(s.MeanSize())),
				Places:   []profile.Frame{s.Frame},
				Claims:   []rule.Claim{s.Claim(n.ShortLived)},
			})
		}
	}
	return found
}
