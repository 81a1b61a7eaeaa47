package recording

import (
	"io"
	"unsafe"
)

// Node is one frame of one or many stacks.
type Node struct {
	frame  uint64
	Parent uint32 // node id, always smaller than the node's own; 0 is the root
	Extra  uint32 // of a frame the module, see Image.Module
}

// Tag says what Value means.
func (n Node) Tag() Tag { return Tag(n.frame >> 56) }

// Value is an address, a function number, a reason or an index, by Tag.
func (n Node) Value() uint64 { return n.frame &^ (0xff << 56) }

// Function is the function that a node with TagFunction stands for, 0 for one
// that this reader does not know.
func (n Node) Function() Function {
	if f := n.frame & 0xffff; f <= uint64(FreeNull) {
		return Function(f)
	}
	return 0
}

// Region is the id of the region in which a node with TagFunction was called,
// 0 for none.
func (n Node) Region() uint32 { return uint32(n.Value() >> 16) }

// SymbolicFrame is a frame of an imported recording.
type SymbolicFrame struct {
	Function, File, Module string
	Line                   uint32
}

// truncatedByDamage replaces a node that cannot be right.
var truncatedByDamage = Node{frame: uint64(TagTruncated)<<56 | 2}

func (im *Image) readNodes(r io.ReaderAt) {
	if _, ok := im.sections[sectionSteps]; ok {
		im.readSteps(r)
		return
	}
	if s := im.sections[sectionNodes]; s.stored > 0 && s.bytes() <= mostUnpacked {
		nodes := make([]Node, s.used)
		if b := bytesOf(nodes); s.unpack(r, b) {
			im.nodes = nodes[:dense(b)/nodeBytes]
			im.warnOfMissing(sectionNodes, int64(len(im.nodes)), nil)
			im.checkNodes()
			return
		}
	}
	used := im.sections[sectionNodes].used
	im.read(r, sectionNodes, func(chunk []byte) {
		from := len(im.nodes)
		im.nodes = room(im.nodes, len(chunk)/nodeBytes, used)
		im.nodes = im.nodes[:from+len(chunk)/nodeBytes]
		copy(bytesOf(im.nodes[from:]), chunk)
	})
	im.checkNodes()
}

const (
	nodeBytes = 16
	// Greater sections are read piece by piece: their files may claim more than
	// they hold.
	mostUnpacked = 256 << 20
)

// bytesOf returns the memory of nodes. They stand in it as they do in a file,
// whose numbers have the order of the machine that is recorded: this one's.
func bytesOf(nodes []Node) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(nodes))), len(nodes)*nodeBytes)
}

// checkNodes replaces what cannot be right, so that following parents ends.
func (im *Image) checkNodes() {
	nodes, id, damaged := im.nodes, uint64(im.ParentNodes), 0
	if id == 0 && len(nodes) > 0 {
		nodes[0] = Node{} // the root, whatever stands there
		nodes, id = nodes[1:], 1
	}
	for i := range nodes {
		if uint64(nodes[i].Parent) >= id+uint64(i) {
			nodes[i] = truncatedByDamage
			damaged++
		}
	}
	if damaged > 0 {
		im.warn("damaged: nodes that point forward, where their stacks are cut: %d", damaged)
	}
}

const (
	stepBytes  = 4
	frameBytes = 8
	headBit    = 1 << 31
)

// readFrames returns the frames that steps lead to, each as a node without a
// parent.
func (im *Image) readFrames(r io.ReaderAt) []Node {
	var frames []Node
	used, damaged := im.sections[sectionFrames].used, 0
	im.read(r, sectionFrames, func(chunk []byte) {
		frames = room(frames, len(chunk)/frameBytes, used)
		for ; len(chunk) >= frameBytes; chunk = chunk[frameBytes:] {
			word := le.Uint64(chunk)
			tag := Tag(word >> 61)
			node := Node{frame: uint64(tag)<<56 | word&(1<<48-1), Extra: uint32(word >> 48 & 0x1fff)}
			if len(frames) > 0 && (word == 0 || tag > TagTruncated) {
				node = truncatedByDamage
				damaged++
			}
			frames = append(frames, node)
		}
	})
	if damaged > 0 {
		im.warn("damaged: frames that were not written, where their stacks are cut: %d", damaged)
	}
	return frames
}

