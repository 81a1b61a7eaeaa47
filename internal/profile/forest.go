package profile

import (
	"path/filepath"
	"strings"

	"mallow/internal/recording"
)

// node is a frame in the forest of all images' stacks. A node's parent has a
// smaller number than the node.
type node int32

// root is no frame: the end of every stack.
const root node = -1

// forest numbers the nodes of all images in one row, so that what is known
// of a node can be kept in plain slices.
type forest struct {
	images    []*recording.Image
	base      map[*recording.Image]node // number of an image's first own node
	first     []node                    // base of images[i]
	parent    []node
	truncated []bool // the stack from the node outwards is cut
	regions   map[regionKey][]string
	stacks    map[*recording.Image]*recording.Index // numbers in one row with those of all images, by id
}

// number gives a stack the next number.
func (f *forest) number(s *stack, n int) {
	of := f.stacks[s.image]
	if of == nil {
		of = new(recording.Index)
		f.stacks[s.image] = of
	}
	s.number = int32(n)
	of.Set(s.id, int32(n))
}

// numberOf returns -1 for a stack that counted nothing, or was left out.
func (f *forest) numberOf(im *recording.Image, id uint32) int32 {
	return f.stacks[im].At(id)
}

type regionKey struct {
	image *recording.Image
	id    uint32
}

// stack is one stack of one process.
type stack struct {
	leaf     node   // the caller of function
	id       uint32 // of the stack in its image
	number   int32  // among all stacks that allocate
	function recording.Function
	origin   Origin
	within   *[]string // the regions that it was called in, the innermost first; nil for none
	counters *recording.Counters
	image    *recording.Image
}

func (s *stack) regions() []string {
	if s.within == nil {
		return nil
	}
	return *s.within
}

// pointers returns where the stacks are.
func pointers(stacks []stack) []*stack {
	at := make([]*stack, len(stacks))
	for i := range stacks {
		at[i] = &stacks[i]
	}
	return at
}

// stackPath is what stacks in several regions have in common.
type stackPath struct {
	leaf     node
	function recording.Function
}

func newForest(recordings []*recording.Recording) *forest {
	f := numberForest(recordings)
	f.link()
	return f
}

// numberForest makes a forest that is not linked yet.
func numberForest(recordings []*recording.Recording) *forest {
	f := &forest{base: make(map[*recording.Image]node), regions: make(map[regionKey][]string), stacks: make(map[*recording.Image]*recording.Index)}
	nodes := node(0)
	for _, rec := range recordings {
		for _, im := range rec.Images {
			nodes = f.add(im, nodes)
		}
	}
	f.parent, f.truncated = make([]node, nodes), make([]bool, nodes)
	return f
}

// add numbers the nodes of an image, from base on, after those of its parents,
// in which its stacks go on. It returns the next number.
func (f *forest) add(im *recording.Image, base node) node {
	if _, done := f.base[im]; done {
		return base
	}
	if im.Parent != nil {
		base = f.add(im.Parent, base)
	}
	f.base[im] = base
	f.images = append(f.images, im)
	f.first = append(f.first, base)
	return base + node(len(im.OwnNodes()))
}

// link finds the parents of all nodes.
func (f *forest) link() {
	for k, im := range f.images {
		nodes, base := im.OwnNodes(), f.first[k]
		parents, truncated := f.parent[base:][:len(nodes)], f.truncated[base:][:len(nodes)]
		for i := range nodes {
			n, parent := &nodes[i], root
			switch {
			case n.Parent == 0:
			case n.Parent >= im.ParentNodes:
				parent = base + node(n.Parent-im.ParentNodes)
			default:
				parent = f.find(im, n.Parent)
			}
			parents[i] = parent
			truncated[i] = f.isCut(n, parent, im)
		}
	}
}

// isCut tells whether the stack lacks frames outside the node.
func (f *forest) isCut(n *recording.Node, parent node, im *recording.Image) bool {
	if parent == root {
		return n.Tag() == recording.TagTruncated || n.Parent != 0
	}
	return f.truncated[parent] && !isProcessStart(n, im)
}

// isProcessStart tells whether the node is the dynamic loader's first
// instructions, where the kernel starts the process. They have no unwind
// information, but nothing is outside of them.
func isProcessStart(n *recording.Node, im *recording.Image) bool {
	if !hasModule(n) || n.Parent == 0 {
		return false
	}
	outer, _ := im.Node(n.Parent)
	m := im.Module(n.Extra)
	return outer.Tag() == recording.TagTruncated && outer.Value() == recording.NoUnwindInformation &&
		m != nil && m.Kind == recording.ModuleLibc && isLoader(m.Path)
}

// isLoader tells the file of glibc's dynamic loader.
func isLoader(path string) bool { return strings.HasPrefix(filepath.Base(path), "ld-linux") }

// find returns the number of an image's node; root for node 0 and for one
// that no file has.
func (f *forest) find(im *recording.Image, id uint32) node {
	_, holder := im.Node(id)
	if holder == nil || id == 0 {
		return root
	}
	return f.base[holder] + node(id-holder.ParentNodes)
}

// at returns a node as the recording has it, and the image that holds it.
func (f *forest) at(n node) (recording.Node, *recording.Image) {
	low, high := 0, len(f.first)
	for high-low > 1 {
		if middle := (low + high) / 2; f.first[middle] <= n {
			low = middle
		} else {
			high = middle
		}
	}
	im := f.images[low]
	return im.OwnNodes()[n-f.first[low]], im
}

// stack looks up a stack of an image. One that is not in the file is as one
// that was not recorded.
func (f *forest) stack(im *recording.Image, id uint32, c *recording.Counters) stack {
	s := stack{leaf: root, counters: c, image: im, id: id}
	tail, holder := im.Node(im.StackNode(id))
	if holder == nil || tail.Tag() != recording.TagFunction {
		return s
	}
	s.function = tail.Function()
	if region := tail.Region(); region != 0 {
		names := f.regionNames(holder, region)
		s.within = &names
	}
	caller, holder := holder.Node(tail.Parent)
	if holder == nil || tail.Parent == 0 {
		return s
	}
	s.leaf = f.base[holder] + node(tail.Parent-holder.ParentNodes)
	s.origin = originOfCaller(caller, holder)
	return s
}

// origin tells on whose account the frame calls.
func (f *forest) origin(caller node) Origin { return originOfCaller(f.at(caller)) }

func originOfCaller(n recording.Node, im *recording.Image) Origin {
	switch n.Tag() {
	case recording.TagReturn, recording.TagInterrupted:
		if m := im.Module(n.Extra); m != nil {
			return originOf(m.Kind)
		}
	case recording.TagSymbolic:
		if frame, ok := im.SymbolicFrame(n.Value()); ok {
			return symbolicOrigin(frame)
		}
	}
	return OriginProgram
}

func hasModule(n *recording.Node) bool {
	return n.Tag() == recording.TagReturn || n.Tag() == recording.TagInterrupted
}

// regionNames returns the names of a region and of those around it.
func (f *forest) regionNames(im *recording.Image, id uint32) []string {
	if id == 0 {
		return nil
	}
	key := regionKey{im, id}
	names, known := f.regions[key]
	if !known {
		names = im.RegionNames(id)
		f.regions[key] = names
	}
	return names
}
