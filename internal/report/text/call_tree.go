package text

import (
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/term"
)

const (
	treeLines     = 40   // shown unless Top says otherwise
	callerLines   = 8    // of each site
	leastBranch   = 0.01 // of all, less is left out
	leastCaller   = 0.05 // of a site
	chainNames    = 4    // of functions that do nothing but call the next
	deepestBranch = 24
	longestChain  = 1000
)

// WriteTree prints the call tree, outermost first, down to the sites.
func WriteTree(w io.Writer, p *profile.Profile, o Options) error {
	r := newReport(p, o)
	r.sites = analyze.Rank(p, o.All, o.Sort)
	above := r.part(r.headline, r.restriction, r.sampling)
	t := newCallTree(r)
	below := r.part(r.ending)
	lines := o.Top
	if lines == 0 {
		lines = len(t.tree.Nodes)
	}
	if o.Height > 0 {
		lines = max(fewestSites, min(lines, o.Height-len(above)-len(below)-5))
	}
	r.lines = above
	r.line("")
	r.treeTitle("tree of calls, outermost first; where one stands behind another, all but less than 1 % goes on")
	r.joint = " > "
	trunk := &call{weight: t.whole, parts: []portion{{node: -1, weight: t.whole}}}
	g := &grower{grow: t.inwards, least: leastOf(t.whole, leastBranch), left: lines}
	g.run(trunk)
	g.lines = t.lines
	r.drawCalls(g, trunk, t.whole)
	r.pruned(g)
	r.lines = append(r.lines, below...)
	return r.print(w)
}

// WriteCallers prints the sites with the tree of those who call them, from the
// site outwards.
func WriteCallers(w io.Writer, p *profile.Profile, o Options) error {
	r := newReport(p, o)
	r.sites = analyze.Rank(p, o.All, o.Sort)
	above := r.part(r.headline, r.restriction, r.sampling)
	t := newCallTree(r)
	below := r.part(r.ending)
	shown := r.sites
	if o.Top > 0 && len(shown) > o.Top {
		shown = shown[:o.Top]
	}
	r.joint = " <- "
	r.lines = above
	for i, site := range shown {
		weight := t.order.Value(site)
		if weight == 0 {
			break
		}
		r.line("")
		if i == 0 {
			r.treeTitle("site, and who calls it")
		}
		function, where := siteName(site)
		r.line(r.cut(r.treeRow(weight, t.whole) + r.style.bold(function) + "  " + r.style.place(where)))
		if line := r.source.line(&site.Frame); line != "" {
			r.line(r.cut(r.blankRow() + "  " + line))
		}
		trunk := &call{weight: weight, parts: t.ofSite[i], frames: []*profile.Frame{&site.Frame}}
		g := &grower{grow: t.outwards, least: leastOf(weight, leastCaller), left: callerLines}
		g.run(trunk)
		r.drawCalls(g, trunk, weight)
	}
	r.line("")
	r.line(r.cut(r.style.dim(r.blankRow() + "callers with less than 5 % of a site are left out, and those beyond 8 lines")))
	r.lines = append(r.lines, below...)
	return r.print(w)
}

func leastOf(whole uint64, share float64) uint64 { return max(1, uint64(float64(whole)*share)) }

// callTree has the weights of all nodes by the order that sites are sorted by.
type callTree struct {
	tree     *profile.Tree
	order    analyze.Order
	whole    uint64
	within   []uint64 // of a node and all further in
	own      []uint64 // of a node alone
	children [][]int32
	roots    []int32
	ofSite   [][]portion // where the stacks of each site end
	key      []int32     // of each frame: the same for all lines of a function
}

// portion is a node of the tree with what of it belongs to a branch.
type portion struct {
	node   int32
	weight uint64
}

// branchOrder is what callers are weighed by: the order of sites, as far as it
// is known of a part of a site and adds up.
func (r *report) branchOrder() analyze.Order {
	switch r.options.Sort {
	case analyze.BySize, analyze.ByCPU, "":
		return analyze.ByCalls
	}
	return r.options.Sort
}

