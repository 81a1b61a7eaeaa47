package json

import (
	"time"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// knowledge are the keys of a site that tell what is usual of it. Counts are
// estimates where a stack has more than 32 calls; nothing known is null.
type knowledge struct {
	PeakBlocks     *uint64    `json:"peak_blocks"`
	Waste          uint64     `json:"waste"`
	Foreign        uint64     `json:"foreign"`
	SizeCommon     *sizeShare `json:"size_common"`
	Runs           *runs      `json:"runs"`
	PartnerAtBirth *placed    `json:"partner_at_birth"`
	PartnerAtDeath *placed    `json:"partner_at_death"`
	FreedBy        *placed    `json:"freed_by"`
	Lifetime       []uint64   `json:"lifetime"`
	Reallocs       *reallocs  `json:"reallocs"`
	Threads        *uint64    `json:"threads"`
	FirstS         *float64   `json:"first_s"`
	LastS          *float64   `json:"last_s"`
	LastFreedS     *float64   `json:"last_freed_s"`
}

type sizeShare struct {
	Bytes    uint64  `json:"bytes"`
	ShareMin float64 `json:"share_min"`
	ShareMax float64 `json:"share_max"`
}

type runs struct {
	Count   uint64 `json:"count"`
	Longest uint64 `json:"longest"`
}

// placed is a site or a caller, and bounds of the share that goes to it.
type placed struct {
	frame
	ShareMin float64 `json:"share_min"`
	ShareMax float64 `json:"share_max"`
}

type reallocs struct {
	Resized     uint64 `json:"resized"`
	Grown       uint64 `json:"grown"`
	Shrunk      uint64 `json:"shrunk"`
	Moved       uint64 `json:"moved"`
	BytesCopied uint64 `json:"bytes_copied"`
	Chained     uint64 `json:"chained"`
}

type nullCaller struct {
	frame
	Calls uint64 `json:"calls"`
}

func knowledgeKeys(c *recording.Counters, k *profile.Knowledge) knowledge {
	keys := knowledge{
		PeakBlocks:     k.PeakBlocks,
		Foreign:        c.Foreign,
		PartnerAtBirth: placedKeys(k.BornAfter),
		PartnerAtDeath: placedKeys(k.FreedAfter),
		FreedBy:        placedKeys(k.FreedBy),
		FirstS:         seconds(k.First),
		LastS:          seconds(k.Last),
		LastFreedS:     seconds(k.LastDeath),
	}
	if c.UsableBytes > c.Bytes {
		keys.Waste = c.UsableBytes - c.Bytes
	}
	if size := k.Size; size != nil {
		keys.SizeCommon = &sizeShare{Bytes: size.Size, ShareMin: shareOf(size.Least, size), ShareMax: shareOf(size.Most, size)}
	}
	if k.Threads > 0 {
		keys.Threads = &k.Threads
		keys.Runs = &runs{Count: k.Runs, Longest: k.LongestRun}
		r := reallocs(k.Reallocs)
		keys.Reallocs = &r
	}
	for i, n := range k.Lifetimes {
		if n > 0 {
			keys.Lifetime = append(keys.Lifetime, make([]uint64, i+1-len(keys.Lifetime))...)
			keys.Lifetime[i] = n
		}
	}
	return keys
}

func placedKeys(c *profile.Common) *placed {
	if c == nil {
		return nil
	}
	return &placed{frame: frameKeys(&c.Frame), ShareMin: shareOf(c.Least, c), ShareMax: shareOf(c.Most, c)}
}

func shareOf(part uint64, of *profile.Common) float64 {
	if of.OutOf == 0 {
		return 0
	}
	return min(1, float64(part)/float64(of.OutOf))
}

func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}

func nullCallerKeys(p *profile.Profile) []nullCaller {
	keys := []nullCaller{}
	for _, c := range p.FreeNullCallers() {
		keys = append(keys, nullCaller{frame: frameKeys(&c.Frame), Calls: c.Counters.Calls})
	}
	return keys
}
