package main

import (
	"math/rand"
	"slices"
)

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// ratio is a ratio of medians with the bounds of its 95 % interval.
type ratio struct{ value, low, high float64 }

// ratioOf compares two series that ran interleaved, by the bootstrap: both are drawn anew 2,000 times.
func ratioOf(values, base []float64) ratio {
	const draws = 2000
	random := rand.New(rand.NewSource(1))
	drawMedian := func(from []float64) float64 {
		drawn := make([]float64, len(from))
		for i := range drawn {
			drawn[i] = from[random.Intn(len(from))]
		}
		return median(drawn)
	}
	ratios := make([]float64, draws)
	for i := range ratios {
		ratios[i] = drawMedian(values) / drawMedian(base)
	}
	slices.Sort(ratios)
	return ratio{median(values) / median(base), ratios[draws*25/1000], ratios[draws*975/1000-1]}
}