// newCallTree cuts the stacks at their sites: what is further in are wrappers.
func newCallTree(r *report) *callTree {
	t := &callTree{tree: r.profile.Tree(r.sites), order: r.branchOrder()}
	frameOf := make(map[profile.Frame]int32, len(t.tree.Frames))
	t.key = make([]int32, len(t.tree.Frames))
	keys := make(map[[2]string]int32)
	for i := range t.tree.Frames {
		f := &t.tree.Frames[i]
		frameOf[*f] = int32(i)
		name := [2]string{f.Function, f.Module}
		if _, known := keys[name]; !known {
			keys[name] = int32(i)
		}
		t.key[i] = keys[name]
	}
	siteFrame := make([]int32, len(r.sites))
	ends := make([]map[int32]uint64, len(r.sites))
	for i, site := range r.sites {
		at, known := frameOf[site.Frame]
		if !known {
			at = -1
		}
		siteFrame[i], ends[i] = at, make(map[int32]uint64)
	}
	t.within, t.own = make([]uint64, len(t.tree.Nodes)), make([]uint64, len(t.tree.Nodes))
	for i := range t.tree.Stacks {
		s := &t.tree.Stacks[i]
		weight := t.order.Value(&profile.Site{Counters: *s.Counters})
		t.whole += weight
		end := s.Node
		for end >= 0 && t.tree.Nodes[end].Frame != siteFrame[s.Site] && t.tree.Nodes[end].Parent >= 0 {
			end = t.tree.Nodes[end].Parent
		}
		if weight > 0 {
			ends[s.Site][end] += weight
		}
		if end >= 0 {
			t.within[end] += weight
			t.own[end] += weight
		}
	}
	t.ofSite = make([][]portion, len(r.sites))
	for i, weights := range ends {
		t.ofSite[i] = sortedParts(weights)
	}
	t.children = make([][]int32, len(t.tree.Nodes))
	for n := len(t.tree.Nodes) - 1; n >= 0; n-- {
		if t.within[n] == 0 {
			continue
		}
		if up := t.tree.Nodes[n].Parent; up >= 0 {
			t.within[up] += t.within[n]
			t.children[up] = append(t.children[up], int32(n))
		} else {
			t.roots = append(t.roots, int32(n))
		}
	}
	return t
}

func sortedParts(weights map[int32]uint64) []portion {
	parts := make([]portion, 0, len(weights))
	for node, weight := range weights {
		parts = append(parts, portion{node, weight})
	}
	slices.SortFunc(parts, func(a, b portion) int { return cmp.Compare(a.node, b.node) })
	return parts
}

// call is a function in a tree as it is shown, or a row of functions each of
// which does nothing but call the next.
type call struct {
	frames   []*profile.Frame
	weight   uint64
	own      uint64 // that ends here
	parts    []portion
	children []*call
	shown    []*call
}

// inwards groups what the nodes of a branch call; node -1 stands for all.
// Functions that start programs and threads are stepped over.
func (t *callTree) inwards(b *call) {
	byKey := make(map[int32]*call)
	below := uint64(0)
	var waiting []int32
	for _, p := range b.parts {
		if p.node < 0 {
			waiting = append(waiting, t.roots...)
		} else {
			waiting = append(waiting, t.children[p.node]...)
		}
	}
	for len(waiting) > 0 {
		n := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		frame := t.tree.Nodes[n].Frame
		if len(t.children[n]) > 0 && profile.IsStart(t.tree.Frames[frame].Function) {
			waiting = append(waiting, t.children[n]...)
			continue
		}
		child := t.child(b, byKey, frame)
		child.weight += t.within[n]
		child.parts = append(child.parts, portion{n, t.within[n]})
		below += t.within[n]
	}
	at := uint64(0)
	for _, p := range b.parts {
		at += p.weight
	}
	b.own = at - min(at, below)
	sortCalls(b.children)
}

