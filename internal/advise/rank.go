package advise

import (
	"cmp"
	"fmt"
	"slices"

	"mallow/internal/advise/rule"
)

// rank puts that first which saves most CPU time, where it is not known most
// allocations.
func rank(all []Advice) {
	slices.SortStableFunc(all, func(a, b Advice) int {
		return cmp.Or(
			cmp.Compare(cpuShare(&b.Saves), cpuShare(&a.Saves)),
			cmp.Compare(b.Saves.Allocations, a.Saves.Allocations),
			cmp.Compare(b.Saves.Bytes, a.Saves.Bytes),
		)
	})
}

func cpuShare(s *Saves) float64 {
	if s.CPUShare == nil {
		return 0
	}
	return *s.CPUShare
}

// stop tells that the work is done: there is nothing to be said, or all of it
// together is not worth a per cent of CPU time.
func stop(c *rule.Case, all []Advice) string {
	if c.Allocations == 0 {
		return ""
	}
	if len(all) == 0 {
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
	return fmt.Sprintf("stop here: all of this together would save %.1g %% of the CPU time", 100*sum)
}
