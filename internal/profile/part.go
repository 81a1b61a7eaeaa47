package profile

import "slices"

// Part is the calls of a site that came one way. Its Frame is the last of the
// way.
type Part struct {
	*Site
	Way []Frame // the site, who called it, who called that; without wrappers

	at      []position // of each stack: where the last frame of the way is; its place has numbers
	callers []*Part    // see Split; nil before that was asked
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
			at := p.accepted(p.sites.node(st.leaf))
			if at.node != root {
				p.numbers.prepare(p.frames.placeIndex(at.node))
			}
			parts[i].at[k] = at
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
// What a function that starts threads or programs called keeps its own name.
// Calls whose stack is known no further are left out. What it returns is kept
// with the parts, and not to be changed.
func (p *Profile) Split(parts []*Part) [][]*Part {
	whole := slices.DeleteFunc(slices.Clone(parts), func(part *Part) bool { return part.callers != nil })
	p.prepareOutside(whole)
	together(allWorkers(), len(whole), func(next func() (int, bool)) {
		by := divider{profile: p}
		for i, ok := next(); ok; i, ok = next() {
			whole[i].callers = by.caller(whole[i])
		}
	})
	split := make([][]*Part, len(parts))
	for i, part := range parts {
		split[i] = part.callers
	}
	return split
}

// prepareOutside lets outside be asked for the frames of parts by several at
// the same time.
func (p *Profile) prepareOutside(parts []*Part) {
	var nodes []node
	if p.isPrepared == nil {
		p.isPrepared = make([]bool, len(p.forest.parent))
	}
	for _, part := range parts {
		for _, at := range part.at {
			if at.node == root {
				continue
			}
			if up := p.frames.parent(at.node); up != root && !p.isPrepared[up] {
				p.isPrepared[up] = true
				nodes = append(nodes, up)
			}
		}
	}
	p.sites.prepare(nodes)
	for _, n := range nodes {
		p.numbers.prepare(p.frames.placeIndex(p.sites.node(n)))
	}
}

// divider divides parts by who called them.
type divider struct {
	profile *Profile
	// callerOf has of each frame, by its number, the index of the caller plus 1.
	callerOf []int32
}

func (by *divider) caller(part *Part) []*Part {
	if missing := len(by.profile.numbers.frames) - len(by.callerOf); missing > 0 {
		by.callerOf = append(by.callerOf, make([]int32, missing)...)
	}
	callers := []*Part{}
	var numbers, sizes []int32 // of each caller: its frame and how many stacks it has
	next := make([]position, len(part.at))
	callerOf := make([]int32, len(part.at))
	for i, at := range part.at {
		next[i] = by.profile.outside(at)
		if next[i].node == root {
			callerOf[i] = -1
			continue
		}
		number := by.profile.numbers.of(next[i])
		caller := by.callerOf[number] - 1
		if caller < 0 {
			caller = int32(len(callers))
			by.callerOf[number] = caller + 1
			frame, way := *by.profile.numbers.frame(number), slices.Clone(part.Way)
			if IsStart(frame.Function) {
				frame = part.Frame
			} else {
				way = append(way, frame)
			}
			callers = append(callers, &Part{Site: &Site{Frame: frame}, Way: way})
			numbers, sizes = append(numbers, number), append(sizes, 0)
		}
		callerOf[i] = caller
		sizes[caller]++
	}
	for i, caller := range callers {
		by.callerOf[numbers[i]] = 0
		caller.stacks, caller.at = make([]*stack, 0, sizes[i]), make([]position, 0, sizes[i])
	}
	for i, st := range part.stacks {
		if callerOf[i] < 0 {
			continue
		}
		caller := callers[callerOf[i]]
		caller.Counters.Add(st.counters)
		caller.stacks = append(caller.stacks, st)
		caller.at = append(caller.at, next[i])
	}
	for _, caller := range callers {
		caller.describe()
	}
	slices.SortFunc(callers, func(a, b *Part) int { return compareSites(a.Site, b.Site) })
	return callers
}

// outside returns the next frame outwards that is no wrapper. What is outwards
// of it must have been prepared, or have a name.
func (p *Profile) outside(at position) position {
	if at.node == root {
		return at
	}
	if i := p.numbers.siteAfter(at); i >= 0 {
		return position{at.node, i}
	}
	up := p.frames.parent(at.node)
	if up == root {
		return position{node: root}
	}
	return p.accepted(p.sites.node(up))
}

// IsStart tells the functions that call every program or thread and say nothing
// of a site.
func IsStart(function string) bool { return startFunctions[function] }

var startFunctions = names("_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
	"start_thread", "__clone3", "clone3", "call_init", "_dl_init")
