package profile

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/recording"
)

// CPU is where the CPU time of the processes went, by samples. Times are ns.
// What libmallow used to record is told apart and in none of the others.
type CPU struct {
	Interval  uint64 // between two samples of a thread, as asked for; the longest of all processes
	Samples   uint64 // with their stack
	Lost      uint64 // whose stack could not be stored
	Total     uint64 // program and allocator
	Allocator uint64 // part of Total: malloc, free and their family
	Recorder  uint64 // libmallow's, to capture and count
	Sampler   uint64 // the samples themselves
	LostTime  uint64
	// Process is what the sampled processes used in all: threads without
	// samples and times with the signal blocked included.
	Process uint64
	// Used is what the whole family used as far as the first process waited for
	// it, processes without an image, exec and exit included; 0 unknown.
	Used uint64
	// Truncated is the part of Total whose stack could not be followed to the
	// start of its thread.
	Truncated   uint64
	NoTimer     uint64 // threads that got no timer
	SignalTaken uint64 // processes that handled the signal themselves
	Functions   []CPUFunction
	// Callers are the functions, no wrappers, that called the allocator.
	Callers []CPUFunction
}

// CPUFunction is the time of one function: its own, and with what it called.
type CPUFunction struct {
	Function, Module string
	Flat, Cum        uint64
}

// CPU returns nil where no process was sampled, and of a profile that is
// restricted to some stacks or threads.
func (p *Profile) CPU() *CPU {
	if p.Restricted() {
		return nil
	}
	c := cpuTimes{profile: p, frames: p.frames}
	var result CPU
	for _, process := range p.Processes {
		im := process.Image
		if im.CPUInterval == 0 {
			continue
		}
		result.Interval = max(result.Interval, im.CPUInterval)
		result.Process += im.CPUProcess
		c.add(im, &result)
	}
	if result.Interval == 0 {
		return nil
	}
	result.Used = p.UsedCPU()
	c.name()
	c.sum()
	result.Allocator = c.allocatorTime()
	result.Functions = c.functions()
	result.Callers = c.callers()
	return &result
}

// UsedCPU is the CPU time in ns that the kernel told when they had ended; 0 where
// it is not known of all of them, or some were left out.
func (p *Profile) UsedCPU() (used uint64) {
	if len(p.Restriction.Processes) > 0 {
		return 0
	}
	for _, rec := range p.Recordings {
		seconds, known := rec.CPUSeconds()
		if !known {
			return 0
		}
		used += uint64(seconds * 1e9)
	}
	return used
}

// cpuTimes adds up samples over the forest.
type cpuTimes struct {
	profile *Profile
	frames  *frameTable
	leaves  []cpuLeaf
	// Of each node:
	within []uint64 // time of the node and all that lie inwards
	own    []uint64 // time of the node itself
	heap   []node   // plus 1: the outermost of the allocator's frames that the node is within; 0 for none
}

type cpuLeaf struct {
	node node
	time uint64
}

func (c *cpuTimes) add(im *recording.Image, result *CPU) {
	for _, s := range im.CPUSamples() {
		switch s.Part {
		case recording.CPURecorder:
			result.Recorder += s.Nanoseconds
			continue
		case recording.CPUSampler:
			result.Sampler += s.Nanoseconds
			continue
		case recording.CPUNoTimer:
			result.NoTimer += s.Samples
			continue
		case recording.CPUSignalTaken:
			result.SignalTaken++
			continue
		}
		leaf := c.profile.forest.find(im, s.Node)
		if s.Part == recording.CPUNoRoom || leaf == root {
			result.Lost += s.Samples
			result.LostTime += s.Nanoseconds
			continue
		}
		result.Samples += s.Samples
		result.Total += s.Nanoseconds
		if c.profile.forest.truncated[leaf] {
			result.Truncated += s.Nanoseconds
		}
		c.leaves = append(c.leaves, cpuLeaf{leaf, s.Nanoseconds})
	}
}

