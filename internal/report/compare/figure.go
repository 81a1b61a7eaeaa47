package compare

import (
	"fmt"
	"math"

	"mallow/internal/figure"
	"mallow/internal/stat"
)

// seconds writes a time with three digits: "1.20 s", "34.5 ms", "812 µs".
func seconds(s float64) string {
	switch {
	case math.Abs(s) >= 1:
		return digits(s) + " s"
	case math.Abs(s) >= 1e-3:
		return digits(s*1e3) + " ms"
	case math.Abs(s) >= 1e-6:
		return digits(s*1e6) + " µs"
	}
	return digits(s*1e9) + " ns"
}

// digits writes three of them.
func digits(value float64) string {
	switch magnitude := math.Abs(value); {
	case magnitude < 9.995:
		return fmt.Sprintf("%.2f", value)
	case magnitude < 99.95:
		return fmt.Sprintf("%.1f", value)
	case magnitude < 1e15:
		text := figure.Count(uint64(math.Round(magnitude)))
		if value < 0 {
			text = "-" + text
		}
		return text
	}
	return fmt.Sprintf("%.3g", value)
}

// amount writes a number of bytes, or of something else.
func amount(value float64, unit string) string {
	if unit == "B" {
		sign := ""
		if value < 0 {
			sign = "-"
		}
		return sign + figure.Size(uint64(math.Round(math.Abs(value))))
	}
	if unit == "" {
		return digits(value)
	}
	return digits(value) + " " + unit
}

// times writes a ratio as finely as its interval is known: "0.914", "0.9987".
func times(value, width float64) string {
	places := 3
	if width > 0 && width < 0.01 {
		places = 4
	}
	if value >= 10 {
		places = 1
	}
	return fmt.Sprintf("%.*f", places, value)
}

// bounds writes a ratio with its interval.
func bounds(r stat.Ratio) string {
	width := r.High - r.Low
	if r.Low == 0 || math.IsInf(r.High, 1) {
		return times(r.Value, 1) + "  (too few rounds)"
	}
	return fmt.Sprintf("%s  (%s to %s)", times(r.Value, width), times(r.Low, width), times(r.High, width))
}
