// Package table finds tables whose elements are allocated one by one.
package table

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "table", Find: find}

const (
	leastCalls = 100
	// Fewer elements in a row are a pair.
	leastElements = 2
	// So many rows must follow the allocation of a table, and so close must
	// their numbers be.
	leastShare = 0.8
	mostApart  = 0.1
	// What elements hold may break their row when they go, but not into pieces
	// that are shorter on average.
	leastRow = 4
)

func find(c *rule.Case) []rule.Finding { return append(among(c), among(c.ByCaller())...) }

func among(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, elements := range c.Sites {
		table := c.Partner(elements.Known.BornAfter)
		if table == nil || table == elements || !belongs(c, table, elements) {
			continue
		}
		found = append(found, finding(table, elements))
	}
	return found
}

// belongs tells whether each table is followed by a row of elements, and all
// go together.
func belongs(c *rule.Case, table, elements *rule.Site) bool {
	n, k := &elements.Counters, &elements.Known
	return n.Calls >= leastCalls && perTable(table, elements) >= leastElements &&
		rule.Alike(k.Runs, table.Counters.Calls, mostApart) && rule.Certain(k.BornAfter, leastShare) &&
		n.ByRealloc == 0 && rule.Kin(table, elements) && gather(table, elements) && dieTogether(c, table, elements)
}

// gather tells whether the elements of a row are there at the same time: only
// the last one can be gone before anything else is allocated.
func gather(table, elements *rule.Site) bool {
	return rule.Share(elements.Temporary(), elements.Counters.Calls)*perTable(table, elements) <= 2
}

func dieTogether(c *rule.Case, table, elements *rule.Site) bool {
	if table.Kept() || elements.Kept() {
		return table.Kept() && elements.Kept()
	}
	before := c.Partner(table.Known.FreedAfter) == elements && rule.Certain(table.Known.FreedAfter, leastShare)
	behind := c.Partner(elements.Known.FreedAfter) == table && rule.Certain(elements.Known.FreedAfter, leastShare)
	rows := elements.Known.DeathRuns
	inRows := rule.Alike(rows, table.Counters.Releases, 2*mostApart) || rows*leastRow <= elements.Counters.Releases
	return (before || behind) && inRows
}

func perTable(table, elements *rule.Site) float64 {
	return rule.Share(elements.Counters.Calls, table.Counters.Calls)
}

func finding(table, elements *rule.Site) rule.Finding {
	each := perTable(table, elements)
	remedy := "one block for the table and what it points to: the table first, its elements behind it"
	if table.OneSize() && elements.OneSize() && float64(elements.Known.LongestRun) <= each {
		all := table.Counters.SizeMax + uint64(each+0.5)*elements.Counters.SizeMax
		remedy += fmt.Sprintf(" (%s); or an array of elements instead of pointers", rule.Bytes(all))
	}
	return rule.Finding{
		Means: rule.Avoid,
		Title: fmt.Sprintf("each of %s is followed by %.3g blocks of %s for its elements",
			figure.Counted(table.Counters.Calls, "table", "tables"), each, rule.Sizes(elements)),
		Remedy: remedy,
		Evidence: fmt.Sprintf("%s of the %s rows of elements begin right after a table, and both are released together",
			figure.Percent(elements.Known.BornAfter.Least, elements.Known.BornAfter.OutOf), figure.Count(elements.Known.Runs)),
		Places: rule.Places(table.Frame, elements.Frame),
		Claims: []rule.Claim{elements.Claim(elements.Counters.Calls)},
	}
}
