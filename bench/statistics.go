package main

import (
	"math"
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

// ratioOf compares two series that ran interleaved, by the bootstrap.
func ratioOf(values, base []float64) ratio {
	return intervalOf(median(values)/median(base), drawRatios(1, values, base))
}

// bootstrapDraws is how often two series are drawn anew.
const bootstrapDraws = 2000

// drawRatios returns ratios of medians of both series drawn anew, with replacement.
func drawRatios(seed int64, values, base []float64) []float64 {
	random := rand.New(rand.NewSource(seed))
	drawMedian := func(from []float64) float64 {
		drawn := make([]float64, len(from))
		for i := range drawn {
			drawn[i] = from[random.Intn(len(from))]
		}
		return median(drawn)
	}
	ratios := make([]float64, bootstrapDraws)
	for i := range ratios {
		ratios[i] = drawMedian(values) / drawMedian(base)
	}
	return ratios
}

// intervalOf is a value with the interval that holds the middle 95 % of its draws.
func intervalOf(value float64, draws []float64) ratio {
	sorted := slices.Clone(draws)
	slices.Sort(sorted)
	return ratio{value, sorted[len(sorted)*25/1000], sorted[len(sorted)*975/1000-1]}
}

// geometricMean is 1 of nothing.
func geometricMean(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += math.Log(value)
	}
	return math.Exp(sum / float64(max(1, len(values))))
}
