package profile

import "mallow/internal/recording"

// Namer names single stacks of recordings: for those who meet stacks one by
// one, such as the log. It may be used by one goroutine at a time.
type Namer struct {
	forest *forest
	frames *frameTable
	sites  *search
}

// StackRef is a stack of an image, by its node.
type StackRef struct {
	Image *recording.Image
	Node  uint32 // id of the innermost frame
}

// NewNamer makes a namer for the stacks of recordings.
func NewNamer(recordings []*recording.Recording, o Options) *Namer {
	forest := newForest(recordings)
	frames := newFrameTable(forest, newPlaces(o.Symbolizer, forest.images))
	return &Namer{forest, frames, newSiteSearch(frames, newWrappers(o.Wrappers))}
}

// Sites returns the site of each of the stacks: the first frame that is no
// wrapper; the zero Frame for what has none. Many at once are found much
// faster than one by one.
func (n *Namer) Sites(stacks []StackRef) []Frame {
	leaves := n.leaves(stacks)
	n.sites.prepare(leaves)
	sites := make([]Frame, len(stacks))
	for i, leaf := range leaves {
		if at := n.sites.node(leaf); at != root {
			sites[i] = *n.sites.frame(at)
		}
	}
	return sites
}

// Stacks returns the frames of each of the stacks, innermost first.
func (n *Namer) Stacks(stacks []StackRef) [][]Frame {
	leaves := n.leaves(stacks)
	n.frames.nameStacks(leaves)
	all := make([][]Frame, len(stacks))
	for i, leaf := range leaves {
		all[i] = n.frames.stackFrames(leaf)
	}
	return all
}

func (n *Namer) leaves(stacks []StackRef) []node {
	leaves := make([]node, len(stacks))
	for i, s := range stacks {
		leaves[i] = n.forest.find(s.Image, s.Node)
	}
	return leaves
}
