package profile

import (
	"math"
	"slices"
)

// frameTable finds frames of the forest by place.
type frameTable struct {
	forest *forest
	places *places
	placed []int32 // of each node; endPlace where the stack ends before it
	named  visits
}

// visits marks nodes, all of them unmarked again at no cost.
type visits struct {
	round  uint32
	rounds []uint32 // of each node, when it was marked last
}

// begin unmarks all of n nodes.
func (v *visits) begin(n int) {
	if v.round++; v.rounds == nil || v.round == 0 {
		v.rounds, v.round = make([]uint32, n), 1
	}
}

// mark tells whether the node was unmarked.
func (v *visits) mark(n node) bool {
	if v.rounds[n] == v.round {
		return false
	}
	v.rounds[n] = v.round
	return true
}

func newFrameTable(f *forest, p *places) *frameTable {
	t := &frameTable{forest: f, places: p, placed: make([]int32, len(f.parent))}
	for i, im := range f.images {
		numbers, nodes := newNumberer(p, im), im.OwnNodes()
		places := t.placed[f.first[i]:][:len(nodes)]
		for k := range nodes {
			places[k] = numbers.of(&nodes[k])
		}
	}
	return t
}

func (t *frameTable) placeIndex(n node) int32 { return t.placed[n] }

func (t *frameTable) placeOf(n node) *place { return &t.places.all[t.placeIndex(n)] }

// known returns n, or root when n is no frame but the mark that a stack was
// cut.
func (t *frameTable) known(n node) node {
	if n == root || t.placed[n] == endPlace {
		return root
	}
	return n
}

// parent returns the next frame outwards, root at the end of what is known.
func (t *frameTable) parent(n node) node { return t.known(t.forest.parent[n]) }

// stackFrames returns all frames of a stack, innermost first.
func (t *frameTable) stackFrames(leaf node) []Frame {
	var frames []Frame
	for n := t.known(leaf); n != root; n = t.parent(n) {
		frames = append(frames, t.placeOf(n).frames...)
	}
	return frames
}

// nameStacks names all frames of stacks.
func (t *frameTable) nameStacks(leaves []node) {
	t.named.begin(len(t.forest.parent))
	var unnamed []int32
	for _, n := range leaves {
		for n = t.known(n); n != root && t.named.mark(n); n = t.parent(n) {
			unnamed = append(unnamed, t.placeIndex(n))
		}
	}
	t.places.name(unnamed)
}

// search finds the first frame from a node outwards that accept takes. Each
// node is looked at once, however many stacks go through it.
type search struct {
	*frameTable
	accept func(f *Frame) bool
	found  []node // of each node, plus 1: the node with the frame; 0 before it was looked for
	// indexes are what index found, of each named place, plus 2; 0 before it was
	// looked for.
	indexes []int16
}

func newSearch(t *frameTable, accept func(f *Frame) bool) *search {
	return &search{frameTable: t, accept: accept, found: make([]node, len(t.forest.parent))}
}

// prepare searches from these nodes, so that whoever asks for what was found
// changes nothing any more: several may do so at the same time. It names the
// frames that the search comes by, as many at once as it can.
func (s *search) prepare(from []node) {
	for pending := from; len(pending) > 0; {
		var waiting []node
		var unnamed []int32
		for _, n := range pending {
			if n = s.unnamed(n); n != root {
				waiting = append(waiting, n)
				unnamed = append(unnamed, s.placeIndex(n))
			}
		}
		s.places.name(unnamed)
		pending = waiting
	}
	for _, n := range from {
		s.node(n)
	}
}

// unnamed returns the first node from n outwards without whose name the search
// cannot go on; root where it has come to its end.
func (s *search) unnamed(n node) node {
	for n = s.known(n); n != root && s.found[n] == 0; n = s.parent(n) {
		switch index := s.index(n); {
		case index >= 0:
			return root
		case s.placeOf(n).frames == nil:
			return n
		}
	}
	return root
}

// index returns which of the frames of a node, inlined ones first, is
// accepted; -1 for none.
func (s *search) index(n node) int {
	place := s.placeIndex(n)
	if s.indexes == nil {
		s.indexes = make([]int16, len(s.places.all))
	}
	if found := s.indexes[place]; found != 0 {
		return int(found) - 2
	}
	frames := s.places.all[place].frames
	found := slices.IndexFunc(frames, func(f Frame) bool { return s.accept(&f) })
	if len(frames) > 0 && len(frames) < math.MaxInt16-2 {
		s.indexes[place] = int16(found + 2)
	}
	return found
}

// node returns the first node from n outwards with an accepted frame; the
// outermost one where there is none, root for root. The search from n must
// have been prepared.
func (s *search) node(n node) node {
	if n = s.known(n); n == root {
		return root
	}
	last := n
	for s.found[last] == 0 {
		up := s.parent(last)
		if up == root || s.index(last) >= 0 {
			s.found[last] = last + 1
			break
		}
		last = up
	}
	found := s.found[last]
	for ; n != last; n = s.parent(n) {
		s.found[n] = found
	}
	return found - 1
}

// frame returns the frame of a node that node returned: the accepted one, the
// outermost where there is none.
func (s *search) frame(n node) *Frame {
	frames := s.placeOf(n).frames
	if i := s.index(n); i >= 0 {
		return &frames[i]
	}
	return &frames[len(frames)-1]
}

// outside returns the first accepted frame outwards of that of frame(n), nil
// where the stack ends before.
func (s *search) outside(n node) *Frame {
	frames := s.placeOf(n).frames
	if at := s.index(n); at >= 0 {
		for i := at + 1; i < len(frames); i++ {
			if s.accept(&frames[i]) {
				return &frames[i]
			}
		}
	}
	up := s.parent(n)
	if up == root {
		return nil
	}
	return s.frame(s.node(up))
}
