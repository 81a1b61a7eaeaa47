package profile

import (
	"cmp"
	"slices"
)

// Part is the calls of a site that came one way. Its Frame is the last of the
// way.
type Part struct {
	*Site
	Way []Frame // the site, who called it, who called that; without wrappers

	at []position // of each stack: where the last frame of the way is
}

// position is a frame of the forest: of those inlined at a node one.
type position struct {
	node  node
	index int
}

// Whole returns each of the sites as the part that it begins as.
func (p *Profile) Whole(sites []*Site) []*Part {
	parts := make([]*Part, len(sites))
	for i, site := range sites {
		parts[i] = &Part{Site: site, Way: []Frame{site.Frame}, at: make([]position, len(site.stacks))}
		for k, st := range site.stacks {
			parts[i].at[k] = p.accepted(p.sites.node(st.leaf))
		}
	}
	return parts
}

// accepted is the position of the frame of a node that the search accepts.
func (p *Profile) accepted(n node) position {
	if n == root {
		return position{node: root}
	}
	frames := p.frames.placeOf(n).frames
	if i := p.sites.index(n); i >= 0 {
		return position{n, i}
	}
	return position{n, len(frames) - 1}
}

// Split divides each of the parts by who called it, the most frequent first.
// Calls whose stack is known no further are left out.
func (p *Profile) Split(parts []*Part) [][]*Part {
	var outside []node
	for _, part := range parts {
		for _, at := range part.at {
			if at.node != root {
				outside = append(outside, p.forest.parent[at.node])
			}
		}
	}
	p.sites.prepare(outside)
	split := make([][]*Part, len(parts))
	for i, part := range parts {
		split[i] = p.byCaller(part)
	}
	return split
}

func (p *Profile) byCaller(part *Part) []*Part {
	byFrame := make(map[Frame]int32)
	byPosition := make(map[position]int32)
	var callers []*Part
	var stacks []int // of each caller
	callerOf := make([]int32, len(part.stacks))
	ats := p.outsideAll(part.at)
	last, lastCaller := position{node: root}, int32(-1) // neighbours often have the same
	for i, at := range ats {
		callerOf[i] = -1
		if at.node == root {
			continue
		}
		caller := lastCaller
		if at != last {
			var known bool
			if caller, known = byPosition[at]; !known {
				frame := p.frames.placeOf(at.node).frames[at.index]
				if caller, known = byFrame[frame]; !known {
					caller = int32(len(callers))
					callers = append(callers, &Part{Site: &Site{Frame: frame}, Way: append(slices.Clone(part.Way), frame)})
					stacks = append(stacks, 0)
					byFrame[frame] = caller
				}
				byPosition[at] = caller
			}
			last, lastCaller = at, caller
		}
		callerOf[i] = caller
		stacks[caller]++
	}
	for i, caller := range callers {
		caller.stacks, caller.at = make([]*stack, 0, stacks[i]), make([]position, 0, stacks[i])
	}
	for i := range part.stacks {
		if callerOf[i] < 0 {
			continue
		}
		caller := callers[callerOf[i]]
		caller.Counters.Add(part.stacks[i].counters)
		caller.stacks = append(caller.stacks, part.stacks[i])
		caller.at = append(caller.at, ats[i])
	}
	for _, caller := range callers {
		caller.Origin = caller.commonOrigin()
	}
	slices.SortFunc(callers, func(a, b *Part) int { return compareSites(a.Site, b.Site) })
	return callers
}

// outsideAll returns the next frame outwards of each position.
func (p *Profile) outsideAll(at []position) []position {
	const atOnce = 4096
	next := make([]position, len(at))
	together(allWorkers(), (len(at)+atOnce-1)/atOnce, func(chunk func() (int, bool)) {
		for k, ok := chunk(); ok; k, ok = chunk() {
			for i := k * atOnce; i < min(len(at), (k+1)*atOnce); i++ {
				next[i] = p.outside(at[i])
			}
		}
	})
	return next
}

// outside returns the next frame outwards that is no wrapper.
func (p *Profile) outside(at position) position {
	if at.node == root {
		return at
	}
	frames := p.frames.placeOf(at.node).frames
	for i := at.index + 1; i < len(frames); i++ {
		if p.sites.accept(&frames[i]) {
			return position{at.node, i}
		}
	}
	up := p.frames.parent(at.node)
	if up == root {
		return position{node: root}
	}
	return p.accepted(p.sites.node(up))
}

// outerStacks bounds how many stacks Outer looks at, the most frequent ones.
const outerStacks = 1000

// Outer returns the functions outwards of the part's last frame, wrappers left
// out, that at least a share of its calls came through, the nearest first:
// each as the frame that most of them have of it.
func (p *Profile) Outer(part *Part, share float64) []Frame {
	order := mostFrequentStacks(part.stacks, outerStacks)
	leaves := make([]node, len(order))
	for i, k := range order {
		leaves[i] = part.stacks[k].leaf
	}
	p.frames.nameStacks(leaves)

	outer := make(map[cpuKey]*outerFunction)
	var all uint64
	for number, k := range order {
		calls := part.stacks[k].counters.Calls
		all += calls
		depth := uint64(0)
		for at := p.outside(part.at[k]); at.node != root; at = p.outside(at) {
			depth++
			frame := &p.frames.placeOf(at.node).frames[at.index]
			key := cpuKey{frame.Function, frame.Module}
			f := outer[key]
			if f == nil {
				f = &outerFunction{last: -1, frames: make(map[*Frame]uint64)}
				outer[key] = f
			}
			if f.last == number {
				continue // recursion
			}
			f.last = number
			f.calls += calls
			f.depth += depth * calls
			f.frames[frame] += calls
		}
	}
	var list []*outerFunction
	for _, f := range outer {
		if f.calls > 0 && float64(f.calls) >= share*float64(all) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *outerFunction) int {
		frameA, frameB := a.frame(), b.frame()
		return cmp.Or(cmp.Compare(a.depth/a.calls, b.depth/b.calls), frameA.compare(&frameB))
	})
	frames := make([]Frame, len(list))
	for i, f := range list {
		frames[i] = f.frame()
	}
	return frames
}

// mostFrequentStacks returns the indexes of those with most calls, of equal
// ones the first.
func mostFrequentStacks(stacks []*stack, most int) []int {
	var least, equal uint64
	if len(stacks) > most {
		calls := make([]uint64, len(stacks))
		for i := range stacks {
			calls[i] = stacks[i].counters.Calls
		}
		slices.Sort(calls)
		calls = calls[len(calls)-most:]
		least = calls[0]
		for ; equal < uint64(most) && calls[equal] == least; equal++ {
		}
	}
	order := make([]int, 0, min(most, len(stacks)))
	for i := range stacks {
		calls := stacks[i].counters.Calls
		switch {
		case len(stacks) <= most || calls > least:
			order = append(order, i)
		case calls == least && equal > 0:
			equal--
			order = append(order, i)
		}
	}
	return order
}

type outerFunction struct {
	calls, depth uint64            // depth is weighed by calls
	last         int               // the stack that was counted last
	frames       map[*Frame]uint64 // the same one may have several places
}

func (f *outerFunction) frame() (most Frame) {
	byFrame := make(map[Frame]uint64, len(f.frames))
	for frame, calls := range f.frames {
		byFrame[*frame] += calls
	}
	for frame, calls := range byFrame {
		if best := byFrame[most]; calls > best || calls == best && frame.compare(&most) < 0 {
			most = frame
		}
	}
	return most
}
