package json

import (
	"mallow/internal/analyze"
	"mallow/internal/profile"
)

// moment is a point of the timeline.
type moment struct {
	AtS         float64  `json:"at_s"`
	Allocations uint64   `json:"allocations"`
	Releases    uint64   `json:"releases"`
	LiveBlocks  int64    `json:"live_blocks"`
	LiveBytes   int64    `json:"live_bytes"`
	Stacks      uint64   `json:"stacks"`
	Changed     []change `json:"changed"`
}

type change struct {
	frame
	Bytes int64 `json:"bytes"`
}

type phase struct {
	Name        string  `json:"name"`
	FromS       float64 `json:"from_s"`
	ToS         float64 `json:"to_s"`
	Allocations uint64  `json:"allocations"`
	Releases    uint64  `json:"releases"`
	LiveBlocks  int64   `json:"live_blocks"`
	LiveBytes   int64   `json:"live_bytes"`
}

func timelineKeys(moments []profile.Moment) []moment {
	keys := make([]moment, 0, len(moments))
	for _, m := range moments {
		k := moment{
			AtS: m.At.Seconds(), Allocations: m.Allocations, Releases: m.Releases,
			LiveBlocks: m.LiveBlocks, LiveBytes: m.LiveBytes, Stacks: m.Stacks, Changed: []change{},
		}
		for i := range m.Changes {
			k.Changed = append(k.Changed, change{frameKeys(&m.Changes[i].Frame), m.Changes[i].Bytes})
		}
		keys = append(keys, k)
	}
	return keys
}

// phaseKeys returns null where the phases cannot be told apart.
func phaseKeys(moments []profile.Moment) []phase {
	var keys []phase
	for _, p := range analyze.Phases(moments) {
		keys = append(keys, phase{
			Name: p.Name, FromS: p.From.Seconds(), ToS: p.To.Seconds(), Allocations: p.Allocations, Releases: p.Releases,
			LiveBlocks: p.LiveBlocks, LiveBytes: p.LiveBytes,
		})
	}
	return keys
}
