// Package analyze tells what is true of a site: only what the recording
// proves, each as a fact with its figure.
package analyze

import (
	"mallow/internal/profile"
)

// Kind of a fact.
type Kind int

const (
	Temporary     Kind = iota // Share of the blocks freed with nothing allocated in between
	ShortLived                // Share freed within the thread's next 32 heap events
	NeverFreed                // no block was released
	OneSize                   // every block had Bytes
	SmallBlocks               // no block had more than Bytes
	FreedByOthers             // Share of the releases that another thread made
	Regrown                   // Share of the blocks that a realloc took over
	Failed                    // Count calls returned no block
)

// Fact is something that the recording proves of a site.
type Fact struct {
	Kind  Kind
	Share float64 // 0..1
	Bytes uint64
	Count uint64
}

// Shares below notable are not worth a word.
const notable = 0.5

// small is the size up to which a fixed array on the stack is the first thing
// to think of.
const small = 64

// Facts returns what is true of a site, the most telling first.
func Facts(s *profile.Site) []Fact {
	c := &s.Counters
	var facts []Fact
	share := func(kind Kind, part, whole uint64) bool {
		if whole == 0 || float64(part) < notable*float64(whole) {
			return false
		}
		facts = append(facts, Fact{Kind: kind, Share: float64(part) / float64(whole)})
		return true
	}
	if !share(Temporary, c.Temporary, c.Calls) {
		share(ShortLived, c.ShortLived, c.Calls)
	}
	if c.Calls > 0 && c.Releases == 0 {
		facts = append(facts, Fact{Kind: NeverFreed})
	}
	switch {
	case c.Calls > 1 && c.SizeMin == c.SizeMax:
		facts = append(facts, Fact{Kind: OneSize, Bytes: c.SizeMax})
	case c.Calls > 1 && c.SizeMax <= small:
		facts = append(facts, Fact{Kind: SmallBlocks, Bytes: c.SizeMax})
	}
	share(Regrown, c.ByRealloc, c.Calls)
	share(FreedByOthers, c.Foreign, c.Releases)
	if c.Failed > 0 {
		facts = append(facts, Fact{Kind: Failed, Count: c.Failed})
	}
	return facts
}
