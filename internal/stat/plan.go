package stat

import "math"

// Plan is when to look whether the rounds show a difference. Looking again and
// again finds one in the end, where there is none; so the looks are few and
// share the rate of false alarms among them.
type Plan struct {
	// Looks are numbers of rounds, ascending; the last is the most. They are
	// empty when so few rounds can show nothing.
	Looks []int
	// Rate is that of the false alarms of each look at each side.
	Rate float64
	// Sides are compared with the base.
	Sides int
}

// NewPlan spreads looks over at most so many rounds, in which so many sides
// are compared with one.
func NewPlan(most, sides int) Plan {
	const step = 1.4
	// The first look is as early as all signs alike would be rare enough.
	for first := 6; first <= most; first++ {
		looks := []int{first}
		for next := float64(first) * step; next*math.Sqrt(step) < float64(most); next *= step {
			looks = append(looks, int(math.Round(next)))
		}
		if first < most {
			looks = append(looks, most)
		}
		p := Plan{Looks: looks, Rate: FalseAlarms / float64(max(1, sides)) / float64(len(looks)), Sides: sides}
		if rejected(first, p.Rate/2) >= 0 {
			return p
		}
	}
	return Plan{Rate: FalseAlarms / float64(max(1, sides)), Sides: sides}
}

// LeastRounds is how many rounds it takes to show any difference of so many
// sides.
func LeastRounds(sides int) int {
	for rounds := 1; ; rounds++ {
		if len(NewPlan(rounds, sides).Looks) > 0 {
			return rounds
		}
	}
}

// IsLook tells whether it is time to look.
func (p Plan) IsLook(rounds int) bool {
	for _, look := range p.Looks {
		if look == rounds {
			return true
		}
	}
	return false
}

// RateAt is the rate for a look after so many rounds. One that was not planned
// is the last, because time is over: it has what the looks that will not come
// would have had.
func (p Plan) RateAt(rounds int) float64 {
	rate := p.Rate
	for _, look := range p.Looks {
		if look > rounds && !p.IsLook(rounds) {
			rate += p.Rate
		}
	}
	if len(p.Looks) > 0 && !p.IsLook(rounds) {
		rate -= p.Rate
	}
	return rate
}