// readSteps makes nodes of the steps: each comes below the one before, or below
// that which the head before it names.
func (im *Image) readSteps(r io.ReaderAt) {
	frames := im.readFrames(r)
	used, first := im.sections[sectionSteps].used, im.ParentNodes
	parent, damaged := uint32(0), 0
	im.read(r, sectionSteps, func(chunk []byte) {
		im.nodes = room(im.nodes, len(chunk)/stepBytes, used)
		for ; len(chunk) >= stepBytes; chunk = chunk[stepBytes:] {
			id, step := first+uint32(len(im.nodes)), le.Uint32(chunk)
			switch below := step &^ headBit; {
			case id == 0: // the root, whatever stands there
				im.nodes = append(im.nodes, Node{})
			case step&headBit != 0:
				im.nodes = append(im.nodes, Node{frame: uint64(TagHead) << 56})
				if below >= id {
					below = 0
					damaged++
				}
				parent = below
				continue
			case step == 0 || int(step) >= len(frames):
				im.nodes = append(im.nodes, truncatedByDamage)
				damaged++
			default:
				node := frames[step]
				node.Parent = parent
				im.nodes = append(im.nodes, node)
			}
			parent = id
		}
	})
	if damaged > 0 {
		im.warn("damaged: steps that lead nowhere, where their stacks are cut: %d", damaged)
	}
}

func (im *Image) readStacks(r io.ReaderAt) {
	used := im.sections[sectionStacks].used
	im.read(r, sectionStacks, func(chunk []byte) {
		im.stacks = room(im.stacks, len(chunk)/4, used)
		for ; len(chunk) >= 4; chunk = chunk[4:] {
			im.stacks = append(im.stacks, le.Uint32(chunk))
		}
	})
}

func (im *Image) readStrings(r io.ReaderAt) {
	im.read(r, sectionStrings, func(chunk []byte) { im.strings = append(im.strings, chunk...) })
}

// text returns a string of the strings section; "" when it lies outside.
func (im *Image) text(offset, length uint32) string {
	if uint64(offset)+uint64(length) > uint64(len(im.strings)) {
		return ""
	}
	return string(im.strings[offset : offset+length])
}

func (im *Image) readSymbolicFrames(r io.ReaderAt) {
	im.read(r, sectionSymbolicFrames, func(chunk []byte) {
		for ; len(chunk) >= 32; chunk = chunk[32:] {
			im.symbolic = append(im.symbolic, SymbolicFrame{
				Function: im.text(le.Uint32(chunk[0:]), le.Uint32(chunk[4:])),
				File:     im.text(le.Uint32(chunk[8:]), le.Uint32(chunk[12:])),
				Module:   im.text(le.Uint32(chunk[16:]), le.Uint32(chunk[20:])),
				Line:     le.Uint32(chunk[24:]),
			})
		}
	})
}

// Node returns a node by its id, which may lie in a parent's file. It returns
// the image that holds the node, and nil when there is no such node.
func (im *Image) Node(id uint32) (Node, *Image) {
	for im != nil && id < im.ParentNodes {
		im = im.Parent
	}
	if im == nil || uint64(id-im.ParentNodes) >= uint64(len(im.nodes)) {
		return Node{}, nil
	}
	return im.nodes[id-im.ParentNodes], im
}

// StackNode returns the innermost node of a stack. The node of stack 0, and
// of a stack that the file lacks, is 0.
func (im *Image) StackNode(id uint32) uint32 {
	for im != nil && id < im.ParentStacks {
		im = im.Parent
	}
	if im == nil || uint64(id-im.ParentStacks) >= uint64(len(im.stacks)) {
		return 0
	}
	return im.stacks[id-im.ParentStacks]
}

// Module returns the module of a frame of this image by the node's Extra; nil
// where none is known.
func (im *Image) Module(extra uint32) *Module {
	if extra == 0 {
		return nil
	}
	id := extra - 1
	for im != nil && id < im.ParentModules {
		im = im.Parent
	}
	if im == nil || uint64(id-im.ParentModules) >= uint64(len(im.modules)) {
		return nil
	}
	return &im.modules[id-im.ParentModules]
}

// SymbolicFrame returns the frame of a node with TagSymbolic that this image
// holds.
func (im *Image) SymbolicFrame(index uint64) (SymbolicFrame, bool) {
	if index >= uint64(len(im.symbolic)) {
		return SymbolicFrame{}, false
	}
	return im.symbolic[index], true
}

// OwnNodes returns the nodes that this image's own file holds, the first of
// them with the id ParentNodes.
func (im *Image) OwnNodes() []Node { return im.nodes }
