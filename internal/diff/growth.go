package diff

import (
	"cmp"
	"slices"

	"mallow/internal/profile"
)

// Growth tells which callers a change of a site comes from.
type Growth struct {
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
	Old, New uint64 // allocations
}

// Change is how many allocations more the new profile has.
func (b *Branch) Change() int64 { return int64(b.New) - int64(b.Old) }

// StackChange is one call stack of a site in both profiles. Frames are those of
// the new one, if it has it; innermost first.
type StackChange struct {
	Frames   []profile.Frame
	Old, New uint64 // allocations
}

// Stacks returns for each of the sites its stacks, those first whose counts
// changed most, no more than limit of each (0: all), and what they tell of
// who makes the change. Stacks are the same if their functions are.
func (d *Diff) Stacks(sites []*Site, limit int) (stacks [][]StackChange, growth []Growth) {
	old, new := d.stacksOf(d.Old, sites, oldPlace), d.stacksOf(d.New, sites, newPlace)
	stacks, growth = make([][]StackChange, len(sites)), make([]Growth, len(sites))
	d.rename(old)
	for i := range sites {
		tree := &branch{}
		changes := joinStacks(old[i], new[i])
		for _, c := range changes {
			tree.add(d.outside(c.Frames), c.Old, c.New)
		}
		growth[i] = tree.growth()
		if limit > 0 && len(changes) > limit {
			changes = changes[:limit]
		}
		stacks[i] = changes
	}
	return stacks, growth
}

// rename gives functions of the old profile the names that they have in the new
// one.
func (d *Diff) rename(stacks [][]profile.Stack) {
	names := make(map[string]string)
	for _, s := range d.Sites {
		if s.Old != nil && s.New != nil && (s.Match == ByFigures || s.Match == BySignature) {
			names[s.Old.Function] = s.New.Function
		}
	}
	if len(names) == 0 {
		return
	}
	for _, list := range stacks {
		for i := range list {
			for k := range list[i].Frames {
				f := &list[i].Frames[k]
				if name, renamed := names[f.Function]; renamed {
					f.Function = name
				}
			}
		}
	}
}

func oldPlace(s *Site) *Place { return s.Old }
func newPlace(s *Site) *Place { return s.New }

func (d *Diff) stacksOf(p *profile.Profile, sites []*Site, placeOf func(*Site) *Place) [][]profile.Stack {
	var all []*profile.Site
	var owner []int
	for i, s := range sites {
		if place := placeOf(s); place != nil {
			for _, site := range place.Sites {
				all, owner = append(all, site), append(owner, i)
			}
		}
	}
	found, _ := p.Stacks(all, 0)
	stacks := make([][]profile.Stack, len(sites))
	for k, list := range found {
		stacks[owner[k]] = append(stacks[owner[k]], list...)
	}
	return stacks
}

// joinStacks finds the stacks of one side on the other.
func joinStacks(old, new []profile.Stack) []StackChange {
	var all []StackChange
	at := make(map[string]int)
	add := func(st *profile.Stack, isNew bool) {
		k := stackKey(st.Frames)
		i, known := at[k]
		if !known {
			i = len(all)
			at[k] = i
			all = append(all, StackChange{Frames: st.Frames})
		}
		if isNew {
			all[i].New += st.Allocations
		} else {
			all[i].Old += st.Allocations
		}
	}
	for i := range new {
		add(&new[i], true)
	}
	for i := range old {
		add(&old[i], false)
	}
	slices.SortStableFunc(all, func(a, b StackChange) int {
		return cmp.Or(
			cmp.Compare(distance(b.Old, b.New), distance(a.Old, a.New)), cmp.Compare(b.Old+b.New, a.Old+a.New),
			slices.CompareFunc(a.Frames, b.Frames, func(a, b profile.Frame) int { return compareFrames(&a, &b) }),
		)
	})
	return all
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

func stackKey(frames []profile.Frame) string {
	var k []byte
	for i := range frames {
		k = append(append(k, stableName(frames[i].Function)...), 0)
	}
	return string(k)
}

// outside returns the frames that call a site, without those that only pass
// allocations on.
func (d *Diff) outside(frames []profile.Frame) []profile.Frame {
	at := slices.IndexFunc(frames, func(f profile.Frame) bool { return !d.New.Wraps(&f) })
	var outside []profile.Frame
	for _, f := range frames[at+1:] {
		if !d.New.Wraps(&f) {
			outside = append(outside, f)
		}
	}
	return outside
}

// branch is a caller in the tree of those of a site.
type branch struct {
	Branch
	callers []*branch
}

func (b *branch) add(outside []profile.Frame, old, new uint64) {
	b.Old += old
	b.New += new
	if len(outside) == 0 {
		return
	}
	name := stableName(outside[0].Function)
	i := slices.IndexFunc(b.callers, func(c *branch) bool { return stableName(c.Function) == name })
	if i < 0 {
		i = len(b.callers)
		b.callers = append(b.callers, &branch{Branch: Branch{Frame: outside[0]}})
	}
	b.callers[i].add(outside[1:], old, new)
}

// longestPath is how far outwards a path leads.
const longestPath = 24

// growth follows the change outwards until it parts. What all stacks have in
// common beyond the last point at which they part says nothing and is left
// out, but for the first caller.
func (b *branch) growth() Growth {
	var g Growth
	telling := 1
	for at := b; len(g.Path) < longestPath; {
		var changed []*branch
		for _, c := range at.callers {
			if c.Change() != 0 {
				changed = append(changed, c)
			}
		}
		if len(changed) == 0 || len(changed) == 1 && changed[0].Change() != at.Change() {
			break
		}
		others := len(at.callers) - len(changed)
		if len(changed) > 1 {
			slices.SortStableFunc(changed, func(a, b *branch) int {
				return cmp.Or(cmp.Compare(distance(b.Old, b.New), distance(a.Old, a.New)), compareFrames(&a.Frame, &b.Frame))
			})
			for _, c := range changed {
				g.Branches = append(g.Branches, c.Branch)
			}
			g.Others = others
			return g
		}
		g.Path = append(g.Path, changed[0].Frame)
		if others > 0 || len(g.Path) == 1 {
			telling = len(g.Path)
			g.Others = others
		}
		at = changed[0]
	}
	g.Path = g.Path[:min(len(g.Path), telling)]
	return g
}
