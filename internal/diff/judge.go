package diff

import (
	"math"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// standardErrors is how far two estimates must lie apart to count as
// different: by chance one in 370 does.
const standardErrors = 3

// judge decides what became of a site.
func (d *Diff) judge(s *Site) {
	old, new := s.OldCounters(), s.NewCounters()
	s.Excess = float64(new.Calls) - d.asMuchWork(old.Calls)
	if !d.FailedUnknown() {
		s.MoreFailed = int64(new.Failed) - int64(old.Failed)
	}
	switch {
	case s.MoreFailed == 0 && equal(old, new) || d.inProportion(old, new):
		s.Status, s.Excess = Same, 0
	case d.withinError(old, new):
		s.Status, s.Excess, s.WithinError = Same, 0, true
	case s.Old == nil:
		s.Status = New
	case s.New == nil:
		s.Status = Gone
	default:
		s.Status = Changed
		s.Excess = d.excessOf(old.Calls, new.Calls)
	}
}

// judgeByStack looks closer at sites where different amounts of work were
// done: some of their stacks may belong to the work, and others be made once.
func (d *Diff) judgeByStack() {
	if d.Per == nil {
		return
	}
	var changed []*Site
	for _, s := range d.Sites {
		if s.Status == Changed {
			changed = append(changed, s)
		}
	}
	j := d.join(changed)
	for i, s := range changed {
		j.weigh(i, Allocations)
		s.Excess = 0
		kept := true // by each stack: what one makes more another may make less
		for _, w := range j.ways[i] {
			excess := d.excessOf(w.old, w.new)
			s.Excess += excess
			kept = kept && excess == 0
		}
		old, new := s.OldCounters(), s.NewCounters()
		if kept && s.MoreFailed == 0 && notable(mean(old), mean(new)) == 0 && (old.LiveBlocks() > 0) == (new.LiveBlocks() > 0) {
			s.Status = Same
		}
	}
}

// equal compares what does not depend on the order in which threads ran.
func equal(a, b *recording.Counters) bool {
	return a.Calls == b.Calls && a.Bytes == b.Bytes && a.LiveBlocks() == b.LiveBlocks() && a.LiveBytes() == b.LiveBytes()
}

// asMuchWork is what the old profile would count had it done as much work as
// the new one.
func (d *Diff) asMuchWork(old uint64) float64 {
	if d.Per == nil {
		return float64(old)
	}
	return float64(old) * float64(d.Per.New.Count) / float64(d.Per.Old.Count)
}

// excessOf is by how many calls new is more than old, or than old in
// proportion to the work, whichever is nearer; 0 where it is one of them.
func (d *Diff) excessOf(old, new uint64) float64 {
	if old == new || d.proportional(old, new) {
		return 0
	}
	once, work, now := float64(old), d.asMuchWork(old), float64(new)
	if ratio(now, once) < ratio(now, work) {
		return now - once
	}
	return now - work
}

// ratio is how many times the smaller one the greater one is.
func ratio(a, b float64) float64 { return max(a, b) / min(a, b) }

// proportional tells whether there are as many more calls as more work was
// done, to a block: work seldom comes in exact multiples.
func (d *Diff) proportional(old, new uint64) bool {
	if d.Per == nil || old == 0 || new == 0 {
		return false
	}
	oldWork, newWork := float64(d.Per.Old.Count), float64(d.Per.New.Count)
	return abs(float64(new)*oldWork-float64(old)*newWork) <= min(oldWork, newWork)
}

// inProportion tells whether the new profile has of everything as much more
// than the old one as it did more work.
func (d *Diff) inProportion(old, new *recording.Counters) bool {
	return d.proportional(old.Calls, new.Calls) &&
		notable(mean(old), mean(new)) == 0 && (old.LiveBlocks() > 0) == (new.LiveBlocks() > 0)
}

// withinError tells whether chance alone explains that estimates differ.
func (d *Diff) withinError(old, new *recording.Counters) bool {
	if d.Old.Sampling == nil && d.New.Sampling == nil {
		return false
	}
	a, b := variance(d.Old, old, new), variance(d.New, new, old)
	near := func(a, b, varianceA, varianceB float64) bool {
		return abs(a-b) <= standardErrors*math.Sqrt(varianceA+varianceB)
	}
	return near(float64(old.Calls), float64(new.Calls), a.Calls, b.Calls) &&
		near(float64(old.Bytes), float64(new.Bytes), a.Bytes, b.Bytes) &&
		near(float64(old.LiveBytes()), float64(new.LiveBytes()), a.LiveBytes, b.LiveBytes)
}

// variance is that of a site's figures, or, where it is greater, what it would
// be if they were truly those of the other side: where nothing was sampled
// there may have been something. Samples come one in so many bytes.
func variance(p *profile.Profile, own, other *recording.Counters) recording.Variance {
	if p.Sampling == nil {
		return own.Variance
	}
	every := float64(p.Sampling.MeanBytes)
	v := own.Variance
	if size := mean(other); size > 0 {
		v.Calls = max(v.Calls, float64(other.Calls)*every/size)
	}
	v.Bytes = max(v.Bytes, float64(other.Bytes)*every)
	v.LiveBytes = max(v.LiveBytes, float64(other.LiveBytes())*every)
	return v
}

// Kind is a way in which a site changed.
type Kind string

const (
	More        Kind = "more"    // calls
	Fewer       Kind = "fewer"   // calls
	Bigger      Kind = "bigger"  // bytes a block
	Smaller     Kind = "smaller" // bytes a block
	LiveMore    Kind = "more never freed"
	LiveFewer   Kind = "fewer never freed"
	MoreFailed  Kind = "more failed"
	FewerFailed Kind = "fewer failed"
)

// Kinds tells how a site changed; nothing for one that is the same, new or
// gone.
func (s *Site) Kinds() []Kind {
	if s.Status != Changed {
		return nil
	}
	old, new := s.OldCounters(), s.NewCounters()
	var kinds []Kind
	compare := func(change float64, up, down Kind) {
		if change > 0 {
			kinds = append(kinds, up)
		} else if change < 0 {
			kinds = append(kinds, down)
		}
	}
	compare(s.Excess, More, Fewer)
	if old.Calls > 0 && new.Calls > 0 {
		compare(notable(mean(old), mean(new)), Bigger, Smaller)
	}
	compare(float64(new.LiveBlocks()-old.LiveBlocks()), LiveMore, LiveFewer)
	compare(float64(s.MoreFailed), MoreFailed, FewerFailed)
	return kinds
}

// notable is the change from old to new, 0 where it is less than a hundredth.
func notable(old, new float64) float64 {
	if abs(new-old) < 0.01*max(old, new) {
		return 0
	}
	return new - old
}
