package profile

import (
	"slices"
	"sync/atomic"
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
	accept  func(f *Frame) bool
	found   []atomic.Int32 // of each node, plus 1: the node with the frame; 0 before it was looked for
	indexes []int32        // of each place: what index says, plus firstIndex
	after   []int32        // of each place that was asked for: the next accepted frame in it, plus firstIndex
	// loaded tells that the search does not go on from a library into the dynamic
	// loader, which only starts it.
	loaded bool
}

func newSearch(t *frameTable, accept func(f *Frame) bool) *search {
	s := &search{
		frameTable: t, accept: accept,
		found: make([]atomic.Int32, len(t.forest.parent)), indexes: make([]int32, len(t.places.all)),
		after: make([]int32, len(t.places.all)),
	}
	// Nodes are looked at before they are written: see recording.blocks.
	clear(s.found)
	return s
}

// newSiteSearch makes a search for the first frame that is no wrapper.
func newSiteSearch(t *frameTable, w *wrappers) *search {
	s := newSearch(t, func(f *Frame) bool { return !w.wraps(f) })
	s.loaded = true
	return s
}

// prepare searches from these nodes, so that whoever asks for what was found
// changes nothing any more: several may do so at the same time. It names the
// frames that the search comes by, as many at once as it can.
func (s *search) prepare(from []node) {
	for pending := from; len(pending) > 0; {
		pending = s.waiting(pending)
		unnamed := make([]int32, len(pending))
		for i, n := range pending {
			unnamed[i] = s.placeIndex(n)
		}
		s.places.name(unnamed)
		for _, place := range unnamed {
			s.choose(place)
		}
	}
	inChunks(len(from), func(begin, end int) {
		for _, n := range from[begin:end] {
			s.node(n)
		}
	})
}

// waiting returns the nodes without whose names the searches cannot go on.
func (s *search) waiting(from []node) []node {
	found := make([]node, len(from))
	inChunks(len(from), func(begin, end int) {
		for i, n := range from[begin:end] {
			found[begin+i] = s.unnamed(n)
		}
	})
	return slices.DeleteFunc(found, func(n node) bool { return n == root })
}

// unnamed returns the first node from n outwards without whose name the search
// cannot go on; root where it has come to its end.
func (s *search) unnamed(n node) node {
	for n = s.known(n); n != root && s.found[n].Load() == 0; n = s.parent(n) {
		switch s.indexes[s.placeIndex(n)] {
		case unchosen:
			return n
		case noIndex:
		default:
			return root
		}
	}
	return root
}

// Of places that have no index in search.indexes.
const (
	unchosen = iota
	noIndex
	firstIndex
)

// choose finds out which of the frames of a named place, inlined ones first,
// is accepted.
func (s *search) choose(place int32) {
	if frames := s.places.all[place].frames; s.indexes[place] == unchosen && frames != nil {
		found := slices.IndexFunc(frames, func(f Frame) bool { return s.accept(&f) })
		s.indexes[place] = int32(found + firstIndex)
	}
}

// index returns which of the frames of a node is accepted; -1 for none.
func (s *search) index(n node) int {
	place := s.placeIndex(n)
	s.choose(place)
	return max(-1, int(s.indexes[place])-firstIndex)
}

// chooseAfter finds out which of the frames that were inlined into the place of
// frame(n) is accepted next.
func (s *search) chooseAfter(n node) {
	place, at := s.placeIndex(n), s.index(n)
	if s.after[place] != unchosen {
		return
	}
	s.after[place] = noIndex
	if at < 0 {
		return
	}
	outer := s.places.all[place].frames[at+1:]
	if i := slices.IndexFunc(outer, func(f Frame) bool { return s.accept(&f) }); i >= 0 {
		s.after[place] = int32(at + 1 + i + firstIndex)
	}
}

// node returns the first node from n outwards with an accepted frame; the
// outermost one where there is none, root for root. The search from n must
// have been prepared.
func (s *search) node(n node) node {
	if n = s.known(n); n == root {
		return root
	}
	last := n
	for s.found[last].Load() == 0 {
		up := s.parent(last)
		if up == root || s.index(last) >= 0 || s.loaded && s.isLoaders(up) && !s.isLoaders(last) {
			s.found[last].Store(int32(last) + 1)
			break
		}
		last = up
	}
	found := s.found[last].Load()
	for ; n != last; n = s.parent(n) {
		s.found[n].Store(found)
	}
	return node(found - 1)
}

func (s *search) isLoaders(n node) bool {
	module := s.placeOf(n).module
	return module >= 0 && isLoader(s.places.modules[module].Path)
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
// where the stack ends before. chooseAfter must have been asked for n, and the
// search from its parent must have been prepared: then this changes nothing,
// and several may ask at the same time.
func (s *search) outside(n node) *Frame {
	if i := s.after[s.placeIndex(n)]; i >= firstIndex {
		return &s.placeOf(n).frames[i-firstIndex]
	}
	up := s.parent(n)
	if up == root {
		return nil
	}
	return s.frame(s.node(up))
}
