package profile

import (
	"cmp"
	"slices"
)

// Position is where in a module's code a frame stands.
type Position struct {
	ID     int     // the same for the same position, in all stacks
	Frames []Frame // inlined into each other, innermost first; not to be changed
}

// EachStack calls visit with every stack of the sites, in their order and of
// each site the most frequent first, until visit returns an error, which it
// returns. The stack is good until visit returns: so all stacks of a large
// recording can be written in the memory of one.
func (p *Profile) EachStack(sites []*Site, visit func(site *Site, s *Stack) error) error {
	var leaves []node
	for _, site := range sites {
		for i := range site.stacks {
			leaves = append(leaves, site.stacks[i].leaf)
		}
	}
	p.frames.nameStacks(leaves)
	merge := newStackMerger(p)
	var s Stack
	for _, site := range sites {
		all := merge.stacks(site)
		slices.SortStableFunc(all, func(a, b *stack) int { return cmp.Compare(b.counters.Calls, a.counters.Calls) })
		for _, st := range all {
			s = Stack{
				Function: st.function, Allocations: st.counters.Calls, Counters: *st.counters,
				Truncated: st.leaf != root && p.forest.truncated[st.leaf],
				Frames:    s.Frames[:0], Positions: s.Positions[:0],
			}
			for n := p.frames.known(st.leaf); n != root; n = p.frames.parent(n) {
				index := p.frames.placeIndex(n)
				frames := p.frames.places.all[index].frames
				s.Frames = append(s.Frames, frames...)
				s.Positions = append(s.Positions, Position{ID: int(index), Frames: frames})
			}
			if err := visit(site, &s); err != nil {
				return err
			}
		}
	}
	return nil
}
