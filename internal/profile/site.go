package profile

import (
	"cmp"
	"slices"

	"mallow/internal/recording"
)

// Site is a line of code that allocates: the first frame of its stacks that
// is no wrapper. Two sites differ in module, function, file or line.
type Site struct {
	Frame
	Origin   Origin // of most of its allocations
	Counters recording.Counters
	// AllocatedType is what a group by type allocates; see Group.
	AllocatedType string
	// CPU is the ns that were spent in malloc and free when they were called
	// here, by samples; 0 before Profile.MeasureCPU.
	CPU uint64

	stacks []*stack
	calls  [recording.Groups]uint64
}

// newSites groups stacks by site.
func newSites(search *search, stacks []*stack) []*Site {
	leaves := make([]node, len(stacks))
	for i, st := range stacks {
		leaves[i] = st.leaf
	}
	search.prepare(leaves)

	byFrame := make(map[Frame]int32)
	byPlace := make([]int32, len(search.places.all)) // the site, plus 1; of endPlace that of no place
	var sites []*Site
	var sizes []int // of each site, in stacks
	siteOf := make([]int32, len(stacks))
	for i, st := range stacks {
		at, place := search.node(st.leaf), int32(endPlace)
		if at != root {
			place = search.placeIndex(at)
		}
		site := byPlace[place] - 1
		if site < 0 {
			var frame Frame
			if at != root {
				frame = *search.frame(at)
			}
			var known bool
			if site, known = byFrame[frame]; !known {
				site = int32(len(sites))
				byFrame[frame] = site
				sites, sizes = append(sites, &Site{Frame: frame}), append(sizes, 0)
			}
			byPlace[place] = site + 1
		}
		siteOf[i] = site
		sizes[site]++
	}
	room := make([]*stack, len(stacks))
	for i, site := range sites {
		site.stacks, room = room[:0:sizes[i]], room[sizes[i]:]
	}
	for i, st := range stacks {
		site := sites[siteOf[i]]
		site.stacks = append(site.stacks, st)
	}
	together(allWorkers(), len(sites), func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			sites[i].sum()
		}
	})
	slices.SortFunc(sites, compareSites)
	return sites
}

// sum adds up the stacks.
func (s *Site) sum() {
	for _, st := range s.stacks {
		s.Counters.Add(st.counters)
	}
	s.describe()
}

func compareSites(a, b *Site) int {
	return cmp.Or(
		cmp.Compare(b.Counters.Calls, a.Counters.Calls),
		cmp.Compare(b.Counters.Bytes, a.Counters.Bytes),
		cmp.Compare(a.AllocatedType, b.AllocatedType),
		a.Frame.compare(&b.Frame),
	)
}

func (f *Frame) compare(o *Frame) int {
	return cmp.Or(
		cmp.Compare(f.File, o.File),
		cmp.Compare(f.Line, o.Line),
		cmp.Compare(f.Function, o.Function),
		cmp.Compare(f.Module, o.Module),
	)
}

// describe finds what is told of the site besides the sum of its counters.
func (s *Site) describe() {
	var calls [Origins]uint64
	for _, st := range s.stacks {
		calls[st.origin] += st.counters.Calls
		s.calls[st.function.Group()] += st.counters.Calls
	}
	s.Origin = OriginProgram
	for o := range Origin(Origins) {
		if calls[o] > calls[s.Origin] {
			s.Origin = o
		}
	}
}

// CallsOf returns how many blocks one family of functions returned.
func (s *Site) CallsOf(g recording.Group) uint64 { return s.calls[g] }

// Known tells whether the site is a place in the code. One site may stand for
// the calls whose stack was not recorded.
func (s *Site) Known() bool { return s.Frame != (Frame{}) || s.AllocatedType != "" }

// Without returns the site with the stacks of one origin left out; nil when
// none remains.
func (s *Site) Without(o Origin) *Site {
	return s.part(func(st *stack) bool { return st.origin != o })
}

// Only returns the site with no stacks but those of one origin; nil when it has
// none.
func (s *Site) Only(o Origin) *Site {
	return s.part(func(st *stack) bool { return st.origin == o })
}

func (s *Site) part(keep func(*stack) bool) *Site {
	if !slices.ContainsFunc(s.stacks, func(st *stack) bool { return !keep(st) }) {
		return s
	}
	rest := &Site{Frame: s.Frame, CPU: s.CPU}
	for _, st := range s.stacks {
		if keep(st) {
			rest.stacks = append(rest.stacks, st)
			rest.Counters.Add(st.counters)
		}
	}
	if len(rest.stacks) == 0 {
		return nil
	}
	rest.describe()
	return rest
}

