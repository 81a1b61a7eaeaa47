package html

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"mallow/internal/profile"
)

// forest is the call trees of one profile, or of two that are compared, with
// functions and frames that stand once for both.
type forest struct {
	strings   *stringTable
	functions []function
	frames    []frame
	nodes     []profile.TreeNode
	stacks    []stack
	thinned   thinned

	functionAt map[function]int
	frameAt    map[profile.Frame]int
}

type function struct {
	name, module int
	file         int
	wrapper      bool
}

type frame struct {
	function int
	file     int
	line     int
}

type stack struct {
	profile.TreeStack
	side int
}

func newForest(strings *stringTable) *forest {
	return &forest{strings: strings, functionAt: make(map[function]int), frameAt: make(map[profile.Frame]int)}
}

// add appends a tree. Sites are numbered on from firstSite.
func (f *forest) add(tree *profile.Tree, side, firstSite int) {
	frames := make([]int32, len(tree.Frames))
	for i := range tree.Frames {
		frames[i] = int32(f.frame(&tree.Frames[i], tree.Wrappers[i]))
	}
	base := int32(len(f.nodes))
	f.nodes = slices.Grow(f.nodes, len(tree.Nodes))
	for _, n := range tree.Nodes {
		if n.Parent >= 0 {
			n.Parent += base
		}
		n.Frame = frames[n.Frame]
		f.nodes = append(f.nodes, n)
	}
	f.stacks = slices.Grow(f.stacks, len(tree.Stacks))
	for _, s := range tree.Stacks {
		if s.Node >= 0 {
			s.Node += base
		}
		s.Site += int32(firstSite)
		f.stacks = append(f.stacks, stack{s, side})
	}
}

func (f *forest) frame(of *profile.Frame, wrapper bool) int {
	if at, known := f.frameAt[*of]; known {
		return at
	}
	file := f.strings.index(of.File)
	name := of.Function
	if name == "" && of.File != "" { // as imported recordings have it: the line is all that there is
		name = fmt.Sprintf("%s:%d", filepath.Base(of.File), of.Line)
	}
	fn := function{name: f.strings.index(name), module: f.strings.index(of.Module), file: file, wrapper: wrapper}
	at, known := f.functionAt[fn]
	if !known {
		at = len(f.functions)
		f.functions = append(f.functions, fn)
		f.functionAt[fn] = at
	}
	number := len(f.frames)
	f.frames = append(f.frames, frame{at, file, of.Line})
	f.frameAt[*of] = number
	return number
}

// write adds the columns. Stacks come in the order of the tree, so that
// neighbours have numbers close to each other.
func (f *forest) write(c *container) {
	slices.SortStableFunc(f.stacks, func(a, b stack) int {
		return cmp.Or(cmp.Compare(a.side, b.side), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Function, b.Function))
	})
	c.add("function.name", delta, len(f.functions), func(i int) int64 { return int64(f.functions[i].name) })
	c.add("function.module", plain, len(f.functions), func(i int) int64 { return int64(f.functions[i].module) })
	c.add("function.wrapper", plain, len(f.functions), func(i int) int64 { return flag(f.functions[i].wrapper) })
	c.add("frame.function", plain, len(f.frames), func(i int) int64 { return int64(f.frames[i].function) })
	c.add("frame.file", plain, len(f.frames), func(i int) int64 { return int64(f.frames[i].file) })
	c.add("frame.line", plain, len(f.frames), func(i int) int64 { return int64(max(0, f.frames[i].line)) })
	// Mostly 1: a node's parent stands just before it.
	c.add("node.parent", plain, len(f.nodes), func(i int) int64 { return int64(i) - int64(f.nodes[i].Parent) })
	c.add("node.frame", plain, len(f.nodes), func(i int) int64 { return int64(f.nodes[i].Frame) })

	n := len(f.stacks)
	add := func(name string, form form, value func(s *stack) int64) {
		c.add("stack."+name, form, n, func(i int) int64 { return value(&f.stacks[i]) })
	}
	unsigned := func(name string, value func(s *stack) uint64) {
		c.addUnsigned("stack."+name, n, func(i int) uint64 { return value(&f.stacks[i]) })
	}
	add("side", plain, func(s *stack) int64 { return int64(s.side) })
	add("node", delta, func(s *stack) int64 { return int64(s.Node) })
	add("site", plain, func(s *stack) int64 { return int64(s.Site) })
	add("call", plain, func(s *stack) int64 { return int64(s.Function) })
	add("origin", plain, func(s *stack) int64 { return int64(s.Origin) })
	add("cut", plain, func(s *stack) int64 { return flag(s.Truncated) })
	unsigned("calls", func(s *stack) uint64 { return s.Counters.Calls })
	unsigned("failed", func(s *stack) uint64 { return s.Counters.Failed })
	unsigned("bytes", func(s *stack) uint64 { return s.Counters.Bytes })
	unsigned("waste", func(s *stack) uint64 { return s.Counters.UsableBytes - min(s.Counters.Bytes, s.Counters.UsableBytes) })
	unsigned("liveBlocks", func(s *stack) uint64 { return uint64(s.Counters.LiveBlocks()) })
	unsigned("liveBytes", func(s *stack) uint64 { return uint64(s.Counters.LiveBytes()) })
	add("peak", plain, func(s *stack) int64 { return max(0, s.Counters.PeakBytes) })
	unsigned("temporary", func(s *stack) uint64 { return s.Counters.Temporary })
	unsigned("shortLived", func(s *stack) uint64 { return s.Counters.ShortLived })
	unsigned("releases", func(s *stack) uint64 { return s.Counters.Releases })
	unsigned("byRealloc", func(s *stack) uint64 { return s.Counters.ByRealloc })
	unsigned("foreign", func(s *stack) uint64 { return s.Counters.Foreign })
	unsigned("sizeMin", func(s *stack) uint64 { return s.Counters.SizeMin })
	unsigned("sizeMore", func(s *stack) uint64 { return s.Counters.SizeMax - min(s.Counters.SizeMin, s.Counters.SizeMax) })
	unsigned("common", func(s *stack) uint64 { return s.Common })
	unsigned("commonCalls", func(s *stack) uint64 { return s.CommonCalls })
	add("first", plain, func(s *stack) int64 { return moment(s.First) })
	add("last", plain, func(s *stack) int64 { return moment(s.Last) })
	add("lastRelease", plain, func(s *stack) int64 { return moment(s.LastRelease) })
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// moment is a time in milliseconds and one more, so that 0 is one that nobody
// knows.
func moment(at time.Duration) int64 {
	if at < 0 {
		return 0
	}
	return 1 + at.Milliseconds()
}