// outwards groups who calls the nodes of a branch.
func (t *callTree) outwards(b *call) {
	byKey := make(map[int32]*call)
	for _, p := range b.parts {
		up := int32(-1)
		if p.node >= 0 {
			up = t.tree.Nodes[p.node].Parent
		}
		if up < 0 || profile.IsStart(t.tree.Frames[t.tree.Nodes[up].Frame].Function) {
			b.own += p.weight
			continue
		}
		child := t.child(b, byKey, t.tree.Nodes[up].Frame)
		child.weight += p.weight
		child.parts = append(child.parts, portion{up, p.weight})
	}
	sortCalls(b.children)
}

func (t *callTree) child(b *call, byKey map[int32]*call, frame int32) *call {
	key := t.key[frame]
	child := byKey[key]
	if child == nil {
		child = &call{frames: []*profile.Frame{&t.tree.Frames[key]}}
		byKey[key] = child
		b.children = append(b.children, child)
	}
	return child
}

func sortCalls(calls []*call) {
	slices.SortFunc(calls, compareWeight)
}

func compareWeight(a, b *call) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.name(), b.name()),
		cmp.Compare(a.frames[0].Module, b.frames[0].Module))
}

func (b *call) name() string { return b.frames[0].Function }

// grower chooses the heaviest branches, which are as many as there are lines.
type grower struct {
	grow            func(b *call)
	least           uint64
	left            int
	waiting         callHeap
	lines           func(b *call) []ownLine // nil: they are not shown
	crowded         bool                    // some had no line, though they are worth one
	omitted         uint64                  // branches
	omittedHeaviest uint64
}

func (g *grower) run(trunk *call) {
	g.grow(trunk)
	parent := map[*call]*call{}
	push := func(of *call) {
		for _, child := range of.children {
			parent[child] = of
			heap.Push(&g.waiting, child)
		}
	}
	for push(trunk); len(g.waiting) > 0; {
		b := heap.Pop(&g.waiting).(*call)
		if b.weight < g.least || g.left == 0 {
			g.omitted++
			g.omittedHeaviest = max(g.omittedHeaviest, b.weight)
			g.crowded = g.crowded || b.weight >= g.least
			continue
		}
		g.left--
		parent[b].shown = append(parent[b].shown, b)
		g.followChain(b)
		push(b)
	}
}

// followChain joins functions that do hardly anything but call one other: what
// else they do would not be shown.
func (g *grower) followChain(b *call) {
	for g.grow(b); len(b.children) > 0; g.grow(b) {
		heaviest := b.children[0]
		if lost := b.weight - heaviest.weight; lost > 0 && lost >= g.least || len(b.frames) >= longestChain {
			return
		}
		if len(b.children) > 1 {
			g.omitted += uint64(len(b.children) - 1)
			g.omittedHeaviest = max(g.omittedHeaviest, b.children[1].weight)
		}
		b.frames = append(b.frames, heaviest.frames...)
		b.parts, b.children, b.own = heaviest.parts, nil, 0
	}
}

type callHeap []*call

