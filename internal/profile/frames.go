package profile

// frameTable finds frames of the forest by place and by what they are for.
type frameTable struct {
	forest *forest
	places *places
	place  []int32 // of each node, plus 1; 0 before it was asked for
	site   []node  // of each node, plus 1: the node with the site; 0 before it was looked for
}

func newFrameTable(f *forest, p *places) *frameTable {
	return &frameTable{forest: f, places: p, place: make([]int32, len(f.parent)), site: make([]node, len(f.parent))}
}

func (t *frameTable) placeIndex(n node) int32 {
	if t.place[n] == 0 {
		t.place[n] = t.places.find(t.forest.at(n)) + 1
	}
	return t.place[n] - 1
}

func (t *frameTable) placeOf(n node) *place { return &t.places.all[t.placeIndex(n)] }

// parent returns the next frame outwards, root at the end of what is known.
func (t *frameTable) parent(n node) node {
	up := t.forest.parent[n]
	if up == root || t.placeOf(up).end {
		return root
	}
	return up
}

// nameSites names the frames that the search for the sites of these nodes
// comes by: level by level outwards, all nodes of a level at once.
func (t *frameTable) nameSites(nodes []node) {
	queued := make([]bool, len(t.forest.parent))
	for len(nodes) > 0 {
		level := nodes[:0:0]
		var unnamed []int32
		for _, n := range nodes {
			if !queued[n] && !t.placeOf(n).end {
				queued[n] = true
				level = append(level, n)
				if t.placeOf(n).frames == nil {
					unnamed = append(unnamed, t.placeIndex(n))
				}
			}
		}
		t.places.name(unnamed)
		nodes = nodes[:0:0]
		for _, n := range level {
			if up := t.parent(n); t.placeOf(n).site < 0 && up != root {
				nodes = append(nodes, up)
			}
		}
	}
}

// siteNode returns the first node from n outwards with a frame that is no
// wrapper; the outermost node where all are. The frames on the way must have
// been named.
func (t *frameTable) siteNode(n node) node {
	var way []node
	for t.site[n] == 0 {
		way = append(way, n)
		up := t.parent(n)
		if t.placeOf(n).site >= 0 || up == root {
			t.site[n] = n + 1
			break
		}
		n = up
	}
	found := t.site[n] - 1
	for _, passed := range way {
		t.site[passed] = found + 1
	}
	return found
}

// siteFrame returns the frame of a site node: the first that is no wrapper,
// the outermost where all are.
func (t *frameTable) siteFrame(n node) *Frame {
	pl := t.placeOf(n)
	if pl.site < 0 {
		return &pl.frames[len(pl.frames)-1]
	}
	return &pl.frames[pl.site]
}

// caller returns the frame that called the site of a site node, wrappers left
// out; nil where none is known. The frames outside the site node must have
// been named by nameSites.
func (t *frameTable) caller(site node) *Frame {
	pl := t.placeOf(site)
	if pl.site >= 0 {
		if i := t.places.firstNoWrapper(pl.frames[pl.site+1:]); i >= 0 {
			return &pl.frames[pl.site+1+i]
		}
	}
	up := t.parent(site)
	if up == root {
		return nil
	}
	return t.siteFrame(t.siteNode(up))
}

// stackFrames returns all frames of a stack, innermost first.
func (t *frameTable) stackFrames(leaf node) []Frame {
	var frames []Frame
	for n := leaf; n != root; n = t.parent(n) {
		if pl := t.placeOf(n); !pl.end {
			frames = append(frames, pl.frames...)
		}
	}
	return frames
}

// nameStacks names all frames of stacks.
func (t *frameTable) nameStacks(leaves []node) {
	named := make([]bool, len(t.forest.parent))
	var unnamed []int32
	for _, n := range leaves {
		for ; n != root && !named[n]; n = t.parent(n) {
			named[n] = true
			if t.placeOf(n).frames == nil {
				unnamed = append(unnamed, t.placeIndex(n))
			}
		}
	}
	t.places.name(unnamed)
}
