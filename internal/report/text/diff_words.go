package text

import (
	"fmt"
	"math"
	"strings"

	"mallow/internal/diff"
)

// estimated marks what is not counted on both sides.
func (r *diffReport) estimated(text string) string {
	return estimated(text, r.diff.Old, r.diff.New)
}

// arrow writes what a figure was and is, with the mark of an estimate on the
// side that is one.
func (r *diffReport) arrow(old, new uint64, write func(uint64) string) string {
	if old == new {
		return r.estimated(write(old))
	}
	return r.sides(write(old), write(new))
}

// sides are two texts for arrow that differ.
func (r *diffReport) sides(old, new string) string {
	return estimated(old, r.diff.Old) + " -> " + estimated(new, r.diff.New)
}

// factor is the sentence of that name, which estimates make one too.
func (r *diffReport) factor(old, new float64) string {
	sentence := factor(old, new)
	if strings.ContainsAny(sentence[:1], "0123456789<") {
		return r.estimated(sentence)
	}
	return sentence
}

// arrow writes what a figure was and is; once where it did not change.
func arrow(old, new uint64, write func(uint64) string) string {
	if old == new {
		return write(old)
	}
	return write(old) + " -> " + write(new)
}

// factor says how many times more or fewer; in per cent where it is less than
// twice.
func factor(old, new float64) string {
	direction := "more"
	if new < old {
		direction = "fewer"
	}
	low, high := min(old, new), max(old, new)
	switch {
	case old == new:
		return "as before"
	case old == 0:
		return "none before"
	case new == 0:
		return "none any more"
	case high >= 1.995*low:
		return times(high/low) + " times " + direction
	}
	return change(old, new) + " " + direction
}

func times(q float64) string {
	switch {
	case q >= 99.95:
		return count(uint64(q + 0.5))
	case q >= 9.995:
		return fmt.Sprintf("%.1f", q)
	}
	return fmt.Sprintf("%.2f", q)
}

// change is how much more or less of old, never 0 %.
func change(old, new float64) string {
	percent := 100 * math.Abs(new-old) / old
	switch {
	case percent < 0.01:
		return "<0.01 %"
	case percent < 0.995:
		return fmt.Sprintf("%.2f %%", percent)
	case percent < 9.95:
		return fmt.Sprintf("%.1f %%", percent)
	}
	return fmt.Sprintf("%.0f %%", percent)
}

// tell colours a sentence by its direction: blue and yellow, which hardly
// anyone takes for each other.
func (r *diffReport) tell(sentence string) string {
	switch {
	case strings.HasSuffix(sentence, "fewer"), strings.HasSuffix(sentence, "any more"):
		return r.style.fewer(sentence)
	case strings.HasSuffix(sentence, "more"), strings.HasSuffix(sentence, "before") && sentence != "as before":
		return r.style.more(sentence)
	}
	return sentence
}

func (s style) more(text string) string  { return s.wrap("33", text) }
func (s style) fewer(text string) string { return s.wrap("94", text) }

func (r *diffReport) towards(text string, change float64) string {
	switch {
	case change > 0:
		return r.style.more(text)
	case change < 0:
		return r.style.fewer(text)
	}
	return text
}

// quotient writes a number with three digits.
func quotient(q float64) string {
	text, _, _ := strings.Cut(ratio(uint64(math.Round(q*1e6)), 1e6, "", ""), " ")
	return text
}

func (r *diffReport) each(n float64, old bool) float64 {
	if old {
		return n / float64(r.diff.Per.Old.Count)
	}
	return n / float64(r.diff.Per.New.Count)
}

// signed writes by how much calls grew, for each unit of work where they are
// compared by that: what did not grow with the work counts as before.
func (r *diffReport) signed(excess float64) string {
	if r.diff.Per != nil {
		return r.estimated(sign(excess) + quotient(math.Abs(r.each(excess, false))))
	}
	return r.estimated(sign(excess) + count(uint64(math.Abs(excess)+0.5)))
}

// signedOf writes by how much a metric changed.
func (r *diffReport) signedOf(m diff.Metric, excess float64) string {
	if m == diff.Allocations {
		return r.signed(excess)
	}
	if r.diff.Per != nil {
		excess = r.each(excess, false)
	}
	return r.estimated(sign(excess) + size(uint64(math.Abs(excess)+0.5)))
}

func (r *diffReport) signedBytes(change float64, old, new uint64) string {
	if r.diff.Per != nil {
		change = math.Round(r.each(float64(new), false) - r.each(float64(old), true))
	}
	return r.estimated(sign(change) + size(uint64(math.Abs(change))))
}

func sign(x float64) string {
	switch {
	case x > 0:
		return "+"
	case x < 0:
		return "-"
	}
	return ""
}

// about stands before an estimate.
func about(estimate bool) string {
	if estimate {
		return "about "
	}
	return ""
}
