package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

// littleTime is the share of CPU time below which an advice needs another
// reason than speed: many calls.
const littleTime = worthwhile / 10

// worthMentioning tells whether a finding saves enough: a per cent of the
// allocations, or is notable for another reason. Where the CPU time is known
// it must be worth some of it, too.
func worthMentioning(a *Advice, f *found) bool {
	cpu := a.Saves.CPUShare
	switch {
	case f.OnlyTime && cpu == nil:
		return a.Saves.Share >= manyCalls
	case f.OnlyTime:
		return *cpu >= worthwhile
	case f.Notable:
		return true
	case a.Saves.Share < worthwhile:
		return false
	case cpu == nil:
		return true
	case f.ForSpeed:
		return *cpu >= worthwhile
	case f.Means >= rule.Pool:
		return *cpu >= worthwhile || a.Saves.Share >= 2*manyCalls
	}
	return *cpu >= littleTime || a.Saves.Share >= manyCalls
}

// rank puts that first which saves most CPU time, where it is not known most
// allocations. Of several that save about as much as each other the one with
// the better remedy comes first: prices are not known so well that they could
// decide.
func rank(all []Advice) {
	slices.SortStableFunc(all, func(a, b Advice) int {
		return cmp.Or(
			cmp.Compare(cpuShare(&b.Saves), cpuShare(&a.Saves)),
			cmp.Compare(b.Saves.Allocations, a.Saves.Allocations),
			cmp.Compare(b.Saves.Bytes, a.Saves.Bytes),
		)
	})
	for i := range all {
		if best := bestRemedy(all[i:]); best > 0 {
			advice := all[i+best]
			copy(all[i+1:], all[i:i+best])
			all[i] = advice
		}
	}
}

// asMuch is the part of what the first saves that another one must save so as
// to be as good.
const asMuch = 0.5

// bestRemedy returns which of those that save about as much as the first has
// the best remedy.
func bestRemedy(ranked []Advice) int {
	best, most := 0, cpuShare(&ranked[0].Saves)
	for i := range ranked {
		if most == 0 || cpuShare(&ranked[i].Saves) < asMuch*most {
			break
		}
		if ranked[i].Means < ranked[best].Means {
			best = i
		}
	}
	return best
}

func cpuShare(s *Saves) float64 {
	if s.CPUShare == nil {
		return 0
	}
	return *s.CPUShare
}

// stop tells that the work is done: there is nothing to be said, or all of it
// together is not worth a per cent of CPU time.
func stop(c *rule.Case, all []Advice, left *leftOut) string {
	if c.Allocations == 0 {
		return ""
	}
	if len(all) == 0 {
		if left.changes > 0 {
			return "stop here: the " + left.known() + left.time()
		}
		return "stop here: no change is known that would save a per cent of the allocations"
	}
	var sum float64
	for i := range all {
		if all[i].Saves.CPUShare == nil {
			return ""
		}
		sum += *all[i].Saves.CPUShare
	}
	if sum >= worthwhile {
		return ""
	}
	return fmt.Sprintf("stop here: all of this together would save %s of the CPU time", percent(sum))
}

// leftOut is advice that would save a per cent of the allocations, and no CPU
// time that is worth the work.
type leftOut struct {
	changes    int
	share, cpu float64
}

func (l *leftOut) add(a *Advice) {
	if a.Saves.CPUShare != nil && a.Saves.Share >= worthwhile {
		l.changes++
		l.share, l.cpu = min(1, l.share+a.Saves.Share), l.cpu+*a.Saves.CPUShare
	}
}

func (l *leftOut) known() string {
	if l.changes == 1 {
		return "change that is known would save "
	}
	return fmt.Sprintf("%d changes that are known would save ", l.changes)
}

func (l *leftOut) time() string {
	if l.cpu >= worthwhile {
		return fmt.Sprintf("%.1f %% of the CPU time", 100*l.cpu)
	}
	return percent(l.cpu) + " of the CPU time"
}

func (l *leftOut) words() string {
	if l.changes == 0 {
		return ""
	}
	const parts = 1_000_000
	return fmt.Sprintf("left out: %s that would save %s of the allocations, and %s",
		figure.Counted(uint64(l.changes), "change", "changes"), figure.Percent(uint64(l.share*parts+0.5), parts), l.time())
}

// percent writes a share of less than one per cent, and never as a whole one.
func percent(share float64) string {
	switch tenths := math.Round(1000 * share); {
	case share < 0.001:
		return "less than 0.1 %"
	case tenths >= 10:
		return "less than 1 %"
	default:
		return fmt.Sprintf("%.1f %%", tenths/10)
	}
}
