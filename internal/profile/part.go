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
	ats := make([]position, len(part.stacks))
	last, lastCaller := position{node: root}, int32(-1) // neighbours often have the same
	for i := range part.stacks {
		at := p.outside(part.at[i])
		ats[i], callerOf[i] = at, -1
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
		caller.stacks, caller.at = make([]stack, 0, stacks[i]), make([]position, 0, stacks[i])
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
	return p.only(part, func(leaf node) bool { return p.goesThrough(leaf, match) })
}

// Calling returns the calls of a part where the function that the line itself
// called, the outermost wrapper, matches; nil where there are none.
func (p *Profile) Calling(part *Part, match func(function string) bool) *Part {
	return p.only(part, func(leaf node) bool {
		called := ""
		p.goesThrough(leaf, func(function string) bool {
			called = function
			return false
		})
		return called != "" && match(called)
	})
}

// only returns the calls through wrappers from leaves of which something
// holds; nil for none.
func (p *Profile) only(part *Part, holds func(leaf node) bool) *Part {
	rest := &Part{Site: &Site{Frame: part.Frame}, Way: part.Way}
	decided := make(map[node]bool)
	for i, st := range part.stacks {
		if st.leaf == root || p.sites.node(st.leaf) == st.leaf && p.sites.index(st.leaf) == 0 {
			continue // no wrapper: so are most, and a look-up would cost more
		}
		keep, known := decided[st.leaf]
		if !known {
			keep = holds(st.leaf)
			decided[st.leaf] = keep
		}
		if keep {
			rest.Counters.Add(st.counters)
			rest.stacks = append(rest.stacks, st)
			rest.at = append(rest.at, part.at[i])
		}
	}
	if len(rest.stacks) == 0 {
		return nil
	}
	rest.Origin = rest.commonOrigin()
	return rest
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
func mostFrequentStacks(stacks []stack, most int) []int {
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