// EachStack visits the stacks of the site, each process's own, with what they
// counted, and with their numbers: below Profile.StackCount.
func (s *Site) EachStack(visit func(number int32, c *recording.Counters)) {
	for _, st := range s.stacks {
		visit(st.number, st.counters)
	}
}

// ModuleOfCalls is the one that all calls of the site were made in, which may be that
// of a wrapper; "" where several were.
func (p *Profile) ModuleOfCalls(s *Site) (module string) {
	for i, st := range s.stacks {
		at := p.frames.known(st.leaf)
		if at == root {
			return ""
		}
		of := p.frames.placeOf(at).frames[0].Module
		if i > 0 && of != module {
			return ""
		}
		module = of
	}
	return module
}

// StackCount returns how many stacks there are, of all processes.
func (p *Profile) StackCount() int { return len(p.partners.of) }

// EachFunction visits the stacks of the site with the function that each
// called.
func (s *Site) EachFunction(visit func(f recording.Function, c *recording.Counters)) {
	for i := range s.stacks {
		visit(s.stacks[i].function, s.stacks[i].counters)
	}
}

// EachCounted visits the stacks of the site with the function that each called,
// what it counted, and what became of the blocks that it was given to resize.
func (s *Site) EachCounted(visit func(f recording.Function, c *recording.Counters, r *recording.Reallocs)) {
	for _, st := range s.stacks {
		reallocs := st.image.Reallocs(st.id)
		visit(st.function, st.counters, &reallocs)
	}
}

// Of returns what the calls of one family of functions counted.
func (s *Site) Of(g recording.Group) recording.Counters {
	var sum recording.Counters
	for i := range s.stacks {
		if s.stacks[i].function.Group() == g {
			sum.Add(s.stacks[i].counters)
		}
	}
	return sum
}

// Caller is a frame that calls a site.
type Caller struct {
	Frame
	Counters recording.Counters
}

// Callers returns for each of the sites who calls it, wrappers left out, the
// most frequent first.
func (p *Profile) Callers(sites []*Site) [][]Caller {
	var outside []node
	last := root // neighbours often have the same
	for _, site := range sites {
		for _, st := range site.stacks {
			if at := p.sites.node(st.leaf); at != last && at != root {
				outside = append(outside, p.forest.parent[at])
				p.sites.chooseAfter(at)
				last = at
			}
		}
	}
	p.sites.prepare(outside)
	return collect(sites, p.sites, func(at node) *Frame {
		if at == root {
			return nil
		}
		return p.sites.outside(at)
	})
}

// FreeNullCallers returns who calls free with NULL, the most frequent first;
// Allocations is how often.
func (p *Profile) FreeNullCallers() []Caller {
	all := &Site{stacks: pointers(p.freeNulls)}
	var leaves []node
	for _, st := range p.freeNulls {
		leaves = append(leaves, st.leaf)
	}
	p.sites.prepare(leaves)
	return collect([]*Site{all}, p.sites, func(at node) *Frame {
		if at == root {
			return &Frame{}
		}
		return p.sites.frame(at)
	})[0]
}

// NamedCallers returns for each of the sites the nearest function outwards
// that has a name of its own and is no wrapper, the most frequent first. Where a library has no
// symbols but those it exports, these are the exported ones.
func (p *Profile) NamedCallers(sites []*Site) [][]Caller {
	var leaves []node
	for _, site := range sites {
		for _, st := range site.stacks {
			leaves = append(leaves, st.leaf)
		}
	}
	named := newSearch(p.frames, func(f *Frame) bool { return f.Named() && p.sites.accept(f) })
	named.prepare(leaves)
	return collect(sites, named, func(at node) *Frame {
		if at == root {
			return nil
		}
		return named.frame(at)
	})
}

// collect returns for each of the sites the frames that frameOf finds for where
// its stacks have come to in a search that was prepared from them; nil is none.
func collect(sites []*Site, by *search, frameOf func(at node) *Frame) [][]Caller {
	all := make([][]Caller, len(sites))
	together(allWorkers(), len(sites), func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			all[i] = sites[i].collect(by, frameOf)
		}
	})
	return all
}

