package compare

import (
	"fmt"
	"math"
	"strings"
	"time"

	"mallow/internal/figure"
	"mallow/internal/stat"
)

// seconds writes a time with three digits: "1.20 s", "34.5 ms", "812 µs".
func seconds(s float64) string {
	switch {
	case s == 0:
		return "0"
	case math.Abs(s) >= 0.9995:
		return digits(s) + " s"
	case math.Abs(s) >= 0.9995e-3:
		return digits(s*1e3) + " ms"
	case math.Abs(s) >= 0.9995e-6:
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
	said := digits(value)
	if math.Abs(value) >= 99_950 {
		prefixes := []string{"", " k", " M", " G", " T"}
		for math.Abs(value) >= 999.5 && len(prefixes) > 1 {
			value, prefixes = value/1000, prefixes[1:]
		}
		said = digits(value) + prefixes[0]
	}
	if unit == "" {
		return said
	}
	return said + " " + unit
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

// tooFew stands where there would be an interval if there were more rounds.
const tooFew = "too few rounds"

// interval is that of a median of times.
func interval(s stat.Summary) string {
	if !s.Bounded() {
		return tooFew
	}
	return seconds(s.Low) + " to " + seconds(s.High)
}

// bounds writes a ratio with its interval.
func bounds(r stat.Ratio) string {
	width := r.High - r.Low
	if r.Low == 0 || math.IsInf(r.High, 1) {
		return times(r.Value, 1) + " (" + tooFew + ")"
	}
	return fmt.Sprintf("%s (%s to %s)", times(r.Value, width), times(r.Low, width), times(r.High, width))
}

// duration writes a limit as it would be given: "10m", "1h30m".
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
