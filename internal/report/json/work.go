package json

import "mallow/internal/profile"

// region is a named kind of work. frees are those made inside, live_bytes what
// was allocated inside and not freed, live_change_bytes by how much live bytes
// grew from entry to end; of a sampled recording frees and live_change_bytes are
// not known: null.
type region struct {
	Name                string       `json:"name"`
	Entries             uint64       `json:"entries"`
	Inside              uint64       `json:"inside"`
	Allocations         uint64       `json:"allocations"`
	Bytes               uint64       `json:"bytes"`
	Frees               *uint64      `json:"frees"`
	PeakBytes           uint64       `json:"peak_bytes"`
	LiveBlocks          uint64       `json:"live_blocks"`
	LiveBytes           uint64       `json:"live_bytes"`
	LiveChangeBytes     *int64       `json:"live_change_bytes"`
	Temporary           uint64       `json:"temporary"`
	ShortLived          uint64       `json:"short_lived"`
	Failed              uint64       `json:"failed"`
	AllocationsPerEntry *float64     `json:"allocations_per_entry"`
	BytesPerEntry       *float64     `json:"bytes_per_entry"`
	Sites               []regionSite `json:"sites"`
}

type regionSite struct {
	frame
	Origin      string `json:"origin"`
	Allocations uint64 `json:"allocations"`
	Bytes       uint64 `json:"bytes"`
	LiveBytes   uint64 `json:"live_bytes"`
}

type unit struct {
	Name                   string   `json:"name"`
	Function               bool     `json:"function"`
	Count                  uint64   `json:"count"`
	Allocations            uint64   `json:"allocations"`
	Bytes                  uint64   `json:"bytes"`
	AllocationsPerUnit     *float64 `json:"allocations_per_unit"`
	BytesPerUnit           *float64 `json:"bytes_per_unit"`
	LibcAllocationsPerUnit *float64 `json:"libc_allocations_per_unit"`
}

func regionKeys(p *profile.Profile) []region {
	regions := make([]region, 0, len(p.Regions))
	for _, r := range p.Regions {
		all, own := r.Totals(true), r.Totals(false)
		keys := region{
			Name: r.Name, Entries: r.Entries, Inside: r.Inside,
			Allocations: all.Allocations, Bytes: all.Bytes, Frees: r.Frees, PeakBytes: all.PeakBytes,
			LiveBlocks: all.LiveBlocks, LiveBytes: all.LiveBytes, LiveChangeBytes: r.LiveChangeBytes,
			Temporary: all.Temporary, ShortLived: all.ShortLived, Failed: all.Failed,
			AllocationsPerEntry: quotient(own.Allocations, r.Entries), BytesPerEntry: quotient(own.Bytes, r.Entries),
			Sites: make([]regionSite, 0, len(r.Sites)),
		}
		for _, s := range r.Sites {
			keys.Sites = append(keys.Sites, regionSite{
				frame: frameKeys(&s.Frame), Origin: s.Origin.String(),
				Allocations: s.Counters.Calls, Bytes: s.Counters.Bytes, LiveBytes: uint64(s.Counters.LiveBytes()),
			})
		}
		regions = append(regions, keys)
	}
	return regions
}

func unitKeys(p *profile.Profile) []unit {
	units := make([]unit, 0, len(p.Units))
	for _, u := range p.Units {
		units = append(units, unitKey(u))
	}
	return units
}

func unitKey(u *profile.Unit) unit {
	return unit{
		Name: u.Name, Function: u.Function, Count: u.Count,
		Allocations: u.Allocations + u.LibcAllocations, Bytes: u.Bytes + u.LibcBytes,
		AllocationsPerUnit: quotient(u.Allocations, u.Count), BytesPerUnit: quotient(u.Bytes, u.Count),
		LibcAllocationsPerUnit: quotient(u.LibcAllocations, u.Count),
	}
}

// quotient is null where there is nothing to divide by.
func quotient(part, whole uint64) *float64 {
	if whole == 0 {
		return nil
	}
	q := float64(part) / float64(whole)
	return &q
}
