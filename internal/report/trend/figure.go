// Package trend writes what benchmarks cost over time: as text with a
// sparkline for each series, as JSON, and as a page that shows the stacks
// behind each step.
package trend

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"mallow/internal/figure"
	"mallow/internal/history"
)

// write writes a figure of a unit to be read.
func write(v float64, unit string) string {
	switch {
	case unit == "bytes" && v >= 0 && v < 1<<63:
		return figure.Size(uint64(math.Round(v)))
	case unit == "seconds":
		return seconds(v)
	}
	return exactly(v, unit)
}

// exactly writes all digits of a whole number, and five of others.
func exactly(v float64, unit string) string {
	var s string
	switch {
	case v == math.Trunc(v) && v >= 0 && v < 1<<53:
		s = figure.Count(uint64(v))
	case v == math.Trunc(v) && v < 0 && v > -1<<53:
		s = "-" + figure.Count(uint64(-v))
	default:
		s = strconv.FormatFloat(v, 'g', 5, 64)
	}
	switch unit {
	case "":
		return s
	case "bytes":
		return s + " B"
	case "seconds":
		return s + " s"
	}
	return s + " " + unit
}

func seconds(v float64) string {
	for _, u := range []struct {
		scale float64
		name  string
	}{{1, "s"}, {1e3, "ms"}, {1e6, "µs"}} {
		if math.Abs(v)*u.scale >= 1 {
			return figure.Rough(v*u.scale, 3) + " " + u.name
		}
	}
	return fmt.Sprintf("%.3g ns", v*1e9)
}

// both writes two figures so that they can be told apart.
func both(a, b float64, unit string) (string, string) {
	if x, y := write(a, unit), write(b, unit); x != y || a == b {
		return x, y
	}
	return exactly(a, unit), exactly(b, unit)
}

// change writes by how much b is more than a, with a sign.
func change(a, b float64) string {
	switch {
	case a == b:
		return "0 %"
	case a == 0:
		return "from nothing"
	}
	percent := 100 * (b - a) / math.Abs(a)
	switch size := math.Abs(percent); {
	case size < 0.0095:
		return strings.Replace(fmt.Sprintf("%+.0e %%", percent), "e-0", "e-", 1)
	case size < 0.095:
		return fmt.Sprintf("%+.2f %%", percent)
	case size < 99.5:
		return fmt.Sprintf("%+.1f %%", percent)
	case percent > 900:
		return fmt.Sprintf("%.3gx", b/a)
	}
	return fmt.Sprintf("%+.0f %%", percent)
}

const bars = "▁▂▃▄▅▆▇█"

// sparkline draws values in at most so many columns; where there are more
// values than that a column is the mean of some.
func sparkline(values []float64, columns int) string {
	if len(values) > columns {
		means := make([]float64, columns)
		for i := range means {
			part := values[i*len(values)/columns : (i+1)*len(values)/columns]
			for _, v := range part {
				means[i] += v / float64(len(part))
			}
		}
		values = means
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	steps := []rune(bars)
	var b strings.Builder
	for _, v := range values {
		at := len(steps)/2 - 1 // of what never changes
		if most > least {
			at = int(math.Round((v/2 - least/2) / (most/2 - least/2) * float64(len(steps)-1)))
		}
		b.WriteRune(steps[max(0, min(at, len(steps)-1))])
	}
	return b.String()
}

// short is how much of a hash people read.
func short(commit string) string {
	if commit == "" {
		return "-"
	}
	return commit[:min(len(commit), 10)]
}

// day is when a point was made: when its commit was, if that is known.
func day(p *history.Point) string {
	for _, t := range []time.Time{p.CommitTime, p.Time} {
		if !t.IsZero() {
			return t.UTC().Format(time.DateOnly)
		}
	}
	return "-"
}
