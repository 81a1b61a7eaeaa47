package diff

import (
	"math"

	"mallow/internal/recording"
)

// standardErrors is how far two estimates must lie apart to count as
// different: by chance one in 370 does.
const standardErrors = 3

// judge decides what became of a site.
func (d *Diff) judge(s *Site) {
	old, new := s.OldCounters(), s.NewCounters()
	s.Excess = float64(new.Calls) - float64(old.Calls)
	switch {
	case equal(old, new) || d.inProportion(old, new):
		s.Status, s.Excess = Same, 0
	case withinError(old, new):
		s.Status, s.Excess, s.WithinError = Same, 0, true
	case s.Old == nil:
		s.Status = New
	case s.New == nil:
		s.Status = Gone
	default:
		s.Status = Changed
		s.Excess = float64(new.Calls) - d.asMuchWork(old.Calls)
	}
}

// equal compares what does not depend on the order in which threads ran.
func equal(a, b *recording.Counters) bool {
	return a.Calls == b.Calls && a.Bytes == b.Bytes && a.Failed == b.Failed &&
		a.LiveBlocks() == b.LiveBlocks() && a.LiveBytes() == b.LiveBytes()
}

// asMuchWork is what the old profile would count had it done as much work as
// the new one.
func (d *Diff) asMuchWork(old uint64) float64 {
	if d.Per == nil {
		return float64(old)
	}
	return float64(old) * float64(d.Per.New.Count) / float64(d.Per.Old.Count)
}

// inProportion tells whether the new profile has of everything as much more
// than the old one as it did more work, to a block: work seldom comes in exact
// multiples.
func (d *Diff) inProportion(old, new *recording.Counters) bool {
	if d.Per == nil || old.Calls == 0 {
		return false
	}
	oldWork, newWork := float64(d.Per.Old.Count), float64(d.Per.New.Count)
	return abs(float64(new.Calls)*oldWork-float64(old.Calls)*newWork) <= min(oldWork, newWork) &&
		notable(mean(old), mean(new)) == 0 && (old.LiveBlocks() > 0) == (new.LiveBlocks() > 0)
}

func withinError(old, new *recording.Counters) bool {
	if old.Samples+new.Samples == 0 {
		return false
	}
	near := func(a, b, varianceA, varianceB float64) bool {
		return abs(a-b) <= standardErrors*math.Sqrt(varianceA+varianceB)
	}
	return near(float64(old.Calls), float64(new.Calls), old.Variance.Calls, new.Variance.Calls) &&
		near(float64(old.Bytes), float64(new.Bytes), old.Variance.Bytes, new.Variance.Bytes) &&
		near(float64(old.LiveBytes()), float64(new.LiveBytes()), old.Variance.LiveBytes, new.Variance.LiveBytes)
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
	compare(float64(new.Failed)-float64(old.Failed), MoreFailed, FewerFailed)
	return kinds
}

// notable is the change from old to new, 0 where it is less than a hundredth.
func notable(old, new float64) float64 {
	if abs(new-old) < 0.01*max(old, new) {
		return 0
	}
	return new - old
}
