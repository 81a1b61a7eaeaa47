package stat

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/mathx"
)

// Change is a point from which on a series has another level than before.
type Change struct {
	Index         int     // of the first value of the new level
	Before, After Level   // what lies between this change and its neighbours
	P             float64 // how likely chance alone makes the two differ so much, 0..1
}

// Level is a stretch of a series in which nothing changes but noise.
type Level struct {
	N         int
	Mean      float64
	Deviation float64 // of the values, with N as the divisor
}

// Magnitude is by which part the two levels differ, of the smaller one: 0.5
// for half as much again. From or to nothing it is 1.
func (c *Change) Magnitude() float64 {
	a, b := c.Before.Mean, c.After.Mean
	magnitude := 0.0
	if a != 0 {
		magnitude = math.Abs(b/a - 1)
	}
	if b != 0 {
		magnitude = max(magnitude, math.Abs(a/b-1))
	}
	return magnitude
}

// ChangeOptions decide what counts as a change. The zero value is for
// everyday use.
type ChangeOptions struct {
	// Window is how many values are looked at in one go, 0 for 50. Windows
	// overlap by half, so that a change near an edge is inside of another one.
	Window int
	// Rate is how likely chance may make a change, 0 for 0.001.
	Rate float64
	// Magnitude is what a change must be greater than; see Change.Magnitude.
	Magnitude float64
}

// Changes returns the points at which the level of a series changes. The
// values must be finite, and in the order in which they came about.
//
// Where the values before and after a point differ most, by energy statistics
// (E-Divisive: Matteson and James, 2014), the series is divided, as long as a
// t-test finds them different; all this in windows. The weakest divisions are
// then taken back until each that remains is significant (Hunter: Fleming and
// others, 2023). That is what Apache Otava does, and the results are the same.
// There is no chance in it. The time is linear in the length of the series.
func Changes(series []float64, o ChangeOptions) []Change {
	if o.Window < 2 {
		o.Window = 50
	}
	if o.Rate <= 0 {
		o.Rate = 0.001
	}
	return significant(series, candidates(series, o), o)
}

// candidates returns the indexes of possible changes, ascending. They may be
// less likely than those that remain: beside one that is not found yet a
// change looks weaker than it is.
func candidates(series []float64, o ChangeOptions) []int {
	rate := o.Rate
	switch {
	case rate < 0.05:
		rate *= 10
	case rate < 0.5:
		rate *= 2
	}
	var found []int
	for start := 0; start < len(series); {
		next := start + o.Window/2
		for _, index := range divide(series[start:min(start+o.Window, len(series))], rate) {
			index += start
			next = max(next, index)
			if at, known := slices.BinarySearch(found, index); !known {
				found = slices.Insert(found, at, index)
			}
		}
		start = next
	}
	return found
}

// divide splits a window where its parts differ most, as long as that is no
// more likely than rate.
func divide(window []float64, rate float64) []int {
	bounds := []int{0, len(window)}
	parts := []division{divideOnce(window)}
	for {
		widest := 0
		for i := range parts {
			if parts[i].energy > parts[widest].energy {
				widest = i
			}
		}
		from, to := bounds[widest], bounds[widest+1]
		at := from + parts[widest].at
		if at == from || difference(levelOf(window[from:at]), levelOf(window[at:to])) > rate {
			return bounds[1 : len(bounds)-1]
		}
		bounds = slices.Insert(bounds, widest+1, at)
		parts[widest] = divideOnce(window[from:at])
		parts = slices.Insert(parts, widest+1, divideOnce(window[at:to]))
	}
}

// division is where to split a stretch, 0 where it is too short, and by how
// much its parts differ.
type division struct {
	at     int
	energy float64
}