func (c *cpuTimes) name() {
	leaves := make([]node, len(c.leaves))
	for i, l := range c.leaves {
		leaves[i] = l.node
	}
	c.frames.nameStacks(leaves)
}

// sum relies on a node's parent having a smaller number than the node.
func (c *cpuTimes) sum() {
	nodes := len(c.profile.forest.parent)
	c.own, c.within, c.heap = make([]uint64, nodes), make([]uint64, nodes), make([]node, nodes)
	for _, l := range c.leaves {
		c.own[l.node] += l.time
		c.within[l.node] += l.time
	}
	for n := nodes - 1; n >= 0; n-- {
		if up := c.profile.forest.parent[n]; up != root {
			c.within[up] += c.within[n]
		}
	}
	for n := range nodes {
		if c.within[n] == 0 {
			continue
		}
		if up := c.profile.forest.parent[n]; up != root && c.heap[up] != 0 {
			c.heap[n] = c.heap[up]
		} else if c.frames.known(node(n)) != root && isAllocator(c.frames.placeOf(node(n))) {
			c.heap[n] = node(n) + 1
		}
	}
}

// isAllocator tells whether the code is libmallow's: of the library, or of a
// program that it is linked into. Not of a place without a name: in a damaged
// recording a stack may go on behind its end.
func isAllocator(p *place) bool {
	if len(p.frames) == 0 {
		return false
	}
	outermost := &p.frames[len(p.frames)-1]
	return strings.HasPrefix(filepath.Base(outermost.Module), "libmallow.") ||
		strings.HasPrefix(outermost.Function, "mallow::") || strings.Contains(outermost.Function, " mallow::api::")
}

func (c *cpuTimes) allocatorTime() (time uint64) {
	for _, l := range c.leaves {
		if c.heap[l.node] != 0 {
			time += l.time
		}
	}
	return time
}

type cpuKey struct{ function, module string }

// keys are the functions of a node, inlined ones first. All that is within
// the allocator goes by the name of the function that was called; nil for
// nodes further in than its first frame.
func (c *cpuTimes) keys(n node) []cpuKey {
	frames := c.frames.placeOf(n).frames
	if c.heap[n] != 0 {
		if c.heap[n] != n+1 {
			return nil
		}
		outermost := &frames[len(frames)-1]
		return []cpuKey{{allocatorName(outermost.Function), outermost.Module}}
	}
	keys := make([]cpuKey, len(frames))
	for i := range frames {
		keys[i] = cpuKey{frames[i].Function, frames[i].Module}
	}
	return keys
}

// functions walks the tree from the roots inwards; a function that is on the
// stack already has counted what lies within.
func (c *cpuTimes) functions() []CPUFunction {
	children := make([][]node, len(c.within)+1) // of node+1
	for n := range c.within {
		if c.within[n] > 0 {
			up := c.profile.forest.parent[n] + 1
			children[up] = append(children[up], node(n))
		}
	}
	byKey := make(map[cpuKey]*CPUFunction)
	active := make(map[*CPUFunction]int)
	type step struct {
		node    node
		entered []*CPUFunction
		next    int
		leaf    *CPUFunction // what the time of nodes without keys counts for
	}
	stack := []step{{node: root}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(children[top.node+1]) {
			for _, f := range top.entered {
				active[f]--
			}
			stack = stack[:len(stack)-1]
			continue
		}
		n := children[top.node+1][top.next]
		top.next++
		in := step{node: n, leaf: top.leaf}
		if c.frames.known(n) != root {
			for i, key := range c.keys(n) {
				f := byKey[key]
				if f == nil {
					f = &CPUFunction{Function: key.function, Module: key.module}
					byKey[key] = f
				}
				if active[f] == 0 {
					f.Cum += c.within[n]
				}
				active[f]++
				in.entered = append(in.entered, f)
				if i == 0 {
					in.leaf = f
				}
			}
		}
		if in.leaf != nil {
			in.leaf.Flat += c.own[n]
		}
		stack = append(stack, in)
	}
	return sorted(byKey)
}

