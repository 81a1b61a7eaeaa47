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
	byFrame := make(map[Frame]*Part)
	byPosition := make(map[position]*Part)
	var callers []*Part
	for i, st := range part.stacks {
		at := p.outside(part.at[i])
		if at.node == root {
			continue
		}
		caller := byPosition[at]
		if caller == nil {
			frame := p.frames.placeOf(at.node).frames[at.index]
			if caller = byFrame[frame]; caller == nil {
				caller = &Part{Site: &Site{Frame: frame}, Way: append(slices.Clone(part.Way), frame)}
				byFrame[frame] = caller
				callers = append(callers, caller)
			}
			byPosition[at] = caller
		}
		caller.Counters.Add(st.counters)
		caller.stacks = append(caller.stacks, st)
		caller.at = append(caller.at, at)
	}
	for _, caller := range callers {
		caller.Origin = caller.commonOrigin()
	}
	slices.SortFunc(callers, func(a, b *Part) int { return compareSites(a.Site, b.Site) })
	return callers
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

// Through returns the calls of a part that went through a wrapper whose
// function matches, on the way from the site inwards to the allocator; nil
// where none did.
func (p *Profile) Through(part *Part, match func(function string) bool) *Part {
	through := &Part{Site: &Site{Frame: part.Frame}, Way: part.Way}
	decided := make(map[node]bool)
	for i, st := range part.stacks {
		matches, known := decided[st.leaf]
		if !known {
			matches = p.goesThrough(st.leaf, match)
			decided[st.leaf] = matches
		}
		if matches {
			through.Counters.Add(st.counters)
			through.stacks = append(through.stacks, st)
			through.at = append(through.at, part.at[i])
		}
	}
	if len(through.stacks) == 0 {
		return nil
	}
	through.Origin = through.commonOrigin()
	return through
}

func (p *Profile) goesThrough(leaf node, match func(function string) bool) bool {
	site := p.accepted(p.sites.node(leaf))
	for n := p.frames.known(leaf); n != root; n = p.frames.parent(n) {
		for i, f := range p.frames.placeOf(n).frames {
			if (position{n, i}) == site {
				return false
			}
			if f.Function != "" && match(f.Function) {
				return true
			}
		}
	}
	return false
}

// outerStacks bounds how many stacks Outer looks at, the most frequent ones.
const outerStacks = 1000

// Outer returns the functions outwards of the part's last frame, wrappers left
// out, that at least a share of its calls came through, the nearest first:
// each as the frame that most of them have of it.
func (p *Profile) Outer(part *Part, share float64) []Frame {
	order := make([]int, len(part.stacks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(part.stacks[b].counters.Calls, part.stacks[a].counters.Calls)
	})
	order = order[:min(len(order), outerStacks)]
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
				f = &outerFunction{last: -1, frames: make(map[Frame]uint64)}
				outer[key] = f
			}
			if f.last == number {
				continue // recursion
			}
			f.last = number
			f.calls += calls
			f.depth += depth * calls
			f.frames[*frame] += calls
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

type outerFunction struct {
	calls, depth uint64 // depth is weighed by calls
	last         int    // the stack that was counted last
	frames       map[Frame]uint64
}

func (f *outerFunction) frame() (most Frame) {
	for frame, calls := range f.frames {
		if best := f.frames[most]; calls > best || calls == best && frame.compare(&most) < 0 {
			most = frame
		}
	}
	return most
}
