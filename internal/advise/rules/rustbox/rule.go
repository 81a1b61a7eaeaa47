// Package rustbox finds many small values of Rust programs that have a Box,
// an Rc or an Arc each.
package rustbox

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "rust-box", Find: find}

const (
	leastCalls = 1000
	// What is greater costs more to move than to box.
	small = 64
)

// ways are those in which a value gets a block of its own.
var ways = []struct {
	symbol, without rule.Symbol
	title           string // of the number of blocks, and of their size
	calls, remedy   string
	atMost          bool // some may have to be shared
}{
	{
		symbol: rule.Box, without: rule.Counted, title: "%s boxes of %s on average", calls: "Box::new",
		remedy: "keep the values themselves in a Vec: an enum instead of Box<dyn Trait>, indices instead of Box for what links to each other; or an arena",
	},
	{
		symbol: rule.Counted, title: "%s values in an Rc or Arc, %s on average with its counts", calls: "Rc::new or Arc::new", atMost: true,
		remedy: "keep the values themselves where one alone owns them; else in a Vec, with indices instead of Rc and Arc for what links to each other",
	},
}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, way := range ways {
		for _, s := range c.ByWithout(way.symbol, way.without) {
			n := &s.Counters
			if n.Calls < leastCalls || s.MeanSize() > small {
				continue
			}
			found = append(found, rule.Finding{
				Means:    rule.Pool,
				OnlyTime: true,
				AtMost:   way.atMost,
				Title:    fmt.Sprintf(way.title, figure.Count(n.Calls), figure.Size(s.MeanSize())),
				Remedy:   way.remedy,
				Evidence: fmt.Sprintf("%s calls of %s, none for more than %s", figure.Count(n.Calls), way.calls, figure.Size(n.SizeMax)),
				Places:   []profile.Frame{s.Frame},
				Claims:   []rule.Claim{s.Claim(n.Calls)},
			})
		}
	}
	return found
}
