package gate

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"mallow/internal/budget"
	"mallow/internal/diff"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/signature"
	"mallow/internal/stacks"
)

const (
	mostSites   = 10 // are named
	mostCallers = 8  // of each
	// leastGrowth is the share of all growth that a site must have to be named.
	leastGrowth = 0.01
)

// grown is a site with by how much a metric grew at it.
type grown struct {
	site   *diff.Site
	was    uint64
	now    uint64
	growth float64
}

// guilty names the sites at which a metric grew since a reference, the most
// first, and what is gone, in words: "" for nothing.
func (g *gate) guilty(ctx context.Context, b *budget.Benchmark, metric string, r *reference, m *measured) (sites []Site, gone string, err error) {
	wrappers, err := compiled(b.Wrappers)
	if err != nil {
		return nil, "", err
	}
	kept, now := r.stacks, m.profile
	if metric == budget.Libc {
		kept = kept.OfLibc()
		if now, err = m.stacks.OfLibc().Profile(wrappers); err != nil {
			return nil, "", err
		}
	}
	old, err := kept.Profile(wrappers)
	if err != nil {
		return nil, "", err
	}
	d := diff.Compare(old, now, diff.Options{Per: commonUnit(old, now, b.Unit)})
	found, lost := growths(d, metric, r.stacks.Sites())
	of := ""
	if len(found) == 0 && metric == budget.Peak {
		// Sites know what they had when the process with libc was at its peak,
		// which may have been at another time.
		found, _ = growths(d, budget.Bytes, nil)
		lost, of = nil, " (bytes requested)"
	}
	var all float64
	for _, s := range found {
		all += s.growth
	}
	found = slices.DeleteFunc(found, func(s grown) bool { return s.growth < leastGrowth*all })
	found = found[:min(len(found), mostSites)]
	if slices.ContainsFunc(found, func(s grown) bool { return s.site.Old == nil }) {
		gone = goneWords(lost, leastGrowth*all)
	}

	changed := make([]*diff.Site, len(found))
	for i := range found {
		changed[i] = found[i].site
	}
	ways, _, growth := d.Stacks(changed, diff.MetricOf(metric), 0)
	var since *changes
	if commit := cmp.Or(r.since, r.commit); g.repository != nil && commit != "" {
		since = g.repository.changesSince(commit)
	}
	sites = make([]Site, 0, len(found))
	for i := range found {
		f, telling := found[i].site.Frame(), tellingOf(&growth[i])
		callers := callersOf(now, f, ways[i], telling)
		s := Site{
			Function: f.Function, File: f.File, Line: f.Line, Module: f.Module, Was: found[i].was, Now: found[i].now,
			Status: statusOf(found[i].site, metric) + of, Changed: []LineChange{},
			Callers: since.through(ctx, now, found[i].site, callers, telling),
		}
		if since != nil {
			s.Changed = since.near(ctx, &s)
		}
		sites = append(sites, s)
	}
	return sites, gone, nil
}

// goneWords tell what sites had that are not found again, where that is something:
// one that was renamed and changed stands as new with all that it had.
func goneWords(lost []grown, least float64) string {
	var all float64
	for _, s := range lost {
		all -= s.growth
	}
	if all <= 0 || all < least {
		return ""
	}
	f := &lost[0].site.Old.Frame
	name := signature.WithoutReturnType(signature.WithoutParameters(f.Function))
	if f.Line > 0 {
		name = strings.TrimSpace(fmt.Sprintf("%s %s:%d", name, path.Base(f.File), f.Line))
	}
	return fmt.Sprintf("gone are %s, most of %s", figure.Count(uint64(all+0.5)), cmp.Or(name, f.Module, "a site without stack"))
}

// commonUnit is the unit to compare by, where both have it.
func commonUnit(old, new *profile.Profile, unit string) string {
	if unit != "" && diff.HasUnit(old, new, unit) {
		return unit
	}
	return ""
}

// growths finds the sites at which a metric grew, and those that are gone. Peaks of
// the reference come from its sites, since a profile of sums has none.
func growths(d *diff.Diff, metric string, kept map[stacks.Frame]stacks.Figures) (found, lost []grown) {
	scale := 1.0
	if d.Per != nil {
		scale = float64(d.Per.New.Count) / float64(d.Per.Old.Count)
	}
	for _, s := range d.Sites {
		old, new := s.OldCounters(), s.NewCounters()
		f := grown{site: s}
		switch metric {
		case budget.Bytes:
			f.was, f.now = old.Bytes, new.Bytes
			f.growth = float64(f.now) - scale*float64(f.was)
		case budget.Peak:
			f.was, f.now = peakOf(s.Old, kept), uint64(max(0, new.PeakBytes))
			f.growth = float64(f.now) - float64(f.was)
		case budget.Live:
			f.was, f.now = uint64(old.LiveBytes()), uint64(new.LiveBytes())
			f.growth = float64(f.now) - float64(f.was)
		default:
			f.was, f.now, f.growth = old.Calls, new.Calls, s.Excess
		}
		switch {
		case f.growth > 0:
			found = append(found, f)
		case s.New == nil:
			lost = append(lost, f)
		}
	}
	slices.SortStableFunc(found, func(a, b grown) int { return cmp.Compare(b.growth, a.growth) })
	slices.SortStableFunc(lost, func(a, b grown) int { return cmp.Compare(a.growth, b.growth) })
	return found, lost
}

