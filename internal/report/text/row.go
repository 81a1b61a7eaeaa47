package text

import (
	"fmt"
	"strings"

	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// cells are the figures of a line of a table: calls, share of all, bytes,
// bytes at the peak, live bytes, share of temporary blocks.
type cells [6]string

// leastCalls are the columns of a number of calls. A report with more calls
// than fit has wider ones.
const leastCalls = 11

// cellWidths are the columns of each cell but the calls; roomFor are those of
// the terminals that have it, so that the site is seen on narrow ones, too.
var (
	cellWidths = [len(cells{})]int{1: 6, 9, 9, 9, 6}
	roomFor    = [len(cells{})]int{1: narrow, 3: 60, 4: narrow, 5: 60}
)

const narrow = 100

// hasNoRoom tells of a terminal that is narrower than so many columns; lines of
// width 0 are not cut.
func hasNoRoom(width, columns int) bool { return width > 0 && width < columns }

// tableCells are the titles of a table that is not of sites.
func tableCells(peak string) cells { return cells{"calls", "share", "bytes", peak, "live", "temp"} }

func (r *report) row(c cells) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%*s", r.callsWidth(), c[0])
	for i := 1; i < len(c); i++ {
		if hasNoRoom(r.options.Width, roomFor[i]) && i != sortedColumn[r.options.Sort] {
			continue
		}
		fmt.Fprintf(&b, " %*s", cellWidths[i], c[i])
	}
	return b.String() + "  "
}

// callsWidth are the columns of the calls: no row has more of them than all.
func (r *report) callsWidth() int {
	return widthOfCalls(r.about(count(r.profile.Totals.Allocations)))
}

func widthOfCalls(most string) int { return max(leastCalls, term.Columns(most)) }

// sortedColumn is the column that shows what sites are sorted by.
var sortedColumn = map[analyze.Order]int{
	analyze.ByCalls: 0, analyze.ByBytes: 2, analyze.ByPeak: 3, analyze.ByLive: 4, analyze.ByTemporary: 5,
	analyze.BySize: 3, analyze.ByWaste: 3, analyze.ByCPU: 3,
}

// titles of the table of sites: what is no column otherwise stands in the
// place of the peak when sites are sorted by it.
func (r *report) titles() cells {
	c := tableCells("at peak")
	switch r.options.Sort {
	case analyze.BySize:
		c[3] = "largest"
	case analyze.ByWaste:
		c[3] = "waste"
	case analyze.ByCPU:
		c[3] = "cpu"
	}
	c[sortedColumn[r.options.Sort]] = "↓" + c[sortedColumn[r.options.Sort]]
	return c
}

// siteCells are the figures of a site. Its share is that of what sites are
// sorted by; of the greatest size there is none, and it is that of the calls.
func (r *report) siteCells(site *profile.Site) cells {
	c := siteCells(&site.Counters, r.whole(analyze.ByCalls))
	if r.profile.PeakUnknown() {
		c[3] = "-"
	}
	by := r.options.Sort
	switch value := by.Value(site); by {
	case analyze.BySize:
		c[3] = size(value)
		return c
	case analyze.ByWaste:
		c[3] = size(value)
	case analyze.ByCPU:
		c[3] = orDash(value, seconds(value))
	}
	c[1] = percent(by.Value(site), r.whole(by))
	return c
}

// whole is what all sites have of it.
func (r *report) whole(by analyze.Order) uint64 {
	if r.wholes == nil {
		r.wholes = make(map[analyze.Order]uint64)
	}
	sum, known := r.wholes[by]
	if !known {
		for _, site := range r.sites {
			sum += by.Value(site)
		}
		if cpu := r.profile.CPU(); by == analyze.ByCPU && cpu != nil {
			sum = cpu.Allocator
		}
		r.wholes[by] = sum
	}
	return sum
}

func (r *report) totalsCells(t *profile.Totals, whole uint64) cells {
	c := cells{
		count(t.Allocations), percent(t.Allocations, whole), size(t.Bytes), size(t.PeakBytes),
		orDash(t.LiveBlocks, size(t.LiveBytes)), orDash(t.Temporary, percent(t.Temporary, t.Allocations)),
	}
	if r.profile.PeakUnknown() {
		c[3] = "-"
	}
	return c
}
