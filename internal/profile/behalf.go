package profile

import (
	"cmp"
	"slices"
)

// Behalf is what libc allocated on its own account for a line of the program
// or its libraries that called one of libc's functions. Its Frame is that
// line; it is empty where libc was called by nobody, such as at start-up.
type Behalf struct {
	*Site
	Function string // of libc, that was called, by the name that programs know
	Buffer   bool   // it is of streams, which get one with the first access
}

// makesBuffer is the function of libc that makes the buffer of a stream.
const makesBuffer = "_IO_file_doallocate"

// OnBehalf returns what libc allocated, by function of libc and who called
// it, the most allocations first.
func (p *Profile) OnBehalf() []Behalf {
	type stackOf struct {
		*stack
		entry  node // the outermost of libc's frames from the leaf on
		buffer bool
	}
	var all []stackOf
	var entries []int32
	var callers []node
	for _, site := range p.Sites {
		for _, st := range site.stacks {
			if st.origin != OriginLibc || st.leaf == root {
				continue
			}
			entry := p.forest.entry(st.leaf)
			all = append(all, stackOf{st, entry, site.Function == makesBuffer})
			entries = append(entries, p.frames.placeIndex(entry))
			callers = append(callers, p.forest.parent[entry])
		}
	}
	p.places.name(entries)
	p.sites.prepare(callers)
	type key struct {
		caller   Frame
		function string
		buffer   bool
	}
	found := make(map[key]*Site)
	for _, st := range all {
		names := p.frames.placeOf(st.entry).frames
		k := key{function: publicName(names[len(names)-1].Function), buffer: st.buffer}
		if at := p.sites.node(p.forest.parent[st.entry]); at != root {
			k.caller = *p.sites.frame(at)
		}
		site := found[k]
		if site == nil {
			site = &Site{Frame: k.caller}
			found[k] = site
		}
		site.Counters.Add(st.counters)
		site.stacks = append(site.stacks, st.stack)
	}
	list := make([]Behalf, 0, len(found))
	for k, site := range found {
		site.describe()
		list = append(list, Behalf{site, k.function, k.buffer})
	}
	slices.SortFunc(list, func(a, b Behalf) int {
		return cmp.Or(compareSites(a.Site, b.Site), cmp.Compare(a.Function, b.Function))
	})
	return list
}

// entry returns the outermost of the frames from n on, n included, that are
// all libc's: the function of libc that was called.
func (f *forest) entry(n node) node {
	for up := f.parent[n]; up != root && f.origin(up) == OriginLibc; up = f.parent[n] {
		n = up
	}
	return n
}
