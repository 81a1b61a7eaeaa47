package text

import (
	"fmt"
	"math"

	"mallow/internal/recording"
)

// about marks an estimate.
func (r *report) about(text string) string {
	if r.profile.Sampling == nil || text == "" || text == "-" {
		return text
	}
	return "~" + text
}

func (r *report) aboutAll(c cells) cells {
	for i := range c {
		c[i] = r.about(c[i])
	}
	return c
}

// sampling says that figures are estimates, and how good those are that are
// shown.
func (r *report) sampling() {
	s := r.profile.Sampling
	if s == nil {
		return
	}
	var shown recording.Counters
	for _, site := range r.sites {
		shown.Add(&site.Counters)
	}
	if shown.Samples == 0 {
		r.line(r.style.warn("        no block was a sample") + fmt.Sprintf(", one in %s on average: what was allocated is not known", size(s.MeanBytes)))
		return
	}
	v := &shown.Variance
	r.line(r.style.warn("        estimated") + fmt.Sprintf(" from %s, one in %s on average: allocations %s, bytes %s, live bytes %s (standard errors)",
		counted(shown.Samples, "sample", "samples"), size(s.MeanBytes),
		plusMinus(v.Calls, shown.Calls), plusMinus(v.Bytes, shown.Bytes), plusMinus(v.LiveBytes, uint64(shown.LiveBytes()))))
}

// plusMinus writes a standard error as a share of what it is of.
func plusMinus(variance float64, of uint64) string {
	if of == 0 {
		return "± -"
	}
	return fmt.Sprintf("± %.1f %%", 100*math.Sqrt(variance)/float64(of))
}
