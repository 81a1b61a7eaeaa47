package diff

import (
	"cmp"
	"slices"

	"mallow/internal/profile"
)

// Growth tells which callers a change of a site comes from.
type Growth struct {
	Metric Metric // that changed
	// Path leads from the caller of the site outwards as long as all of the
	// change has one and the same caller.
	Path []profile.Frame
	// Branches are the callers at its end, if there are several, by how much
	// their share changed; those that did not are left out.
	Branches []Branch
	Others   int // callers at its end that did not change
}

// Branch is one caller among several.
type Branch struct {
	profile.Frame
	Old, New uint64 // of the metric
	// Excess is by how much they grew, of as much work (Diff.Per).
	Excess float64
}

// StackChange is one call stack of a site in both profiles. Frames are those of
// the new one, if it has it, with the lines that changed most; innermost first.
type StackChange struct {
	Frames   []profile.Frame
	Old, New uint64 // allocations
}

// Growth tells for each of the sites who makes the change by a metric. Where
// none of its stacks changed by that metric it is the next one of allocations,
// bytes and what is never freed.
func (d *Diff) Growth(sites []*Site, by Metric) []Growth {
	growth := make([]Growth, len(sites))
	j := d.join(sites)
	for i := range sites {
		growth[i] = j.growth(i, by)
	}
	return growth
}

// Stacks returns for each of the sites its stacks, those first that changed
// most by the metric of its growth, no more than limit of each (0: all), with
// how many each has, and its growth. Stacks are the same if their functions are,
// however often each of these calls itself.
func (d *Diff) Stacks(sites []*Site, by Metric, limit int) (stacks [][]StackChange, total []int, growth []Growth) {
	j := d.join(sites)
	stacks, total, growth = make([][]StackChange, len(sites)), make([]int, len(sites)), make([]Growth, len(sites))
	for i := range sites {
		growth[i] = j.growth(i, by)
		ways := j.ways[i]
		total[i] = len(ways)
		if limit > 0 && len(ways) > limit {
			ways = ways[:limit]
		}
		for _, w := range ways {
			stacks[i] = append(stacks[i], StackChange{Frames: j.frames(w), Old: w.oldCalls, New: w.newCalls})
		}
	}
	return stacks, total, growth
}

// longestPath is how far outwards a path leads.
const longestPath = 24

// growth follows the change of a site outwards until it parts. What all stacks
// have in common beyond the last point at which they part says nothing and is
// left out, but for the first caller.
func (j *joined) growth(site int, by Metric) Growth {
	g := Growth{Metric: j.weighFirst(site, by, Allocations, Bytes, Live)}
	telling := 1
	passed := make(map[int32]bool)
	at := make([]step, 0, len(j.ways[site]))
	for _, w := range j.ways[site] {
		for i := range w.parts {
			p := &w.parts[i]
			at = append(at, step{p, p.tree.site(p.node)})
		}
	}
	for len(g.Path) < longestPath {
		changed, others, ended := j.callers(at)
		if len(changed) == 0 || len(changed) == 1 && ended != 0 {
			break
		}
		if len(changed) > 1 {
			for _, c := range changed {
				g.Branches = append(g.Branches, c.Branch)
			}
			g.Others = others
			return g
		}
		if passed[changed[0].function] {
			break // functions that call each other: deeper says no more
		}
		passed[changed[0].function] = true
		g.Path = append(g.Path, changed[0].Frame)
		if others > 0 || len(g.Path) == 1 {
			telling, g.Others = len(g.Path), others
		}
		at = changed[0].steps
	}
	g.Path = g.Path[:min(len(g.Path), telling)]
	return g
}

// step is how far outwards a stack has been followed.
type step struct {
	*part
	at int32 // node of its tree, -1 at its end
}

// caller is one of those that a number of steps come from.
type caller struct {
	Branch
	function int32
	steps    []step
}

// callers groups steps by who calls next. It returns those whose share changed,
// sorted by how much, how many others there are, and the change of what nobody
// calls.
func (j *joined) callers(at []step) (changed []*caller, others int, ended float64) {
	by := make(map[int32]*caller)
	var all []*caller
	var old, new uint64
	for _, s := range at {
		out := s.tree.outside(s.at)
		if out < 0 {
			old += s.old
			new += s.new
			continue
		}
		function := s.tree.function(out)
		c := by[function]
		if c == nil {
			c = &caller{function: function}
			by[function] = c
			all = append(all, c)
		}
		c.Old += s.old
		c.New += s.new
		c.steps = append(c.steps, step{s.part, out})
	}
	for _, c := range all {
		c.Excess = j.diff.excessOf(c.Old, c.New)
		if c.Excess == 0 {
			others++
			continue
		}
		s := j.diff.telling(c.steps, func(s step) int32 { return int32(s.tree.frame(s.at).Line) })
		c.Frame = *s.tree.frame(s.at)
		changed = append(changed, c)
	}
	slices.SortStableFunc(changed, func(a, b *caller) int {
		return cmp.Or(cmp.Compare(abs(b.Excess), abs(a.Excess)), compareFrames(&a.Frame, &b.Frame))
	})
	return changed, others, j.diff.excessOf(old, new)
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }
