package diff

import (
	"slices"

	"mallow/internal/advise"
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
	// now; less than 0: more. Nil where that cannot be told, as of other commands,
	// of which nobody knows that they do the same work.
	Brought *float64
	// Divided tells that other advice is about some of these sites: what they
	// make less is divided among them by what each promised and, where it is
	// still given, no more promises.
	Divided bool
}

// An advice counts as followed if it has brought such a part of its promise, or
// of the most that it can bring.
const (
	kept       = 0.5
	keptAtMost = 0.1
)

func leastBrought(saves *advise.Saves) float64 {
	if saves.AtMost {
		return keptAtMost
	}
	return kept
}

// Advice tells what became of the advice that was given for the old profile,
// in the order in which it was given, and then what is new.
func (d *Diff) Advice(old, new advise.Result) []AdviceChange {
	p := d.places()
	otherWork := d.otherCommand() && len(CommonUnits(d.Old, d.New)) == 0
	var changes []AdviceChange
	taken := make([]bool, len(new.Advice))
	again := make([]int, len(old.Advice))
	promises, newPromises := make([]float64, len(old.Advice)), make([]float64, len(new.Advice))
	for i := range old.Advice {
		a := &old.Advice[i]
		again[i] = slices.IndexFunc(new.Advice, func(n advise.Advice) bool { return n.Rule == a.Rule && p.same(a, &n) })
		promises[i] = d.asMuchWork(a.Saves.Allocations)
		if again[i] >= 0 && !taken[again[i]] {
			taken[again[i]] = true
			promises[i] = max(0, promises[i]-float64(new.Advice[again[i]].Saves.Allocations)) // it has brought no more
		} else {
			again[i] = -1
		}
	}
	for i := range new.Advice {
		newPromises[i] = float64(new.Advice[i].Saves.Allocations)
	}
	oldWeights, newWeights := weigh(p.old, old.Advice, promises), weigh(p.new, new.Advice, newPromises)
	for i := range old.Advice {
		a := &old.Advice[i]
		c := AdviceChange{Advice: *a, Status: Withdrawn, Promised: uint64(d.asMuchWork(a.Saves.Allocations) + 0.5)}
		if !otherWork {
			c.Brought, c.Divided = p.brought(p.old, oldWeights, a, promises[i])
		}
		switch {
		case again[i] >= 0:
			c.Advice, c.Status = new.Advice[again[i]], Open
		case c.Brought != nil && *c.Brought >= leastBrought(&a.Saves)*float64(c.Promised) && *c.Brought > 0:
			c.Status = Followed
		}
		changes = append(changes, c)
	}
	for i, a := range new.Advice {
		if !taken[i] {
			c := AdviceChange{Advice: a, Status: Arisen}
			c.Brought, c.Divided = p.brought(p.new, newWeights, &a, newPromises[i])
			changes = append(changes, c)
		}
	}
	return changes
}

// places finds the sites that advice speaks of.
type places struct {
	diff     *Diff
	old, new map[profile.Frame]*Site
	renamed  map[string]string
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

// same tells whether two advices of one rule are about the same lines, most of
// those of the smaller one.
func (p *places) same(old, new *advise.Advice) bool {
	shared := 0
	for i := range old.Sites {
		if slices.ContainsFunc(new.Sites, func(place advise.Place) bool { return p.sameLine(&old.Sites[i].Frame, &place.Frame) }) {
			shared++
		}
	}
	return 2*shared >= min(len(old.Sites), len(new.Sites))
}

// sameLine tells whether two places are one site, or, where they do not
// allocate themselves, in one function.
func (p *places) sameLine(a, b *profile.Frame) bool {
	oldSite, newSite := p.old[*a], p.new[*b]
	if oldSite != nil || newSite != nil {
		return oldSite == newSite
	}
	name, known := p.renamed[a.Function]
	if !known {
		name = p.diff.nameOf(a)
	}
	return name == p.diff.nameOf(b)
}

// weights are what all advice about a site promises together, less what it
// still promises.
type weights map[*Site]float64

func weigh(at map[profile.Frame]*Site, all []advise.Advice, promises []float64) weights {
	w := make(weights)
	for i := range all {
		for _, s := range sitesOf(at, &all[i]) {
			w[s] += weight(promises[i])
		}
	}
	return w
}

// weight is more than 0 of an advice that saves no allocations, too.
func weight(promise float64) float64 { return promise + 1 }

// sitesOf are the sites that an advice is about, each once.
func sitesOf(at map[profile.Frame]*Site, a *advise.Advice) (sites []*Site) {
	for _, place := range a.Sites {
		if s := at[place.Frame]; s != nil && !slices.Contains(sites, s) {
			sites = append(sites, s)
		}
	}
	return sites
}

// brought is by how much the allocations of the sites of an advice fell, or its
// part of that where others are about the same sites.
func (p *places) brought(at map[profile.Frame]*Site, w weights, a *advise.Advice, promise float64) (fewer *float64, divided bool) {
	sites := sitesOf(at, a)
	if len(sites) == 0 {
		return nil, false
	}
	sum := 0.0
	for _, s := range sites {
		if s.Match == Unmatched && (p.diff.unnamed[s.Frame().Module] != "" || p.diff.rebuilt[s.Frame().Module] != "" && !s.Frame().Named()) {
			return nil, false // it may well be there under another name
		}
		part := weight(promise) / w[s]
		divided = divided || part < 1
		sum -= s.Excess * part
	}
	return &sum, divided
}
