// Package stat says of measured series what can be said, and no more: medians
// with intervals, and whether two sides differ.
//
// Two sides are compared by rounds. In each round both run once, in an order
// that chance decides. If the sides are the same thing, chance alone decides
// which of the two figures of a round is the larger, whatever the machine did
// meanwhile: drifts, bursts and outliers of the noise change how large a
// difference is, never its sign. So the signs can be counted (Wilcoxon's
// signed ranks), and the rate of false alarms needs no assumption about noise.
package stat

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Verdict is what a comparison shows, in words.
type Verdict string

// Less is faster: of times.
const (
	Faster       Verdict = "faster"
	Slower       Verdict = "slower"
	NoDifference Verdict = "no difference shown"
)

// FalseAlarms is the rate at which a comparison of things that do not differ
// may show a difference, over all its looks and all its sides.
const FalseAlarms = 0.01

// Confidence is that of the interval of a median.
const Confidence = 0.95

// Summary is of a series. Low and High bound the median with Confidence; they
// are infinite where there are too few values for that.
type Summary struct {
	Median, Low, High, Min, Max float64
}

// Summarize returns zeros of no values. It does not change them.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	of := benchmath.AssumeNothing.Summary(sample, Confidence)
	return Summary{Median: of.Center, Low: of.Lo, High: of.Hi, Min: slices.Min(values), Max: slices.Max(values)}
}

// Bounded tells whether there are values enough for Low and High.
func (s Summary) Bounded() bool { return !math.IsInf(s.High-s.Low, 0) }

// Ratio is how many times a figure of one side is that of the other.
type Ratio struct {
	Value float64
	// Low and High bound it; 0 and infinity where there are too few rounds.
	Low, High float64
}

// Shown tells whether the interval leaves 1 out.
func (r Ratio) Shown() bool { return r.Low > 1 || r.High < 1 }

// Verdict is for figures of which less is faster.
func (r Ratio) Verdict() Verdict {
	switch {
	case r.High < 1:
		return Faster
	case r.Low > 1:
		return Slower
	}
	return NoDifference
}

// least stands for a figure of 0, of which there are no ratios.
const least = 1e-12

// Paired compares two sides by the rounds in which both ran: base[i] and
// value[i], none below 0, are of one round. An interval of a rate of 0.01
// leaves the true ratio out once in a hundred times at most.
//
// Value is the median of the mean ratios of all pairs of rounds (Hodges and
// Lehmann's estimate), and the interval holds those ratios that the signed
// ranks do not reject. The cost grows with the square of the rounds.
func Paired(base, value []float64, rate float64) Ratio {
	rounds := min(len(base), len(value))
	means := make([]float64, 0, rounds*(rounds+1)/2)
	logarithms := make([]float64, rounds)
	for i := range rounds {
		logarithms[i] = math.Log(max(value[i], least) / max(base[i], least))
		for j := range i + 1 {
			means = append(means, (logarithms[i]+logarithms[j])/2)
		}
	}
	if len(means) == 0 {
		return Ratio{Value: 1, High: math.Inf(1)}
	}
	slices.Sort(means)
	middle := len(means) / 2
	centre := means[middle]
	if len(means)%2 == 0 {
		centre = (means[middle-1] + means[middle]) / 2
	}
	ratio := Ratio{Value: math.Exp(centre), High: math.Inf(1)}
	if out := rejected(rounds, rate/2); out >= 0 {
		ratio.Low, ratio.High = math.Exp(means[out]), math.Exp(means[len(means)-1-out])
	}
	return ratio
}