func (s *Site) collect(by *search, frameOf func(at node) *Frame) []Caller {
	byPlace := make(map[*Frame]*recording.Counters) // the same one may have several places
	var last *Frame
	lastAt := node(-1) // neighbours often have the same
	for _, st := range s.stacks {
		if st.counters.Calls == 0 {
			continue
		}
		if at := by.node(st.leaf); at != lastAt {
			last, lastAt = frameOf(at), at
		}
		if last != nil {
			if byPlace[last] == nil {
				byPlace[last] = new(recording.Counters)
			}
			byPlace[last].Add(st.counters)
		}
	}
	byFrame := make(map[Frame]*recording.Counters, len(byPlace))
	for frame, n := range byPlace {
		if byFrame[*frame] == nil {
			byFrame[*frame] = n
		} else {
			byFrame[*frame].Add(n)
		}
	}
	list := make([]Caller, 0, len(byFrame))
	for frame, n := range byFrame {
		list = append(list, Caller{frame, *n})
	}
	slices.SortFunc(list, func(a, b Caller) int {
		return cmp.Or(cmp.Compare(b.Counters.Calls, a.Counters.Calls), a.Frame.compare(&b.Frame))
	})
	return list
}

// Stack is a call stack of a site, summed over all processes.
type Stack struct {
	Function    recording.Function // that was called
	Allocations uint64
	Counters    recording.Counters
	Truncated   bool
	Frames      []Frame // innermost first
	// Positions are the same, with what was inlined; only EachStack tells.
	Positions []Position
}

// Stacks returns the stacks of each of the sites, the most frequent first, no
// more than limit of each (0: all), and how many each site has.
func (p *Profile) Stacks(sites []*Site, limit int) (stacks [][]Stack, total []int) {
	chosen := make([][]*stack, len(sites))
	total = make([]int, len(sites))
	var leaves []node
	merge := newStackMerger(p)
	for i, site := range sites {
		all := merge.stacks(site)
		total[i] = len(all)
		slices.SortStableFunc(all, func(a, b *stack) int { return cmp.Compare(b.counters.Calls, a.counters.Calls) })
		if limit > 0 && len(all) > limit {
			all = all[:limit]
		}
		chosen[i] = all
		for _, st := range all {
			leaves = append(leaves, st.leaf)
		}
	}
	p.frames.nameStacks(leaves)
	stacks = make([][]Stack, len(sites))
	for i, all := range chosen {
		for _, st := range all {
			stacks[i] = append(stacks[i], Stack{
				Function:    st.function,
				Allocations: st.counters.Calls,
				Counters:    *st.counters,
				Truncated:   st.leaf != root && p.forest.truncated[st.leaf],
				Frames:      p.frames.stackFrames(st.leaf),
			})
		}
	}
	return stacks, total
}

// stackMerger finds the stacks that are the same in several processes or
// regions: a number stands for a path of places, the same in all images.
type stackMerger struct {
	profile *Profile
	path    map[pathStep]int32
	number  []int32 // of each node, 0 before it was asked for
}

type pathStep struct {
	outer int32
	place int32
}

func newStackMerger(p *Profile) *stackMerger {
	return &stackMerger{profile: p, path: make(map[pathStep]int32), number: make([]int32, len(p.forest.parent))}
}

func (m *stackMerger) stacks(site *Site) []*stack {
	if len(m.profile.Processes) == 1 && len(m.profile.Regions) == 0 {
		return slices.Clone(site.stacks)
	}
	type key struct {
		path     int32
		function recording.Function
	}
	at := make(map[key]int)
	var merged []*stack
	for _, st := range site.stacks {
		k := key{m.pathNumber(st.leaf), st.function}
		i, seen := at[k]
		if !seen {
			at[k] = len(merged)
			own, counters := *st, *st.counters
			own.counters = &counters
			merged = append(merged, &own)
			continue
		}
		merged[i].counters.Add(st.counters)
	}
	return merged
}

func (m *stackMerger) pathNumber(n node) int32 {
	var way []node
	for ; n != root && m.number[n] == 0; n = m.profile.frames.parent(n) {
		way = append(way, n)
	}
	var number int32
	if n != root {
		number = m.number[n]
	}
	for _, n := range slices.Backward(way) {
		step := pathStep{number, m.profile.frames.placeIndex(n)}
		if number = m.path[step]; number == 0 {
			number = int32(len(m.path) + 1)
			m.path[step] = number
		}
		m.number[n] = number
	}
	return number
}
