package rule

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"mallow/internal/profile"
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
func Counted(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Size writes bytes with three digits: "16 bytes", "640 kB", "1.92 MB".
func Size(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
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

// Exactly writes bytes in full, for sizes that are to be copied into code.
func Exactly(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return Count(n) + " bytes"
}

// Share divides; nothing is a share of nothing.
func Share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Percent never rounds what is not all to all.
func Percent(part, whole uint64) string {
	share := 100 * Share(part, whole)
	switch {
	case part > 0 && share < 0.1:
		return "<0.1 %"
	case part > 0 && share < 9.95:
		return fmt.Sprintf("%.1f %%", share)
	case part < whole && share > 99:
		return "99 %"
	}
	return fmt.Sprintf("%.0f %%", share)
}

// Where names a line of code: file and line where they are known, else the
// function. Names are as the program has them: what shows them escapes them.
func Where(f *profile.Frame) string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
	case f.Function != "":
		return f.Function
	}
	return "an unknown function"
}