func peakOf(p *diff.Place, kept map[stacks.Frame]stacks.Figures) (sum uint64) {
	if p == nil {
		return 0
	}
	for _, s := range p.Sites {
		sum += kept[stacks.Frame{Function: s.Function, File: s.File, Line: s.Line, Module: s.Module}].PeakBytes
	}
	return sum
}

// statusOf says in a word what became of a site.
func statusOf(s *diff.Site, metric string) string {
	switch {
	case s.Old == nil:
		return "new"
	case metric == budget.Live:
		return "more never freed"
	case s.Excess > 0:
		return "more"
	}
	return "bigger"
}

// tellingOf are the callers that a change comes from, outwards, with the lines
// that most of it comes from.
func tellingOf(g *diff.Growth) []profile.Frame {
	if len(g.Branches) > 0 {
		return append(slices.Clone(g.Path), g.Branches[0].Frame)
	}
	return g.Path
}

// callersOf returns the way to a site that grew most, outwards.
func callersOf(p *profile.Profile, site *profile.Frame, ways []diff.StackChange, telling []profile.Frame) []Frame {
	var best []Frame
	for _, w := range ways {
		if w.New == 0 {
			continue
		}
		callers := outside(p, site, w.Frames)
		if best == nil {
			best = callers
		}
		if leadsThrough(callers, site, telling, false) {
			best = callers
			break
		}
	}
	if best == nil {
		return []Frame{}
	}
	return best[:min(len(best), max(mostCallers, len(telling)))]
}

// outside are the frames of a stack beyond its site that say something.
func outside(p *profile.Profile, site *profile.Frame, frames []profile.Frame) []Frame {
	callers := []Frame{}
	at := slices.IndexFunc(frames, func(f profile.Frame) bool { return f == *site })
	end := stacks.Telling(len(frames), func(i int) (function, module string) { return frames[i].Function, frames[i].Module })
	for i := at + 1; i < end; i++ {
		if f := &frames[i]; !p.Wraps(f) {
			callers = append(callers, Frame{Function: f.Function, File: f.File, Line: f.Line, Module: f.Module})
		}
	}
	return callers
}

// mostStacks of a site are looked at for lines.
const mostStacks = 500

// through returns of the stacks that lead through the same functions to a site
// the one with the telling lines; callers where there is none. Where another one
// with as many calls has a call on a line that changed, it is that one. A
// comparison goes by functions, and one may call another at several lines. c is
// nil where nobody knows what changed.
func (c *changes) through(ctx context.Context, p *profile.Profile, site *diff.Site, callers []Frame, telling []profile.Frame) []Frame {
	type way struct {
		callers []Frame
		calls   uint64
	}
	var ways []way
	stacks, _ := p.Stacks(site.New.Sites, mostStacks)
	for i := range stacks {
		for _, s := range stacks[i] {
			if others := outside(p, site.Frame(), s.Frames); len(others) >= len(callers) && sameFunctions(others[:len(callers)], callers) {
				ways = append(ways, way{others[:len(callers)], s.Allocations})
			}
		}
	}
	grew := -1
	if len(telling) > 0 {
		grew = slices.IndexFunc(ways, func(w way) bool { return leadsThrough(w.callers, site.Frame(), telling, true) })
	}
	changed := -1
	if c != nil {
		changed = slices.IndexFunc(ways, func(w way) bool { return (grew < 0 || w.calls == ways[grew].calls) && c.touch(ctx, w.callers) })
	}
	switch {
	case changed >= 0 && (grew < 0 || !c.touch(ctx, ways[grew].callers)):
		return ways[changed].callers
	case grew >= 0:
		return ways[grew].callers
	}
	return callers
}

func sameFunctions(a, b []Frame) bool {
	return slices.EqualFunc(a, b, func(a, b Frame) bool { return a.Function == b.Function && a.Module == b.Module })
}

// touch tells whether a frame is on a line that is there since.
func (c *changes) touch(ctx context.Context, frames []Frame) bool {
	return slices.ContainsFunc(frames, func(f Frame) bool {
		return f.Line > 0 && slices.ContainsFunc(c.of(ctx, c.name(ctx, f.File)), func(l LineChange) bool { return l.Line == f.Line && l.New != "" })
	})
}

// leadsThrough tells whether the callers of a site begin with the telling ones,
// with their lines if byLines is set. A function that calls itself is told once.
func leadsThrough(callers []Frame, site *profile.Frame, telling []profile.Frame, byLines bool) bool {
	i, last := 0, site.Function
	for k := 0; k < len(callers) && i < len(telling); k++ {
		switch c := &callers[k]; {
		case c.Function == telling[i].Function && (!byLines || c.Line == telling[i].Line):
			i, last = i+1, c.Function
		case c.Function != last:
			return false
		}
	}
	return i == len(telling)
}
