package history

import (
	"cmp"
	"math"
	"slices"

	"mallow/internal/diff"
	"mallow/internal/profile"
	"mallow/internal/stacks"
)

// Cause is what changed in a program where a series has a step.
type Cause struct {
	// Old and New are the points whose profiles were compared; nil where no
	// point of that side has one.
	Old, New *Point
	Sites    []CauseSite // by how much they changed, the most first
	Others   int         // sites that changed too
}

// CauseSite is a line of code that allocates more or less than before.
type CauseSite struct {
	profile.Frame
	Status   diff.Status
	Old, New stacks.Figures
	// Was and Is are the figures of the step's metric; calls for those that a
	// site has not.
	Was, Is float64
	Unit    string // of Was and Is
	Stacks  []diff.StackChange
	Hidden  int // stacks that are left out
}

// Limits of what is told of a step.
const (
	mostCauses      = 12
	mostCauseStacks = 4
)

// Causes explains steps. Series of a benchmark often step at the same commit,
// so what was compared is kept. It may be used by one goroutine at a time.
type Causes struct {
	store    Store
	compared map[comparisonKey]*comparison
}

type comparisonKey struct {
	old, new string
	libc     bool
}

type comparison struct {
	diff         *diff.Diff
	oldAt, newAt map[stacks.Frame]stacks.Figures
}

// NewCauses begins to explain steps of a store's series.
func NewCauses(store Store) *Causes {
	return &Causes{store: store, compared: make(map[comparisonKey]*comparison)}
}

// Of tells what changed at a step of a series.
func (c *Causes) Of(s *Series, step *Step) (*Cause, error) {
	old, new := s.profiled(step)
	return c.Between(old, new, s.Metric)
}

// Between tells what changed from one point to another, for a metric. Either
// may be nil, or without a profile: nothing is known then.
func (c *Causes) Between(old, new *Point, metric string) (*Cause, error) {
	cause := &Cause{Old: old, New: new}
	if old == nil || new == nil || old.ProfileID == "" || new.ProfileID == "" {
		return cause, nil
	}
	compared, err := c.compare(cause.Old.ProfileID, cause.New.ProfileID, metric == "libc")
	if err != nil {
		return nil, err
	}
	var changed []*diff.Site
	for _, site := range compared.diff.Sites {
		made := compared.site(site, metric)
		if made.Was == made.Is && (site.Status == diff.Same || metric == string(diff.Peak)) {
			continue
		}
		cause.Sites, changed = append(cause.Sites, made), append(changed, site)
	}
	order := make([]int, len(changed))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(cause.Sites[b].change(), cause.Sites[a].change())
	})
	cause.Others = max(0, len(order)-mostCauses)
	order = order[:len(order)-cause.Others]
	sites, shown := make([]CauseSite, len(order)), make([]*diff.Site, len(order))
	for i, at := range order {
		sites[i], shown[i] = cause.Sites[at], changed[at]
	}
	ways, total, _ := compared.diff.Stacks(shown, diff.MetricOf(metric), mostCauseStacks)
	for i := range sites {
		sites[i].Stacks, sites[i].Hidden = ways[i], total[i]-len(ways[i])
	}
	cause.Sites = sites
	return cause, nil
}

func (s *CauseSite) change() float64 { return math.Abs(s.Is - s.Was) }

// profiled returns the points next to a step that have a profile.
func (s *Series) profiled(step *Step) (old, new *Point) {
	seen := false
	before, after := step.Before.N, step.After.N
	for _, p := range slices.Backward(s.Points[:slices.Index(s.Points, step.At)]) {
		if p.Dirty {
			continue
		}
		if before--; before < 0 {
			break
		}
		if p.ProfileID != "" {
			old = p
			break
		}
	}
	for _, p := range s.Points {
		if seen = seen || p == step.At; !seen || p.Dirty {
			continue
		}
		if after--; after < 0 {
			break
		}
		if p.ProfileID != "" {
			return old, p
		}
	}
	return old, nil
}

// compare leaves out what libc allocates, or all that is beside it.
func (c *Causes) compare(oldID, newID string, libc bool) (*comparison, error) {
	key := comparisonKey{oldID, newID, libc}
	if known := c.compared[key]; known != nil {
		return known, nil
	}
	old, oldAt, err := c.profile(oldID, libc)
	if err != nil {
		return nil, err
	}
	new, newAt, err := c.profile(newID, libc)
	if err != nil {
		return nil, err
	}
	c.compared[key] = &comparison{diff.Compare(old, new, diff.Options{}), oldAt, newAt}
	return c.compared[key], nil
}

func (c *Causes) profile(id string, libc bool) (*profile.Profile, map[stacks.Frame]stacks.Figures, error) {
	content, err := c.store.Profile(id)
	if err != nil {
		return nil, nil, err
	}
	set, err := stacks.ParsePprof(content)
	if err != nil {
		return nil, nil, err
	}
	if libc {
		set = set.OfLibc()
	}
	p, err := set.Profile(nil)
	return p, set.Sites(), err
}

func (c *comparison) site(s *diff.Site, metric string) CauseSite {
	made := CauseSite{Frame: *s.Frame(), Status: s.Status, Old: figuresOf(s.Old, c.oldAt), New: figuresOf(s.New, c.newAt)}
	pick := func(f *stacks.Figures) float64 { return float64(f.Calls) }
	switch metric {
	case "bytes":
		made.Unit, pick = "bytes", func(f *stacks.Figures) float64 { return float64(f.Bytes) }
	case "peak":
		made.Unit, pick = "bytes", func(f *stacks.Figures) float64 { return float64(f.PeakBytes) }
	case "live":
		made.Unit, pick = "bytes", func(f *stacks.Figures) float64 { return float64(f.LiveBytes) }
	}
	made.Was, made.Is = pick(&made.Old), pick(&made.New)
	return made
}

// figuresOf sums what stands at the sites of a place.
func figuresOf(p *diff.Place, at map[stacks.Frame]stacks.Figures) stacks.Figures {
	if p == nil {
		return stacks.Figures{}
	}
	f := stacks.Figures{
		Calls: p.Counters.Calls, Bytes: p.Counters.Bytes,
		LiveBlocks: uint64(p.Counters.LiveBlocks()), LiveBytes: uint64(p.Counters.LiveBytes()),
	}
	for _, s := range p.Sites {
		f.PeakBytes += at[stacks.Frame{Function: s.Function, File: s.File, Module: s.Module, Line: s.Line}].PeakBytes
	}
	return f
}
