package rule

import (
	"cmp"
	"math"
	"slices"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

const (
	// Callers are looked for so far outwards.
	farthest = 12
	// A caller with this share of the calls is as good as the only one.
	dominant = 0.9
	// A caller's sizes are its own if they spread over no more than this part
	// of what all callers ask for, and by magnitude over no more than that one:
	// of sizes that are mostly small one caller has the largest by chance.
	narrower, fewerMagnitudes = 0.5, 0.75
)

// branching is a part whose callers are looked at, and how far that went.
type branching struct{ part, reached *profile.Part }

// withoutHelpers puts the callers in the place of parts that only pass on what
// they allocate: functions that do not release the blocks themselves, and are
// asked for other sizes by every caller. Nothing could be changed in them that
// would not concern all.
func (c *Case) withoutHelpers(parts []*profile.Part) []*profile.Part {
	var settled []*profile.Part
	pending := make([]branching, len(parts))
	for i, part := range parts {
		pending[i] = branching{part, part}
	}
	for range farthest {
		var open []branching
		for _, b := range pending {
			if b.part.Counters.SizeMin < b.part.Counters.SizeMax {
				open = append(open, b)
			} else {
				settled = append(settled, b.part)
			}
		}
		pending = pending[:0:0]
		for i, callers := range c.Profile.Split(reached(open)) {
			part := open[i].part
			switch {
			case len(callers) == 0:
				settled = append(settled, part)
			case differ(part, callers) && !c.releases(part):
				for _, caller := range callers {
					if c.heavy(caller.Site) {
						pending = append(pending, branching{caller, caller})
					}
				}
			case Share(callers[0].Counters.Calls, part.Counters.Calls) >= dominant:
				pending = append(pending, branching{part, callers[0]})
			default:
				settled = append(settled, part)
			}
		}
	}
	for _, b := range pending {
		settled = append(settled, b.part)
	}
	slices.SortStableFunc(settled, func(a, b *profile.Part) int { return cmp.Compare(b.Counters.Calls, a.Counters.Calls) })
	return settled
}

func reached(open []branching) []*profile.Part {
	parts := make([]*profile.Part, len(open))
	for i, b := range open {
		parts[i] = b.reached
	}
	return parts
}

// releases tells whether the function releases most of its blocks itself.
func (c *Case) releases(part *profile.Part) bool {
	by := c.Profile.Knowledge([]*profile.Site{part.Site})[0].FreedBy
	return by != nil && by.Function == part.Function && Share(by.Least, by.OutOf) >= 0.5
}

// spreadOf is how far sizes lie apart, in bytes and in powers of two.
func spreadOf(n *recording.Counters) (bytes, magnitudes float64) {
	return float64(n.SizeMax - n.SizeMin), math.Log2(float64(max(1, n.SizeMax)) / float64(max(1, n.SizeMin)))
}

// differ tells whether most calls come from callers that ask for sizes of
// their own.
func differ(part *profile.Part, callers []*profile.Part) bool {
	spread, magnitudes := spreadOf(&part.Counters)
	functions := make(map[string]bool)
	var calls uint64
	for _, caller := range callers {
		n := &caller.Counters
		if caller.Function != part.Function {
			functions[caller.Function] = true
		}
		if n.Calls == 0 {
			continue
		}
		if own, ownMagnitudes := spreadOf(n); own <= narrower*spread && ownMagnitudes <= fewerMagnitudes*magnitudes {
			calls += n.Calls
		}
	}
	return len(functions) > 1 && Share(calls, part.Counters.Calls) >= 0.5
}
