package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"mallow/internal/profile"
)

// Order is what sites are sorted by, the greatest first.
type Order string

const (
	ByCalls     Order = "calls"
	ByBytes     Order = "bytes"
	BySize      Order = "size" // of the greatest block
	ByPeak      Order = "peak"
	ByTemporary Order = "temporary"
	ByLive      Order = "live"
	ByWaste     Order = "waste" // bytes that blocks have beyond those asked for
	ByCPU       Order = "cpu"   // time in malloc and free, by samples
)

// Value is what a site has of what an order goes by: calls, bytes, or ns.
func (o Order) Value(s *profile.Site) uint64 { return uint64(max(0, o.value()(s))) }

func (o Order) value() func(s *profile.Site) int64 {
	if value := orders[o]; value != nil {
		return value
	}
	return orders[ByCalls]
}

var orders = map[Order]func(s *profile.Site) int64{
	ByCalls:     func(s *profile.Site) int64 { return int64(s.Counters.Calls) },
	ByBytes:     func(s *profile.Site) int64 { return int64(s.Counters.Bytes) },
	BySize:      func(s *profile.Site) int64 { return int64(s.Counters.SizeMax) },
	ByPeak:      func(s *profile.Site) int64 { return s.Counters.PeakBytes },
	ByTemporary: func(s *profile.Site) int64 { return int64(s.Counters.Temporary) },
	ByLive:      func(s *profile.Site) int64 { return s.Counters.LiveBytes() },
	ByWaste:     func(s *profile.Site) int64 { return s.Counters.Waste() },
	ByCPU:       func(s *profile.Site) int64 { return int64(s.CPU) },
}

// Set and the others make Order a flag.
func (o *Order) Set(s string) error {
	if orders[Order(s)] == nil {
		return fmt.Errorf("must be calls, bytes, size, peak, temporary, live, waste or cpu")
	}
	*o = Order(s)
	return nil
}

func (o *Order) String() string { return string(*o) }

// Type names the values of the flag in its help.
func (o *Order) Type() string { return "calls|bytes|size|peak|temporary|live|waste|cpu" }

// Rank returns the sites of a profile in an order; unless all is set, without
// what libc allocated on its own account.
func Rank(p *profile.Profile, all bool, by Order) []*profile.Site {
	return RankGroups(p, all, by, profile.ByLine)
}

// RankGroups returns the sites put together.
func RankGroups(p *profile.Profile, all bool, by Order, group profile.Grouping) []*profile.Site {
	if by == ByCPU {
		p.MeasureCPU()
	}
	sites := slices.Clone(p.Sites)
	if !all {
		sites = sites[:0]
		for _, s := range p.Sites {
			if rest := s.Without(profile.OriginLibc); rest != nil {
				sites = append(sites, rest)
			}
		}
	}
	sites = p.Group(sites, group)
	value := by.value()
	slices.SortStableFunc(sites, func(a, b *profile.Site) int { return cmp.Compare(value(b), value(a)) })
	return sites
}
