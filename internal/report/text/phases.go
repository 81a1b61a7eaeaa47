package text

import (
	"fmt"
	"strings"
	"time"

	"mallow/internal/analyze"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// phases tells start-up, steady state and shutdown apart, where they can be. A
// moment of the timeline counts what libc makes, too, so that they can add up
// to more than the head line.
func (r *report) phases() {
	var parts []string
	for _, p := range analyze.Phases(r.profile.Timeline(false)) {
		lasted := p.To - p.From
		part := fmt.Sprintf("%s %s: %s", p.Name, lasting(lasted), counted(p.Allocations, "allocation", "allocations"))
		switch p.Name {
		case analyze.StartUp:
			part += ", " + size(uint64(max(0, p.LiveBytes))) + " kept"
		case analyze.Steady:
			if lasted >= 100*time.Millisecond {
				part += fmt.Sprintf(", %s a second", count(uint64(float64(p.Allocations)/lasted.Seconds())))
			}
		}
		parts = append(parts, part)
	}
	if len(parts) < 2 {
		return
	}
	if libc := r.profile.Origins[profile.OriginLibc].Allocations; !r.options.All && libc > r.totals().Allocations/100 {
		parts = append(parts, "libc's with them")
	}
	r.line(r.cut(r.style.dim("        " + strings.Join(parts, "; "))))
}

// lateness is how late the clock of a recording can be.
const lateness = 4 * time.Millisecond

func lasting(d time.Duration) string {
	if d < lateness {
		return "<" + figure.Time(lateness)
	}
	return figure.Time(d)
}

// Fewer calls of free with NULL are not worth a line.
const manyNullFrees = 1000

// nullFrees tells who calls free with NULL, where that is often.
func (r *report) nullFrees() {
	if r.totals().FreeNulls < manyNullFrees {
		return
	}
	r.line(r.cut(r.style.dim("        free(NULL) by " + r.callerList(r.profile.FreeNullCallers(), "", callersShown))))
}
