package text

import (
	"fmt"
	"regexp"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// restriction says what the figures are of, where that is not all.
func (r *report) restriction() {
	p := r.profile
	if !p.Restricted() {
		return
	}
	of := p.Restriction.Whole
	if !r.options.All {
		of[profile.OriginLibc] = 0
	}
	whole := of[profile.OriginProgram] + of[profile.OriginLibraries] + of[profile.OriginLibc]
	line := "only stacks " + strings.Join(restrictions(&p.Restriction), ", ")
	if len(p.Restriction.Threads) == 0 || whole > r.totals().Allocations {
		line += ": " + r.about(percent(r.totals().Allocations, whole)) + " of " + r.about(counted(whole, "allocation", "allocations"))
	}
	r.folded("        " + r.style.warn(term.Safe(line)))
	if span := p.Restriction.Active; span != nil {
		surely := p.Restriction.Surely
		r.folded("        " + r.style.dim(fmt.Sprintf("in that time all stacks made %s; of those above %s surely fell into it, the others' stacks were active at other times too",
			counted(span.Allocations, "allocation", "allocations"), count(surely[profile.OriginProgram]+surely[profile.OriginLibraries]+surely[profile.OriginLibc]))))
	}
}

// Restrictions says in words what a profile was restricted to, one for each
// kind.
func Restrictions(r *profile.Restriction) []string { return restrictions(r) }

func restrictions(r *profile.Restriction) (parts []string) {
	if len(r.Threads) > 0 {
		parts = append(parts, "of thread "+strings.Join(r.Threads, " or "))
	}
	if r.Region != "" {
		parts = append(parts, "within the region "+r.Region)
	}
	if len(r.Include) > 0 {
		parts = append(parts, "with "+either(r.Include))
	}
	if len(r.Exclude) > 0 {
		parts = append(parts, "without "+either(r.Exclude))
	}
	if len(r.Origins) > 0 {
		var names []string
		for _, origin := range r.Origins {
			names = append(names, origin.String())
		}
		parts = append(parts, "called by "+strings.Join(names, " or "))
	}
	if len(r.Modules) > 0 {
		parts = append(parts, "at sites in "+strings.Join(r.Modules, " or "))
	}
	if r.MaxSize != nil {
		parts = append(parts, "with no block above "+size(*r.MaxSize))
	}
	if span := r.Active; span != nil {
		parts = append(parts, fmt.Sprintf("active in the %s (%s to %s)", span.Name, figure.Time(span.From), figure.Time(span.To)))
	}
	return parts
}

func either(expressions []*regexp.Regexp) string {
	texts := make([]string, len(expressions))
	for i, e := range expressions {
		texts[i] = e.String()
	}
	return strings.Join(texts, " or ")
}