// divideOnce finds at, and end, for which the values before at and those from
// at to end differ most: by the mean distance of two values of different sides
// less the mean distances within each side, weighted by their numbers.
func divideOnce(x []float64) division {
	best := division{energy: math.Inf(-1)}
	if len(x) < 2 {
		return best
	}
	// Sums of the distances of all pairs of x[:k].
	pairs := make([]float64, len(x)+1)
	for k := range x {
		pairs[k+1] = pairs[k]
		for i := range k {
			pairs[k+1] += math.Abs(x[k] - x[i])
		}
	}
	inside := make([]float64, len(x)+1) // of all pairs of x[at:end], by end
	for at := len(x) - 1; at > 0; at-- {
		row := division{energy: math.Inf(-1)}
		distances := 0.0 // of x[at] to those up to end
		for end := at + 1; end <= len(x); end++ {
			distances += math.Abs(x[end-1] - x[at])
			inside[end] += distances
			before, after := float64(at), float64(end-at)
			energy := 2 / (before + after) * (pairs[end] - pairs[at] - inside[end])
			if at > 1 {
				energy -= 2 * after / (before + after) / (before - 1) * pairs[at]
			}
			if end-at > 1 {
				energy -= 2 * before / (before + after) / (after - 1) * inside[end]
			}
			if energy > row.energy {
				row = division{at, energy}
			}
		}
		if row.energy >= best.energy { // of equal ones the first in the series
			best = row
		}
	}
	return best
}

// significant takes changes back, the least likely one first, until all are
// likely and great enough.
func significant(series []float64, indexes []int, o ChangeOptions) []Change {
	changes := make([]Change, len(indexes))
	for i, index := range indexes {
		changes[i].Index = index
	}
	for i := range changes {
		measure(series, changes, i)
	}
	for len(changes) > 0 {
		weakest := 0
		for i := range changes {
			if changes[i].P > changes[weakest].P {
				weakest = i
			}
		}
		if changes[weakest].P < o.Rate {
			weakest = 0
			for i := range changes {
				if changes[i].Magnitude() < changes[weakest].Magnitude() {
					weakest = i
				}
			}
			if changes[weakest].Magnitude() > o.Magnitude {
				break
			}
		}
		changes = slices.Delete(changes, weakest, weakest+1)
		// What stands before the one that went keeps the weight that it had, in
		// Otava and so here: published results depend on it.
		measure(series, changes, weakest)
		measure(series, changes, weakest+1)
	}
	for i := range changes {
		measure(series, changes, i)
	}
	return changes
}

// measure compares what lies on both sides of a change, up to its neighbours.
func measure(series []float64, changes []Change, i int) {
	if i < 0 || i >= len(changes) {
		return
	}
	from, to := 0, len(series)
	if i > 0 {
		from = changes[i-1].Index
	}
	if i+1 < len(changes) {
		to = changes[i+1].Index
	}
	c := &changes[i]
	c.Before, c.After = levelOf(series[from:c.Index]), levelOf(series[c.Index:to])
	c.P = difference(c.Before, c.After)
}

// levelOf is exact where all values are equal, which sums of them are not.
func levelOf(x []float64) Level {
	sum := 0.0
	for _, v := range x {
		sum += v - x[0]
	}
	n := float64(len(x))
	mean := x[0] + sum/n
	squares := 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return Level{len(x), mean, math.Sqrt(squares / n)}
}

// difference is how likely two samples of the same thing have means that lie
// so far apart, by Student's t-test.
func difference(a, b Level) float64 {
	freedom := float64(a.N + b.N - 2)
	if freedom <= 0 || a.Mean == b.Mean {
		return 1
	}
	n, m := float64(a.N), float64(b.N)
	variance := ((n-1)*a.Deviation*a.Deviation + (m-1)*b.Deviation*b.Deviation) / freedom
	if variance == 0 {
		return 0
	}
	t := (a.Mean - b.Mean) / math.Sqrt(variance*(1/n+1/m))
	return mathx.BetaInc(freedom/(freedom+t*t), freedom/2, 0.5)
}
