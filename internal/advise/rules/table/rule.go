// Package table finds tables whose elements are allocated one by one.
package table

import (
	"fmt"
	"slices"

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
	// The last element of a long table that is taken down from its end lives
	// much shorter than the table, on average they live half as long.
	mostShorter = 2
	// With fewer rows their number is too uncertain.
	manyRows = 1000
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, candidate := range candidates(c) {
		site := candidate.site
		for _, elements := range candidate.elements {
			table := c.Partner(elements.Knowledge().BornAfter)
			if table != nil && table != site && rowsFollow(table, elements) && dieTogether(c, table, elements, site) &&
				site.Knowledge().LongestRun >= leastElements && !site.GrowsByDoubling() {
				found = append(found, finding(table, elements, site))
				break
			}
		}
	}
	return found
}

// candidate is a site of which all calls may be for the elements of a table,
// or those of one of its callers.
type candidate struct {
	site     *rule.Site
	elements []*rule.Site
}

// candidates goes by all that is known without Knowledge, and finds that for
// the elements.
func candidates(c *rule.Case) []candidate {
	var sites []*rule.Site
	for _, s := range c.Sites {
		if s.Matters() && s.Counters.Calls >= leastCalls && !s.Contained() {
			sites = append(sites, s)
		}
	}
	var all []candidate
	var elements []*rule.Site
	for i, callers := range c.Callers(sites) {
		of := candidate{site: sites[i]}
		for _, s := range append([]*rule.Site{sites[i]}, callers...) {
			if mayBeElements(c, s, sites[i]) {
				of.elements = append(of.elements, s)
			}
		}
		all = append(all, of)
		elements = append(elements, of.elements...)
	}
	c.Know(elements)
	return all
}

// mayBeElements tells whether there is any site that can be the table of some
// elements.
func mayBeElements(c *rule.Case, elements, site *rule.Site) bool {
	return slices.ContainsFunc(c.Sites, func(table *rule.Site) bool {
		return table != site && mayFollow(table, elements) && table.Kept() == elements.Kept()
	})
}

// mayFollow is what rowsFollow can tell without Knowledge.
func mayFollow(table, elements *rule.Site) bool {
	return elements.Counters.Calls >= leastCalls && perTable(table, elements) >= leastElements &&
		elements.Counters.ByRealloc == 0 && table.Counters.ByRealloc == 0 && hasRoom(table.MeanSize(), perTable(table, elements)) && areThereTogether(table, elements)
}

// hasRoom tells whether a table of so many bytes can point to all of its elements:
// what cannot is something that only happens to be allocated before them.
func hasRoom(table uint64, elements float64) bool {
	const pointer = 8
	return float64(table) >= (1-mostApart)*pointer*elements
}

// rowsFollow tells whether each table is followed by a row of elements. Rows
// are counted by one call in sixteen or less; the longest of them is known exactly.
func rowsFollow(table, elements *rule.Site) bool {
	k := elements.Knowledge()
	each := perTable(table, elements)
	asLong := float64(k.LongestRun) >= (1-mostApart)*each && float64(k.LongestRun) <= (1+mostApart)*each
	asMany := k.Runs >= manyRows && rule.Alike(k.Runs, table.Counters.Calls, 2*mostApart)
	return mayFollow(table, elements) && (asLong || asMany && hasRoom(table.Counters.SizeMax, float64(k.LongestRun))) && rule.Certain(k.BornAfter, leastShare) &&
		rule.Kin(table, elements) && rule.LiveAlike(table, elements, mostShorter)
}

// areThereTogether tells whether the elements of a row are there at the same
// time: only the last one can be gone before anything else is allocated.
func areThereTogether(table, elements *rule.Site) bool {
	return rule.Share(elements.Temporary(), elements.Counters.Calls)*perTable(table, elements) <= 2
}

// dieTogether tells whether a table goes right after the elements, or they
// after it. Partners are whole sites: site is that of the elements.
func dieTogether(c *rule.Case, table, elements, site *rule.Site) bool {
	if table.Kept() || elements.Kept() {
		return table.Kept() && elements.Kept()
	}
	if c.Partner(table.Knowledge().FreedAfter) == site && rule.Certain(table.Knowledge().FreedAfter, leastShare) {
		return true
	}
	return c.Partner(elements.Knowledge().FreedAfter) == table && rule.Certain(elements.Knowledge().FreedAfter, leastShare) &&
		rule.Alike(elements.Knowledge().DeathRuns, table.Counters.Releases, 2*mostApart)
}

func perTable(table, elements *rule.Site) float64 {
	return rule.Share(elements.Counters.Calls, table.Counters.Calls)
}

func finding(table, elements, site *rule.Site) rule.Finding {
	each := perTable(table, elements)
	remedy := "one block for the table and what it points to: the table first, its elements behind it"
	switch {
	case elements.InRust():
		remedy = "a Vec of the elements themselves: no Box, an enum in place of Box<dyn Trait>, and one Vec for all rows in place of a Vec for each"
	case elements.InCpp():
		remedy = "a std::vector of the elements themselves instead of pointers, and one for all rows in place of one for each; or elements from a std::pmr::monotonic_buffer_resource"
	case table.OneSize() && elements.OneSize() && float64(elements.Knowledge().LongestRun) <= each:
		all := table.Counters.SizeMax + uint64(each+0.5)*elements.Counters.SizeMax
		remedy += fmt.Sprintf(" (%s); or an array of elements instead of pointers", rule.Bytes(all))
	}
	return rule.Finding{
		Means: rule.Avoid,
		Title: fmt.Sprintf("each of %s is followed by %s blocks of %s for its elements",
			figure.Counted(table.Counters.Calls, "table", "tables"), figure.Rough(each, 3), rule.Sizes(elements)),
		Remedy: remedy,
		Evidence: fmt.Sprintf("%s of the rows of elements begin right after a table, and both go together; the longest row has %s",
			figure.Percent(elements.Knowledge().BornAfter.Least, elements.Knowledge().BornAfter.OutOf), figure.Count(elements.Knowledge().LongestRun)),
		Places: rule.Places(elements.Frame, site.Frame, table.Frame),
		Claims: []rule.Claim{elements.Claim(elements.Counters.Calls)},
	}
}