func (h callHeap) Len() int           { return len(h) }
func (h callHeap) Less(i, j int) bool { return compareWeight(h[i], h[j]) < 0 }
func (h callHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *callHeap) Push(x any)        { *h = append(*h, x.(*call)) }
func (h *callHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// drawCalls draws what is shown of a tree. share is of whole.
func (r *report) drawCalls(g *grower, trunk *call, whole uint64) {
	var draw func(b *call, indent string, depth int)
	draw = func(b *call, indent string, depth int) {
		for i, child := range b.shown {
			mark, further := "├ ", "│ "
			if i == len(b.shown)-1 {
				mark, further = "└ ", "  "
			}
			if depth == 0 && g.isForest(trunk) {
				mark, further = "", ""
			}
			r.line(r.cut(r.treeRow(child.weight, whole) + r.style.dim(indent+mark) + r.callName(child, b) + r.ownShare(g, child)))
			if depth < deepestBranch {
				draw(child, indent+further, depth+1)
			} else {
				draw(child, indent, depth+1)
			}
		}
	}
	draw(trunk, "", 0)
}

// isForest tells whether the first functions stand at the margin.
func (g *grower) isForest(trunk *call) bool { return len(trunk.parts) == 1 && trunk.parts[0].node < 0 }

func (r *report) callName(b, outer *call) string {
	names := make([]string, 0, chainNames)
	module := ""
	if len(outer.frames) > 0 {
		module = outer.frames[len(outer.frames)-1].Module
	}
	for i, f := range b.frames {
		if len(b.frames) > chainNames && i >= chainNames/2 && i < len(b.frames)-chainNames/2 {
			if i == chainNames/2 {
				names = append(names, r.style.dim(fmt.Sprintf("(%d more)", len(b.frames)-chainNames)))
			}
			module = f.Module
			continue
		}
		name := r.style.bold(shortName(f.Function))
		if f.Module != module && f.Module != "" && !strings.HasPrefix(f.Function, path.Base(f.Module)+"+") {
			name += r.style.place(" in " + term.Safe(path.Base(f.Module)))
		}
		module = f.Module
		names = append(names, name)
	}
	return strings.Join(names, r.style.dim(r.joint))
}

// ownShare tells what a branch with further ones has for itself, and on which
// lines it allocates.
func (r *report) ownShare(g *grower, b *call) string {
	const most = 2
	if b.own == 0 || g.lines == nil {
		return ""
	}
	text := ""
	if len(b.children) > 0 {
		text = "  " + r.about(r.weight(b.own)) + " itself"
	}
	lines := g.lines(b)
	if len(lines) == 0 {
		return r.style.dim(text)
	}
	names := make([]string, 0, most+1)
	for i, line := range lines {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(lines)-most))
			break
		}
		name := r.style.place(place(line.frame))
		if len(lines) > 1 {
			name += " (" + r.about(r.weight(line.weight)) + ")"
		}
		names = append(names, name)
	}
	return r.style.dim(text) + "  " + strings.Join(names, ", ")
}

// ownLine is a line of code that allocates in a branch.
type ownLine struct {
	frame  *profile.Frame
	weight uint64
}

// lines returns those of a branch, the heaviest first; none without debug
// information.
func (t *callTree) lines(b *call) (lines []ownLine) {
	at := make(map[int32]int)
	for _, p := range b.parts {
		if p.node < 0 || t.own[p.node] == 0 {
			continue
		}
		frame := t.tree.Nodes[p.node].Frame
		if t.tree.Frames[frame].Line == 0 {
			continue
		}
		i, known := at[frame]
		if !known {
			i = len(lines)
			at[frame] = i
			lines = append(lines, ownLine{frame: &t.tree.Frames[frame]})
		}
		lines[i].weight += t.own[p.node]
	}
	slices.SortStableFunc(lines, func(a, b ownLine) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.frame.File, b.frame.File), cmp.Compare(a.frame.Line, b.frame.Line))
	})
	return lines
}

func (r *report) treeTitle(of string) {
	title := string(r.options.Sort)
	switch r.options.Sort {
	case analyze.BySize, analyze.ByCPU, "":
		title = string(analyze.ByCalls)
	case analyze.ByPeak:
		title = "at peak"
	}
	r.line(r.cut(r.style.dim(r.treeCells(title, "share") + of)))
}

func (r *report) treeRow(weight, whole uint64) string {
	return r.treeCells(r.about(r.weight(weight)), percent(weight, whole))
}

func (r *report) blankRow() string { return r.treeCells("", "") }

func (r *report) treeCells(weight, share string) string {
	return fmt.Sprintf("%*s %6s  ", r.callsWidth(), weight, share)
}

// weight writes what the tree is of.
func (r *report) weight(n uint64) string {
	switch r.options.Sort {
	case analyze.ByBytes, analyze.ByPeak, analyze.ByLive, analyze.ByWaste:
		return size(n)
	}
	return count(n)
}

func (r *report) pruned(g *grower) {
	if g.omitted == 0 {
		return
	}
	how := fmt.Sprintf("less than %.0f %%", 100*leastBranch)
	if g.crowded {
		how = "--top N shows more lines"
	}
	r.line(r.style.dim(r.blankRow() + fmt.Sprintf("%s left out, of %s at the most: %s",
		counted(g.omitted, "branch", "branches"), r.weight(g.omittedHeaviest), how)))
}
