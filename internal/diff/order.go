package diff

import (
	"cmp"
	"fmt"
	"slices"

	"mallow/internal/recording"
)

// Order is the figure whose change sites are sorted by.
type Order string

const (
	ByCalls     Order = "calls"
	ByBytes     Order = "bytes"
	BySize      Order = "size" // of the mean block
	ByPeak      Order = "peak"
	ByTemporary Order = "temporary"
	ByLive      Order = "live"
	ByWaste     Order = "waste" // bytes that blocks have beyond those asked for
)

var orders = map[Order]func(c *recording.Counters) float64{
	ByCalls:     func(c *recording.Counters) float64 { return float64(c.Calls) },
	ByBytes:     func(c *recording.Counters) float64 { return float64(c.Bytes) },
	BySize:      mean,
	ByPeak:      func(c *recording.Counters) float64 { return float64(c.PeakBytes) },
	ByTemporary: func(c *recording.Counters) float64 { return float64(c.Temporary) },
	ByLive:      func(c *recording.Counters) float64 { return float64(c.LiveBytes()) },
	ByWaste:     func(c *recording.Counters) float64 { return float64(c.Waste()) },
}

// Set and the others make Order a flag.
func (o *Order) Set(s string) error {
	if orders[Order(s)] == nil {
		return fmt.Errorf("must be calls, bytes, size, peak, temporary, live or waste")
	}
	*o = Order(s)
	return nil
}

func (o *Order) String() string { return string(*o) }

// Type names the values of the flag in its help.
func (o *Order) Type() string { return "calls|bytes|size|peak|temporary|live|waste" }

// Sort puts those sites first of which a figure changed most. Those that are
// the same stay behind.
func (d *Diff) Sort(by Order) {
	figure := orders[by]
	change := func(s *Site) float64 { return abs(figure(s.NewCounters()) - figure(s.OldCounters())) }
	if figure == nil || by == ByCalls {
		change = func(s *Site) float64 { return abs(s.Excess) }
	}
	slices.SortStableFunc(d.Sites, func(a, b *Site) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(change(b), change(a)))
	})
}
