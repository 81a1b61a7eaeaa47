package diff

import (
	"cmp"
	"slices"

	"mallow/internal/advise"
	"mallow/internal/advise/rule"
	"mallow/internal/profile"
)

// AdviceStatus is what became of an advice.
type AdviceStatus string

const (
	Followed  AdviceStatus = "followed"  // given for the old profile, no more for the new one, and allocations fell
	Open      AdviceStatus = "open"      // given for both
	Withdrawn AdviceStatus = "withdrawn" // no more given, though allocations did not fall as promised
	Arisen    AdviceStatus = "new"       // given for the new profile only
)

// AdviceChange is an advice, in the words of the new profile where that has it.
type AdviceChange struct {
	advise.Advice
	Status AdviceStatus
	// Promised is how many allocations the old advice said to save, for as much
	// work as the new profile did.
	Promised uint64
	// Brought is how many allocations fewer, for as much work, its sites make
	// now; less than 0: more. Nil where that cannot be told, as of other commands or
	// ends, of which nobody knows that they are of the same work.
	Brought *float64
	// Divided tells that other advice is about some of these sites: what they
	// make less is shared out among them, see credit.
	Divided bool
}

// An advice counts as followed if it has brought such a part of its promise, or
// of the most that it can bring, unless that is short of it by chance only, as
// where blocks are pooled of which more may have lived at once than was seen.
const (
	kept       = 0.5
	keptAtMost = 0.1
)

func leastBrought(a *advise.Advice) float64 {
	if a.Saves.AtMost && a.Means < rule.Pool {
		return keptAtMost
	}
	return kept
}

// Advice tells what became of the advice that was given for the old profile,
// in the order in which it was given, and then what is new.
func (d *Diff) Advice(old, new advise.Result) []AdviceChange {
	p := d.places()
	otherWork := (d.otherCommand() || d.otherEnd()) && len(CommonUnits(d.Old, d.New)) == 0
	again := p.again(old.Advice, new.Advice)
	var changes []AdviceChange
	var asking []*asker
	for i := range old.Advice {
		a := &old.Advice[i]
		promise := d.asMuchWork(a.Saves.Allocations)
		changes = append(changes, AdviceChange{Advice: *a, Status: Withdrawn, Promised: uint64(promise + 0.5)})
		if again[i] >= 0 {
			promise = max(0, promise-float64(new.Advice[again[i]].Saves.Allocations)) // it has brought no more
		}
		asking = append(asking, p.asker(p.old, a, promise))
	}
	credit(asking, p.instead(asking))
	for i := range changes {
		c := &changes[i]
		if !otherWork {
			c.Brought, c.Divided = asking[i].brought, asking[i].divided
		}
		switch {
		case again[i] >= 0:
			c.Advice, c.Status = new.Advice[again[i]], Open
		case c.Brought != nil && *c.Brought >= leastBrought(&c.Advice)*float64(c.Promised) && *c.Brought > 0:
			c.Status = Followed
		}
	}
	asking = nil
	for i := range new.Advice {
		asking = append(asking, p.asker(p.new, &new.Advice[i], float64(new.Advice[i].Saves.Allocations)))
	}
	credit(asking, nil)
	for i, a := range new.Advice {
		if !slices.Contains(again, i) {
			changes = append(changes, AdviceChange{Advice: a, Status: Arisen, Brought: asking[i].brought, Divided: asking[i].divided})
		}
	}
	return changes
}

// places finds the sites that advice speaks of.
type places struct {
	diff     *Diff
	old, new map[profile.Frame]*Site
	renamed  map[string]string
	libc     *behalf // nil until it is asked for
}

func (d *Diff) places() *places {
	p := &places{diff: d, old: make(map[profile.Frame]*Site), new: make(map[profile.Frame]*Site), renamed: d.renamed()}
	for _, s := range d.Sites {
		if s.Old != nil {
			for _, site := range s.Old.Sites {
				p.old[site.Frame] = s
			}
		}
		if s.New != nil {
			for _, site := range s.New.Sites {
				p.new[site.Frame] = s
			}
		}
	}
	return p
}

// again returns for each old advice the new one that says the same, -1 for none.
// No new one is that of two: it goes to the one about the very line, then to one
// about its site or function, then to one that is mostly about the same lines.
func (p *places) again(old, new []advise.Advice) []int {
	again, taken := make([]int, len(old)), make([]bool, len(new))
	for i := range again {
		again[i] = -1
	}
	for _, alike := range []func(a, b *profile.Frame) bool{
		func(a, b *profile.Frame) bool { return a.Line == b.Line && p.sameLine(a, b) },
		p.sameLine,
		func(*profile.Frame, *profile.Frame) bool { return true },
	} {
		for i := range old {
			for j := range new {
				if again[i] < 0 && !taken[j] && old[i].Rule == new[j].Rule && p.same(&old[i], &new[j]) && alike(first(old[i].Taking()), first(new[j].Taking())) {
					again[i], taken[j] = j, true
				}
			}
		}
	}
	return again
}

// first is the first of some lines.
func first(lines []advise.Place) *profile.Frame {
	if len(lines) == 0 {
		return new(profile.Frame)
	}
	return &lines[0].Frame
}

// same tells whether two advices of one rule are about the same lines, most of
// those of the smaller one.
func (p *places) same(old, new *advise.Advice) bool {
	shared, olds, news := 0, old.Taking(), new.Taking()
	for i := range olds {
		if slices.ContainsFunc(news, func(place advise.Place) bool { return p.sameLine(&olds[i].Frame, &place.Frame) }) {
			shared++
		}
	}
	return 2*shared >= min(len(olds), len(news))
}

