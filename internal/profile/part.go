package profile

import "slices"

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
