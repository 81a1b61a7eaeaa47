package text

import (
	"fmt"
	"math"
	"slices"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// about marks an estimate.
func (r *report) about(text string) string {
	if text == "" || text == "-" {
		return text
	}
	return estimated(text, r.profile)
}

// estimated marks a figure that comes from these profiles where one of them is
// of samples.
func estimated(text string, of ...*profile.Profile) string {
	if slices.ContainsFunc(of, func(p *profile.Profile) bool { return p.Sampling != nil }) {
		return "~" + text
	}
	return text
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
	e := s.ErrorsOf(&shown)
	r.line(r.style.warn("        estimated") + fmt.Sprintf(" from %s, one in %s on average: allocations %s, bytes %s, live bytes %s (standard errors)",
		counted(shown.Samples, "sample", "samples"), size(s.MeanBytes),
		plusMinus(e.Allocations, shown.Calls, count), plusMinus(e.Bytes, shown.Bytes, size), plusMinus(e.LiveBytes, uint64(shown.LiveBytes()), size)))
}

// plusMinus writes a standard error as a share of what it is of, one that is
// greater than that itself.
func plusMinus(e float64, of uint64, write func(uint64) string) string {
	if e > float64(of) {
		return "± " + write(uint64(math.Round(e)))
	}
	return fmt.Sprintf("± %.1f %%", 100*e/float64(max(1, of)))
}
