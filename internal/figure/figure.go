// Package figure writes numbers the same way in every report and in advice.
package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count writes a number with a comma between thousands.
func Count(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Counted writes a number of things.
func Counted(n uint64, one, many string) string { return Count(n) + " " + Plural(n, one, many) }

// Plural chooses the word for a number of things.
func Plural(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Size writes bytes with three digits: "16 B", "640 kB", "1.92 MB".
func Size(n uint64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value := float64(n)
	for _, unit := range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		value /= 1000
		switch {
		case value < 9.995:
			return fmt.Sprintf("%.2f %s", value, unit)
		case value < 99.95:
			return fmt.Sprintf("%.1f %s", value, unit)
		case value < 999.5 || unit == "EB":
			return fmt.Sprintf("%.0f %s", value, unit)
		}
	}
	return ""
}

// Rough writes a number with so many digits at the most, or with all that stand
// before the point: "1.5", "18.3", "12,345".
func Rough(value float64, digits int) string {
	if value >= math.Pow10(digits)-0.5 {
		return Count(uint64(value + 0.5))
	}
	return fmt.Sprintf("%.*g", digits, value)
}

// Percent writes a part of a whole. What is not all is never rounded to all,
// nor something to nothing; of nothing it is "-".
func Percent(part, whole uint64) string {
	if whole == 0 {
		return "-"
	}
	share := 100 * float64(part) / float64(whole)
	switch {
	case part == 0:
		return "0 %"
	case share < 0.1:
		return "<0.1 %"
	case share < 9.95:
		return fmt.Sprintf("%.1f %%", share)
	case part < whole && share > 99:
		return "99 %"
	}
	return fmt.Sprintf("%.0f %%", share)
}

// Time writes a moment of a run, or how long something lasted.
func Time(d time.Duration) string {
	switch {
	case d < time.Second-time.Millisecond/2:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	case d < 100*time.Second-50*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
