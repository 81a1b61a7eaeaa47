package diff

import (
	"cmp"
	"slices"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// joined are the stacks of some sites in both profiles.
type joined struct {
	diff      *Diff
	functions map[string]int32   // numbers of the names by which functions are the same
	lines     map[[2]int32]int32 // see linesTo
	ways      [][]*way           // of each site, those first that changed most
}

// way is a stack of a site, by functions.
type way struct {
	parts              []part // by lines
	oldCalls, newCalls uint64
	old, new           uint64 // figures of the metric that ways are weighed by
}

// part is a stack of one of the profiles.
type part struct {
	tree     *callTree
	node     int32 // innermost; -1 for calls without a stack
	isNew    bool
	counters *recording.Counters
	old, new uint64 // one of them is 0
}

// frames are those of the part of a way that tells most of its change.
func (j *joined) frames(w *way) (frames []profile.Frame) {
	steps := make([]step, len(w.parts))
	for i := range w.parts {
		steps[i] = step{&w.parts[i], w.parts[i].node}
	}
	s := j.diff.telling(steps, func(s step) int32 { return j.linesTo(s.tree, s.at) })
	for n := s.at; n >= 0; n = s.tree.Nodes[n].Parent {
		frames = append(frames, *s.tree.frame(n))
	}
	return frames
}

// callTree is the tree of one profile's stacks, with what is told apart on
// both sides by the same numbers.
type callTree struct {
	*profile.Tree
	functions []int32 // of each frame
	wraps     []bool  // of each frame
	lines     []int32 // of each node, see linesTo; 0 where nobody asked
}

func (t *callTree) frame(n int32) *profile.Frame { return &t.Frames[t.Nodes[n].Frame] }
func (t *callTree) function(n int32) int32       { return t.functions[t.Nodes[n].Frame] }

// site is the first node from n outwards that is no wrapper; -1 for none.
func (t *callTree) site(n int32) int32 {
	for n >= 0 && t.wraps[t.Nodes[n].Frame] {
		n = t.Nodes[n].Parent
	}
	return n
}

// outside is the node that calls n and is neither a wrapper nor the same
// function; -1 for none.
func (t *callTree) outside(n int32) int32 {
	if n < 0 {
		return -1
	}
	out := t.Nodes[n].Parent
	for out >= 0 && (t.wraps[t.Nodes[out].Frame] || t.function(out) == t.function(n)) {
		out = t.Nodes[out].Parent
	}
	return out
}

func (d *Diff) join(sites []*Site) *joined {
	j := &joined{diff: d, functions: make(map[string]int32), lines: make(map[[2]int32]int32), ways: make([][]*way, len(sites))}
	type stackKey struct {
		site int
		path int32
	}
	found := make(map[stackKey]*way)
	paths := make(map[[2]int32]int32)
	add := func(t *callTree, owner []int, isNew bool) {
		path := t.paths(paths)
		for i := range t.Stacks {
			st := &t.Stacks[i]
			k := stackKey{owner[st.Site], path[st.Node+1]}
			w := found[k]
			if w == nil {
				w = &way{}
				found[k] = w
				j.ways[k.site] = append(j.ways[k.site], w)
			}
			if isNew {
				w.newCalls += st.Counters.Calls
			} else {
				w.oldCalls += st.Counters.Calls
			}
			w.parts = append(w.parts, part{tree: t, node: st.Node, isNew: isNew, counters: st.Counters})
		}
	}
	newTree, newOwner := d.treeOf(j, d.New, sites, newPlace, nil)
	add(newTree, newOwner, true)
	oldTree, oldOwner := d.treeOf(j, d.Old, sites, oldPlace, d.renamed())
	add(oldTree, oldOwner, false)
	return j
}

// weighFirst weighs the ways of a site by the first metric of which one of them
// has more or less than before, and returns it: where a buffer became larger,
// or is not freed any more, calls do not tell who asks for it.
func (j *joined) weighFirst(site int, metrics ...Metric) Metric {
	for _, m := range metrics {
		j.weigh(site, m)
		if slices.ContainsFunc(j.ways[site], func(w *way) bool { return j.diff.excessOf(w.old, w.new) != 0 }) {
			return m
		}
	}
	j.weigh(site, metrics[0])
	return metrics[0]
}

// weigh gives the ways of a site their figures of a metric, and puts those
// first that changed most.
func (j *joined) weigh(site int, m Metric) {
	weight := weights[m]
	for _, w := range j.ways[site] {
		w.old, w.new = 0, 0
		for i := range w.parts {
			p := &w.parts[i]
			if p.isNew {
				p.new = weight(p.counters)
			} else {
				p.old = weight(p.counters)
			}
			w.old += p.old
			w.new += p.new
		}
	}
	slices.SortStableFunc(j.ways[site], func(a, b *way) int {
		return cmp.Or(cmp.Compare(distance(b.old, b.new), distance(a.old, a.new)), cmp.Compare(b.old+b.new, a.old+a.new))
	})
}

// weights are what ways are weighed by. What lived at the peak is known of no
// stack of a reference: the bytes requested stand for it.
var weights = map[Metric]func(c *recording.Counters) uint64{
	Allocations: func(c *recording.Counters) uint64 { return c.Calls },
	Bytes:       func(c *recording.Counters) uint64 { return c.Bytes },
	Peak:        func(c *recording.Counters) uint64 { return c.Bytes },
	Live:        func(c *recording.Counters) uint64 { return uint64(c.LiveBytes()) },
}

func oldPlace(s *Site) *Place { return s.Old }
func newPlace(s *Site) *Place { return s.New }

// treeOf returns the tree of the sites on one side, and which of them each
// site of the tree belongs to.
func (d *Diff) treeOf(j *joined, p *profile.Profile, sites []*Site, placeOf func(*Site) *Place, renamed map[string]string) (t *callTree, owner []int) {
	var all []*profile.Site
	for i, s := range sites {
		if place := placeOf(s); place != nil {
			for _, site := range place.Sites {
				all, owner = append(all, site), append(owner, i)
			}
		}
	}
	t = &callTree{Tree: p.Tree(all)}
	t.functions, t.wraps, t.lines = make([]int32, len(t.Frames)), make([]bool, len(t.Frames)), make([]int32, len(t.Nodes))
	for i := range t.Frames {
		f := &t.Frames[i]
		name, known := renamed[f.Function]
		if !known {
			name = d.nameOf(f)
		}
		t.functions[i], t.wraps[i] = j.number(name), p.Wraps(f)
	}
	return t, owner
}

// nameOf is what a function is known by on both sides. Where code without
// symbols was built anew, only its module is.
func (d *Diff) nameOf(f *profile.Frame) string {
	if name, rebuilt := d.rebuilt[f.Module]; rebuilt && !f.Named() {
		return name + "+"
	}
	if name, unnamed := d.unnamed[f.Module]; unnamed {
		return name + "+"
	}
	return stableName(f.Function)
}

func (j *joined) number(name string) int32 {
	n, known := j.functions[name]
	if !known {
		n = int32(len(j.functions))
		j.functions[name] = n
	}
	return n
}

// renamed are the functions of the old profile that have another name in the
// new one.
func (d *Diff) renamed() map[string]string {
	names := make(map[string]string)
	for _, s := range d.Sites {
		if s.Old != nil && s.New != nil && s.Old.Function != s.New.Function {
			names[s.Old.Function] = d.nameOf(&s.New.Frame)
		}
	}
	return names
}

// paths numbers the way from the outermost frame to each node, by functions;
// that of node n is at n+1. A function that calls itself adds nothing.
func (t *callTree) paths(known map[[2]int32]int32) []int32 {
	path := make([]int32, len(t.Nodes)+1)
	for i := range t.Nodes {
		parent, function := t.Nodes[i].Parent, t.function(int32(i))
		if parent >= 0 && t.function(parent) == function {
			path[i+1] = path[parent+1]
			continue
		}
		step := [2]int32{path[parent+1], function}
		if known[step] == 0 {
			known[step] = int32(len(known) + 1)
		}
		path[i+1] = known[step]
	}
	return path
}

// linesTo numbers the way from the outermost frame to a node by its lines. It
// is wanted of few of them.
func (j *joined) linesTo(t *callTree, n int32) int32 {
	if n < 0 {
		return 0
	}
	if t.lines[n] == 0 {
		way := [2]int32{j.linesTo(t, t.Nodes[n].Parent), int32(t.frame(n).Line)}
		if j.lines[way] == 0 {
			j.lines[way] = int32(len(j.lines) + 1)
		}
		t.lines[n] = j.lines[way]
	}
	return t.lines[n]
}
