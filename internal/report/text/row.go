package text

import (
	"fmt"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// cells are the figures of a line of a table: calls, share of all, bytes,
// bytes at the peak, live bytes, share of temporary blocks.
type cells [6]string

// cellWidths are the columns of each cell; narrow terminals do without some.
var (
	cellWidths  = [len(cells{})]int{11, 6, 9, 9, 9, 6}
	dispensable = [len(cells{})]bool{1: true, 4: true}
)

const narrow = 100

func (r *report) row(c cells) string {
	var b strings.Builder
	for i, text := range c {
		if dispensable[i] && r.options.Width > 0 && r.options.Width < narrow {
			continue
		}
		fmt.Fprintf(&b, "%*s", cellWidths[i]+1, text)
	}
	return b.String()[1:] + "  "
}

func siteCells(c *recording.Counters, whole uint64) cells {
	return cells{
		count(c.Calls), percent(c.Calls, whole), size(c.Bytes), size(uint64(max(0, c.PeakBytes))),
		orDash(uint64(c.LiveBlocks()), size(uint64(c.LiveBytes()))), orDash(c.Temporary, percent(c.Temporary, c.Calls)),
	}
}

func totalsCells(t *profile.Totals, whole uint64) cells {
	return cells{
		count(t.Allocations), percent(t.Allocations, whole), size(t.Bytes), size(t.PeakBytes),
		orDash(t.LiveBlocks, size(t.LiveBytes)), orDash(t.Temporary, percent(t.Temporary, t.Allocations)),
	}
}
