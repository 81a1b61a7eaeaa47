package gate

import (
	"fmt"
	"math"
	"strconv"

	"mallow/internal/budget"
	"mallow/internal/figure"
)

// unitOf is the unit of a metric of a benchmark.
func unitOf(metric string, b *budget.Benchmark) string {
	unit := ""
	switch metric {
	case budget.Bytes, budget.Peak, budget.Live:
		unit = "bytes"
	case budget.CPU, budget.Wall:
		unit = "s"
	}
	if b.Unit != "" && budget.IsPerUnit(metric) {
		unit += "/" + b.Unit
	}
	return unit
}

// amount writes a figure of a metric.
func amount(metric string, value float64) string {
	switch {
	case budget.IsTime(metric):
		return strconv.FormatFloat(value, 'g', 3, 64) + " s"
	case value == math.Trunc(value) && value >= 0 && value < 1<<53:
		return figure.Count(uint64(value))
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// words writes what was seen: one figure, or from where to where.
func (s span) words(metric string) string {
	if s.exact() {
		return amount(metric, s.least)
	}
	return amount(metric, s.least) + " to " + amount(metric, s.most)
}

var nouns = map[string]string{
	budget.Allocations: "allocations", budget.Bytes: "bytes requested", budget.Peak: "bytes at the peak",
	budget.Live: "bytes never freed", budget.Libc: "allocations that libc makes for it", budget.CPU: "of CPU time", budget.Wall: "of time",
}

// sentence says what became of a metric against a reference.
func sentence(metric string, b *budget.Benchmark, was, now span, against string, better int) string {
	of := nouns[metric]
	if b.Unit != "" && budget.IsPerUnit(metric) {
		of += " per " + b.Unit
	}
	word := "more"
	if better < 0 {
		word = "less"
	}
	if better != 0 {
		change := amount(metric, difference(was.middle, now.middle)) + " " + word
		if was.middle > 0 {
			change += " (" + percent(100*math.Abs(now.middle-was.middle)/was.middle) + ")"
		}
		return fmt.Sprintf("%s %s, and %s has %s: %s", now.words(metric), of, against, was.words(metric), change)
	}
	if now.least > was.most || now.most < was.least {
		return fmt.Sprintf("%s %s, and %s has %s: not to be told apart", now.words(metric), of, against, was.words(metric))
	}
	return fmt.Sprintf("%s %s, as %s has it", now.words(metric), of, against)
}

// difference is how far two figures are apart, without what is beyond the
// precision of the greater one.
func difference(a, b float64) float64 {
	const precision = 14 // decimal digits of a float64, all of them sure but one or two
	decimals := precision - int(math.Ceil(math.Log10(max(math.Abs(a), math.Abs(b), 1))))
	return rounded(math.Abs(a-b), 'f', max(0, decimals))
}

// digits rounds to three digits.
func digits(value float64) float64 { return rounded(value, 'g', 3) }

// rounded is a value as this format of strconv has it.
func rounded(value float64, format byte, precision int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, format, precision, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}

// percent writes a share of a hundred.
func percent(value float64) string {
	switch {
	case value >= 9.95:
		return fmt.Sprintf("%.0f %%", value)
	case value < 0.0095:
		return "<0.01 %"
	}
	return fmt.Sprintf("%.2g %%", value)
}