// callers are the first frames outside of the allocator that are no wrappers.
func (c *cpuTimes) callers() []CPUFunction {
	byKey := make(map[cpuKey]*CPUFunction)
	for frame, time := range c.callerTimes() {
		key := cpuKey{frame.Function, frame.Module}
		if byKey[key] == nil {
			byKey[key] = &CPUFunction{Function: key.function, Module: key.module}
		}
		byKey[key].Flat += time
		byKey[key].Cum += time
	}
	return sorted(byKey)
}

// callerTimes are their times by line.
func (c *cpuTimes) callerTimes() map[Frame]uint64 {
	times := make(map[node]uint64)
	for _, l := range c.leaves {
		if outermost := c.heap[l.node]; outermost != 0 {
			if up := c.frames.parent(outermost - 1); up != root {
				times[up] += l.time
			}
		}
	}
	nodes := make([]node, 0, len(times))
	for n := range times {
		nodes = append(nodes, n)
	}
	search := c.profile.sites
	search.prepare(nodes)
	byFrame := make(map[Frame]uint64)
	for n, time := range times {
		byFrame[*search.frame(search.node(n))] += time
	}
	return byFrame
}

// MeasureCPU gives every site the CPU time that calls of malloc and free there
// took, as far as samples tell.
func (p *Profile) MeasureCPU() {
	c := cpuTimes{profile: p, frames: p.frames}
	for _, process := range p.Processes {
		c.add(process.Image, new(CPU))
	}
	c.name()
	c.sum()
	times := c.callerTimes()
	for _, site := range p.Sites {
		site.CPU = times[site.Frame]
	}
}

func sorted(byKey map[cpuKey]*CPUFunction) []CPUFunction {
	list := make([]CPUFunction, 0, len(byKey))
	for _, f := range byKey {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b CPUFunction) int {
		return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cum, a.Cum),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.Module, b.Module))
	})
	return list
}

// entries are the functions of libmallow that a call of the malloc family
// ends up in, by what their names begin with.
var entries = []struct{ prefix, name string }{
	{"ReallocToNothing", "realloc"}, {"Realloc", "realloc"}, {"Malloc", "malloc"}, {"Calloc", "calloc"},
	{"FreeSized", "free"}, {"Free", "free"}, {"NewAligned", "operator new"}, {"New", "operator new"}, {"Aligned", "aligned_alloc"},
}

// hits are the functions that a recorded call ends up in, by a jump, when
// little is to be done. Those of malloc are made for Function::kMalloc, 1,
// those of realloc(NULL) for 3, the others for the forms of operator new.
var hits = []struct{ prefix, name string }{
	{"record::HitAllocateZeroed", "calloc"},
	{"record::HitAllocate<(mallow::record::Function)1>", "malloc"},
	{"record::HitAllocate<(mallow::record::Function)3>", "realloc"},
	{"record::HitAllocate<", "operator new"},
	{"record::HitReallocate", "realloc"},
	{"record::HitRelease", "free"}, {"record::ReleaseRarer", "free"}, {"record::ReleaseNull", "free"},
	{"record::FlushDeath", "free"}, {"record::ReleaseElsewhere", "free"}, {"record::ReleaseAfterPeak", "free"}, {"heap::FreeOfClass", "free"},
}

// allocatorName is the public name of a function of libmallow.
func allocatorName(function string) string {
	_, within, _ := strings.Cut(function, "mallow::")
	within = strings.Replace(within, "(anonymous namespace)::", "", 1)
	for _, hit := range hits {
		if strings.HasPrefix(within, hit.prefix) {
			return hit.name
		}
	}
	_, inside, found := strings.Cut(function, "mallow::api::")
	if !found {
		return function
	}
	inside = strings.TrimPrefix(inside, "(anonymous namespace)::")
	for _, way := range []string{"Slow", "Other", "Recorded", "Sampled"} {
		rest, ok := strings.CutPrefix(inside, way)
		if !ok {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(rest, e.prefix) {
				return e.name
			}
		}
	}
	return function
}
