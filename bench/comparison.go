package main

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
)

// comparison is libmallow against the best of the other allocators at one figure.
type comparison struct {
	figure
	best   string // the allocator of the least median, libmallow apart; glibc counts as any other
	ours   float64
	theirs float64 // the median of the best
	ratio  ratio
	draws  []float64
	// The ratio to the allocator that was best in the *other* rounds, the median over the rounds. The one above picks the
	// least of many noisy medians and so flatters the peers; this one does not.
	blind float64
}

// compare returns nothing when libmallow or everybody else failed at the row.
func compare(f figure) (comparison, bool) {
	best := bestOther(f.values, -1)
	if best == "" || len(f.values[ours]) == 0 {
		return comparison{}, false
	}
	c := comparison{figure: f, best: best, ours: median(f.values[ours]), theirs: median(f.values[best])}
	name := fnv.New64()
	name.Write([]byte(f.name() + string(f.of)))
	c.draws = drawRatios(int64(name.Sum64()), f.values[ours], f.values[best])
	c.ratio = intervalOf(c.ours/c.theirs, c.draws)
	c.blind = blindRatio(f.values)
	return c, true
}

func compareAll(figures []figure) []comparison {
	var all []comparison
	for _, f := range figures {
		if c, found := compare(f); found {
			all = append(all, c)
		}
	}
	return all
}

// bestOther is the allocator with the least median over all rounds but `without` (-1 for none), libmallow apart; of
// equals the first by name.
func bestOther(values map[string][]float64, without int) string {
	best, least := "", math.Inf(1)
	for name, series := range values {
		if name == ours {
			continue
		}
		if without >= 0 && without < len(series) && len(series) > 1 {
			series = slices.Delete(slices.Clone(series), without, without+1)
		}
		if one := median(series); one < least || one == least && name < best {
			best, least = name, one
		}
	}
	return best
}

func blindRatio(values map[string][]float64) float64 {
	var ratios []float64
	for round, mine := range values[ours] {
		if series := values[bestOther(values, round)]; round < len(series) {
			ratios = append(ratios, mine/series[round])
		}
	}
	return median(ratios)
}

// limit is the ratio to the best peer above which no row shall be.
const limit = 1.05

func (c comparison) isAbove() bool { return c.ratio.low > limit }

func (c comparison) verdict() string {
	switch {
	case c.isAbove():
		return "**above 1.05**"
	case c.ratio.value > limit:
		return "above 1.05, not shown"
	}
	return verdict(c.ratio)
}

// mean is a geometric mean over rows, each series of points being one row.
type mean struct {
	rows  int
	ratio ratio
	blind float64
	worst comparison
	above int // how many are shown above the limit
}

// meanOf returns a mean of no rows for no comparisons.
func meanOf(all []comparison) mean {
	result := mean{blind: 1}
	if len(all) == 0 {
		return result
	}
	for _, c := range all {
		if c.isAbove() {
			result.above++
		}
	}
	result.worst = slices.MaxFunc(all, func(a, b comparison) int { return cmp.Compare(a.ratio.value, b.ratio.value) })
	rows := byRow(all, func(c comparison) string { return c.rowName() })
	result.rows = len(rows)
	over := func(value func(comparison) float64) float64 { return meanOverRows(rows, value) }
	draws := make([]float64, bootstrapDraws)
	for i := range draws {
		draws[i] = over(func(c comparison) float64 { return c.draws[i] })
	}
	result.ratio = intervalOf(over(func(c comparison) float64 { return c.ratio.value }), draws)
	result.blind = over(func(c comparison) float64 { return c.blind })
	return result
}

// byRow puts those together that bear one name, in their order.
func byRow[T any](all []T, name func(T) string) [][]T {
	at := map[string]int{}
	var rows [][]T
	for _, one := range all {
		i, found := at[name(one)]
		if !found {
			i = len(rows)
			at[name(one)] = i
			rows = append(rows, nil)
		}
		rows[i] = append(rows[i], one)
	}
	return rows
}

func meanOverRows[T any](rows [][]T, value func(T) float64) float64 {
	means := make([]float64, len(rows))
	for i, row := range rows {
		values := make([]float64, len(row))
		for j, one := range row {
			values[j] = value(one)
		}
		means[i] = geometricMean(values)
	}
	return geometricMean(means)
}

// allRound is the geometric mean, over the rows that it could run, of an allocator against the best peer of each; the
// second result is the number of those rows.
func allRound(figures []figure, name string) (float64, int) {
	ran := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool {
		return len(f.values[name]) == 0 || bestOther(f.values, -1) == ""
	})
	rows := byRow(ran, figure.rowName)
	return meanOverRows(rows, func(f figure) float64 {
		return median(f.values[name]) / median(f.values[bestOther(f.values, -1)])
	}), len(rows)
}

// step is from one point of a curve to the next: how much dearer it is for libmallow than for the best peer of each.
type step struct {
	row      string
	from, to comparison
	factor   float64
}

// steepest returns the worst step of each series of points, the sizes ascending.
func steepest(all []comparison) []step {
	var found []step
	for _, points := range byRow(all, func(c comparison) string { return c.rowName() }) {
		slices.SortFunc(points, func(a, b comparison) int { return cmp.Compare(a.x, b.x) })
		var worst step
		for i := 1; i < len(points); i++ {
			from, to := points[i-1], points[i]
			if factor := to.ratio.value / from.ratio.value; factor > worst.factor {
				worst = step{to.rowName(), from, to, factor}
			}
		}
		if worst.factor > 0 {
			found = append(found, worst)
		}
	}
	return found
}
