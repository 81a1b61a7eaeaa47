// Package madeanew finds objects of the C++ library that make a block for
// themselves each time they are made, and keep none.
package madeanew

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "made-anew", Find: find}

var objects = []struct {
	symbol, without rule.Symbol
	title           string // of the number of blocks, and of them with their sizes
	remedy          string
	passing         func(*rule.Site) bool // that what is made is not kept
	soon            bool                  // only what is gone soon is saved
	atMost          bool
}{
	{
		symbol: rule.AnyValue, without: rule.Parts, passing: (*rule.Site).DiesSoon,
		title:  "%s for values that have no room in their std::any",
		remedy: "a std::variant of the types that there are, which has room for the greatest; where it must be a std::any, make it once and pass it by reference or by std::move",
	},
	{
		symbol: rule.NumberText, passing: (*rule.Site).DiesSoon, soon: true,
		title:  "%s for numbers that std::to_string writes, soon thrown away",
		remedy: "std::to_chars on an array of chars, read through a std::string_view or appended to a string that is kept",
	},
	{
		symbol: rule.FileBuffer, passing: (*rule.Site).IsReleased,
		title:  "%s for the buffers of file streams, which are gone when the file is closed",
		remedy: "give the stream an array of your own before it is opened, rdbuf()->pubsetbuf(room, sizeof room) and then open(name); or keep the file open. A stream that is kept and opened again makes its buffer anew",
	},
	{
		symbol: rule.SortBuffer, passing: (*rule.Site).IsReleased,
		title:  "%s for the buffers of std::stable_sort, std::stable_partition or std::inplace_merge",
		remedy: "std::sort or std::partition, where a further key decides the order of equal elements or it does not matter; std::merge into a vector that is kept",
	},
	{
		symbol: rule.Exception, passing: (*rule.Site).IsReleased,
		title:  "%s for exceptions that are thrown, and soon caught",
		remedy: "return what is to be expected (a std::optional, an error code; std::from_chars in place of std::stoi), and throw what is not",
	},
	{
		symbol: rule.SharedState, without: rule.Parts, passing: (*rule.Site).IsReleased, atMost: true,
		title:  "%s for what promises and tasks share with their futures",
		remedy: "a future takes its state over, so that none can be kept: let one future stand for many pieces of work, let the caller hold the place of the result, or call what needs no other thread directly",
	},
}

func find(c *rule.Case) []rule.Finding {
	found := threads(c)
	for _, of := range objects {
		for _, s := range c.ByWithout(of.symbol, of.without) {
			n := &s.Counters
			if !of.passing(s) {
				continue
			}
			saved, blocks := n.Calls, rule.Blocks(n.Calls, s)
			if of.soon && n.ShortLived < n.Calls {
				saved, blocks = n.ShortLived, figure.Count(n.ShortLived)+" of "+blocks
			}
			found = append(found, rule.Finding{
				Named:    true,
				Means:    rule.Avoid,
				AtMost:   of.atMost,
				Title:    fmt.Sprintf(of.title, blocks),
				Remedy:   of.remedy,
				Evidence: fmt.Sprintf("%s of the blocks were freed again, %s within 32 heap events", figure.Percent(n.Releases, n.Calls), figure.Percent(n.ShortLived, n.Calls)),
				Places:   places(s),
				Claims:   []rule.Claim{s.Claim(saved)},
			})
		}
	}
	return found
}

// places begins with who makes the object, if a constructor of the program's
// own makes a part of it.
func places(s *rule.Site) []profile.Frame {
	if outer := s.Outer(); rule.IsConstructor(s.Function) && len(outer) > 0 {
		return rule.Places(outer[0], s.Frame)
	}
	return rule.Places(s.Frame)
}