// sameLine tells whether two places are one site, or, where they do not
// allocate themselves, in one function.
func (p *places) sameLine(a, b *profile.Frame) bool {
	oldSite, newSite := p.old[*a], p.new[*b]
	if oldSite != nil || newSite != nil {
		return oldSite == newSite
	}
	return p.nameOf(a) == p.diff.nameOf(b)
}

// asker is an advice that asks what its sites make less.
type asker struct {
	sites   []*Site // each once
	promise float64 // less what it still promises
	brought *float64
	divided bool
}

// asker finds the sites of an advice. What it has brought cannot be told where
// one of them may well be there under another name.
func (p *places) asker(at map[profile.Frame]*Site, a *advise.Advice, promise float64) *asker {
	of := &asker{promise: promise}
	add := func(f profile.Frame) {
		if s := at[f]; s != nil && !slices.Contains(of.sites, s) {
			of.sites = append(of.sites, s)
		}
	}
	if a.Libc != "" {
		if p.libc == nil {
			p.libc = p.onBehalf()
		}
		if s := p.libc.calledBy(first(a.Sites), a.Libc); s != nil {
			of.sites = []*Site{s}
		}
	} else {
		for _, place := range a.Taking() {
			add(place.Frame)
		}
		for _, f := range a.At {
			add(f)
		}
	}
	hidden := func(s *Site) bool {
		f := s.Frame()
		return s.Match == Unmatched && (p.diff.unnamed[f.Module] != "" || p.diff.rebuilt[f.Module] != "" && !f.Named())
	}
	if len(of.sites) > 0 && !slices.ContainsFunc(of.sites, hidden) {
		of.brought = new(float64)
	}
	return of
}

// instead is what new sites make in place of those that are gone, as a function
// by another name does, or one that took it in: what they allocate in the
// function of such a site or one that calls it, or called from there. In place of
// what a site makes less it is what they allocate in its function, or called from
// there, as another line may do a part. No call stands for two.
func (p *places) instead(all []*asker) map[*Site]float64 {
	var arisen []*Site
	for _, s := range p.diff.Sites {
		if s.Status == New {
			arisen = append(arisen, s)
		}
	}
	from := make([]map[string]float64, len(arisen)) // by the functions that call
	left := make([]float64, len(arisen))
	for i, s := range arisen {
		from[i], left[i] = p.callers(p.diff.New, s.New), float64(s.New.Counters.Calls)
	}
	made := make(map[*Site]float64)
	for _, a := range all {
		for _, s := range a.sites {
			if _, known := made[s]; known || s.Old == nil || s.Excess >= 0 {
				continue
			}
			near := make(map[string]float64)
			if s.Status == Gone {
				near = p.callers(p.diff.Old, s.Old)
			}
			near[p.nameOf(&s.Old.Frame)] = 0
			open := -s.Excess
			for i, other := range arisen {
				n := max(0, min(p.madeNear(other, from[i], near), left[i], open))
				left[i], open = left[i]-n, open-n
			}
			made[s] = -s.Excess - open
		}
	}
	return made
}

// madeNear is how much of a new site's calls come from some functions: all of
// those of a site in one of them.
func (p *places) madeNear(s *Site, from, functions map[string]float64) float64 {
	if _, inside := functions[p.diff.nameOf(&s.New.Frame)]; inside {
		return float64(s.New.Counters.Calls)
	}
	sum := 0.0
	for name, calls := range from {
		if _, near := functions[name]; near {
			sum += calls
		}
	}
	return sum
}

// callers are the functions that call a place in one of the profiles, with how
// often.
func (p *places) callers(of *profile.Profile, place *Place) map[string]float64 {
	calls := make(map[string]float64)
	for _, list := range of.Callers(place.Sites) {
		for i := range list {
			calls[p.nameOf(&list[i].Frame)] += float64(list[i].Counters.Calls)
		}
	}
	return calls
}

// nameOf is what a function is called on both sides.
func (p *places) nameOf(f *profile.Frame) string {
	if name, known := p.renamed[f.Function]; known {
		return name
	}
	return p.diff.nameOf(f)
}

// credit gives what each site makes less to advice about it, no allocation to
// two: to that about the fewest sites first, of equal ones to that which promises
// less, and of several to none more than it promises. What it makes more is
// divided by the promises. What others make instead is nobody's.
func credit(all []*asker, instead map[*Site]float64) {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *asker) int {
		return cmp.Or(cmp.Compare(len(a.sites), len(b.sites)), cmp.Compare(a.promise, b.promise))
	})
	about := make(map[*Site][]*asker)
	left := make(map[*Site]float64)
	for _, a := range order {
		for _, s := range a.sites {
			about[s], left[s] = append(about[s], a), -s.Excess-instead[s]
		}
	}
	for _, a := range order {
		open := a.promise
		for _, s := range a.sites {
			got := max(0, min(open, left[s]))
			open, left[s] = open-got, left[s]-got
			a.add(got)
		}
	}
	for _, a := range order {
		for _, s := range a.sites {
			others := about[s]
			a.divided = a.divided || len(others) > 1
			switch {
			case left[s] < 0:
				a.add(left[s] * weight(a) / weight(others...))
			case len(others) == 1:
				a.add(left[s])
			}
		}
	}
}

func (a *asker) add(fewer float64) {
	if a.brought != nil {
		*a.brought += fewer
	}
}

// weight is more than 0 of advice that saves no allocations, too.
func weight(all ...*asker) (sum float64) {
	for _, a := range all {
		sum += a.promise + 1
	}
	return sum
}
