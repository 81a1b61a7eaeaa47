package json

import "mallow/internal/profile"

// merged says what several recordings were put together from.
type merged struct {
	Recordings       int       `json:"recordings"`
	Sampled          int       `json:"sampled"`
	Programs         []string  `json:"programs"`
	LeastAllocations uint64    `json:"least_allocations"` // of a recording, without libc's own
	MostAllocations  uint64    `json:"most_allocations"`
	Rebuilt          []rebuilt `json:"rebuilt"`
}

// rebuilt is a program of which several builds were recorded.
type rebuilt struct {
	Name   string `json:"name"`
	Builds int    `json:"builds"`
}

func mergedKeys(p *profile.Profile) *merged {
	m := p.Merged()
	if m == nil {
		return nil
	}
	keys := &merged{
		Recordings: m.Recordings, Sampled: m.Sampled, Programs: append([]string{}, m.Programs...),
		LeastAllocations: m.Least, MostAllocations: m.Most, Rebuilt: []rebuilt{},
	}
	for _, b := range m.Rebuilt {
		keys.Rebuilt = append(keys.Rebuilt, rebuilt(b))
	}
	return keys
}
