package text

import (
	"fmt"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/term"
)

const (
	regionsShown = 10
	unitsShown   = 10
)

// regions tells what was allocated within which of the program's regions.
func (r *report) regions() {
	regions := r.profile.Regions
	if len(regions) == 0 {
		return
	}
	r.line("")
	r.line(r.style.dim(r.row(tableCells("at peak")) + "region"))
	whole := r.totals().Allocations
	for _, region := range regions[:min(len(regions), regionsShown)] {
		t := region.Totals(r.options.All)
		name := r.style.bold(term.Safe(region.Name)) + "  entered " + counted(region.Entries, "time", "times")
		if region.Entries > 0 {
			name += fmt.Sprintf(", %s each", r.ratio(t.Allocations, region.Entries, "call", "calls"))
		}
		if region.Frees != nil {
			name += ", " + counted(*region.Frees, "free", "frees") + " inside"
		}
		if region.Inside > 0 {
			name += ", " + counted(region.Inside, "thread", "threads") + " still inside"
		}
		r.line(r.cut(r.row(r.aboutAll(r.totalsCells(&t, whole))) + name))
	}
	if more := len(regions) - regionsShown; more > 0 {
		r.line(r.style.dim(r.row(cells{}) + counted(uint64(more), "more region", "more regions")))
	}
}

// units tells what was allocated for each unit of the program's work.
func (r *report) units() {
	if len(r.profile.Units) == 0 {
		return
	}
	r.line("")
	units := r.profile.Units
	for _, unit := range units[:min(len(units), unitsShown)] {
		r.line(r.cut("        " + r.perUnit(unit)))
	}
	if more := len(units) - unitsShown; more > 0 {
		r.line(r.style.dim("        " + counted(uint64(more), "more unit", "more units")))
	}
}

func (r *report) perUnit(u *profile.Unit) string {
	allocations, bytes := u.Allocations, u.Bytes
	if r.options.All {
		allocations, bytes = allocations+u.LibcAllocations, bytes+u.LibcBytes
	}
	name := nameOf(u)
	of, isBytes := u.CountsBytes()
	switch {
	case u.Count == 0:
		return "no " + name + " was counted"
	case allocations == 0:
		return r.style.bold("no allocation per "+name) + fmt.Sprintf(" (%s of them)", count(u.Count))
	case isBytes && u.Count >= allocations:
		each := size(uint64(float64(u.Count)/float64(allocations) + 0.5))
		return r.style.bold("one allocation per "+r.about(each)+behind(of)) + fmt.Sprintf(" (%s)", size(u.Count))
	}
	return r.style.bold(r.ratio(allocations, u.Count, "allocation", "allocations")+" per "+name) +
		fmt.Sprintf(", %[2]s (%[1]s of them)", count(u.Count), r.about(size(uint64(float64(bytes)/float64(u.Count)+0.5))))
}

func (r *report) ratio(part, whole uint64, one, many string) string {
	return r.about(ratio(part, whole, one, many))
}

// nameOf is what one of them is called.
func nameOf(u *profile.Unit) string {
	name := term.Safe(u.Name)
	if u.Function {
		return "call of " + name
	}
	if _, isBytes := u.CountsBytes(); isBytes {
		return strings.TrimSuffix(name, "s")
	}
	return name
}

// behind is what a unit counts bytes of, if it says so.
func behind(of string) string {
	if of == "" {
		return ""
	}
	return " " + term.Safe(of)
}

// ratio writes a quotient with three digits.
func ratio(part, whole uint64, one, many string) string {
	q := float64(part) / float64(whole)
	switch {
	case q >= 0.995 && q < 1.005:
		return "1.00 " + one
	case q >= 99.95:
		return count(uint64(q+0.5)) + " " + many
	case q >= 9.995:
		return fmt.Sprintf("%.1f %s", q, many)
	case q >= 0.01:
		return fmt.Sprintf("%.2f %s", q, many)
	}
	return fmt.Sprintf("%.1g %s", q, many)
}
