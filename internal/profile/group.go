package profile

import (
	"fmt"
	"slices"
)

// Grouping is what stacks have in common that stand for one site.
type Grouping string

const (
	ByLine     Grouping = "line" // of code: sites as they are
	ByFunction Grouping = "function"
	ByModule   Grouping = "module"
	ByType     Grouping = "type" // that is allocated, as far as names of functions tell
)

var groupings = []Grouping{ByLine, ByFunction, ByModule, ByType}

// Set and the others make Grouping a flag.
func (g *Grouping) Set(s string) error {
	if !slices.Contains(groupings, Grouping(s)) {
		return fmt.Errorf("must be function, line, module or type")
	}
	*g = Grouping(s)
	return nil
}

func (g *Grouping) String() string { return string(*g) }

// Type names the values of the flag in its help.
func (g *Grouping) Type() string { return "function|line|module|type" }

// Group puts sites together that have a function, a module or a type in
// common, by allocations, the most first. A site for a function has no line,
// one for a module nothing else, and one for a type only its AllocatedType;
// where that is not known it is one for a function.
func (p *Profile) Group(sites []*Site, by Grouping) []*Site {
	if by == ByLine || by == "" {
		return sites
	}
	type key struct {
		frame Frame
		typed string
	}
	groups := make(map[key]*Site)
	var all []*Site
	types := newTypeFinder(p)
	add := func(k key, st ...*stack) *Site {
		group := groups[k]
		if group == nil {
			group = &Site{Frame: k.frame, AllocatedType: k.typed}
			groups[k] = group
			all = append(all, group)
		}
		group.stacks = append(group.stacks, st...)
		for i := range st {
			group.Counters.Add(st[i].counters)
		}
		return group
	}
	for _, site := range sites {
		function := Frame{Function: site.Function, File: site.File, Module: site.Module}
		switch by {
		case ByFunction:
			add(key{frame: function}, site.stacks...).CPU += site.CPU
		case ByModule:
			add(key{frame: Frame{Module: site.Module}}, site.stacks...).CPU += site.CPU
		case ByType:
			for _, st := range site.stacks {
				if name := types.of(st.leaf); name != "" {
					add(key{typed: name}, st)
				} else {
					add(key{frame: function}, st)
				}
			}
		}
	}
	for _, group := range all {
		group.describe()
	}
	slices.SortFunc(all, compareSites)
	return all
}

// Members returns for each of some groups the functions that are sites of it,
// the most frequent first.
func (p *Profile) Members(groups []*Site) [][]Caller {
	return collect(groups, p.sites, func(at node) *Frame {
		if at == root {
			return nil
		}
		frame := *p.sites.frame(at)
		frame.Line = 0
		return &frame
	})
}
