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
)

var orders = map[Order]func(s *profile.Site) int64{
	ByCalls:     func(s *profile.Site) int64 { return int64(s.Counters.Calls) },
	ByBytes:     func(s *profile.Site) int64 { return int64(s.Counters.Bytes) },
	BySize:      func(s *profile.Site) int64 { return int64(s.Counters.SizeMax) },
	ByPeak:      func(s *profile.Site) int64 { return s.Counters.PeakBytes },
	ByTemporary: func(s *profile.Site) int64 { return int64(s.Counters.Temporary) },
	ByLive:      func(s *profile.Site) int64 { return s.Counters.LiveBytes() },
}

// Set and the others make Order a flag.
func (o *Order) Set(s string) error {
	if orders[Order(s)] == nil {
		return fmt.Errorf("must be calls, bytes, size, peak, temporary or live")
	}
	*o = Order(s)
	return nil
}

func (o *Order) String() string { return string(*o) }

// Type names the values of the flag in its help.
func (o *Order) Type() string { return "calls|bytes|size|peak|temporary|live" }

// Rank returns the sites of a profile in an order; unless all is set, without
// what libc allocated on its own account.
func Rank(p *profile.Profile, all bool, by Order) []*profile.Site {
	sites := slices.Clone(p.Sites)
	if !all {
		sites = sites[:0]
		for _, s := range p.Sites {
			if rest := s.Without(profile.OriginLibc); rest != nil {
				sites = append(sites, rest)
			}
		}
	}
	value := orders[by]
	if value == nil {
		value = orders[ByCalls]
	}
	slices.SortStableFunc(sites, func(a, b *profile.Site) int { return cmp.Compare(value(b), value(a)) })
	return sites
}
