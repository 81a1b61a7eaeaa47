package text

import (
	"fmt"
	"strings"
	"time"

	"mallow/internal/analyze"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/term"
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

// leastOfLibc are the fewest allocations of libc that are worth a line.
const leastOfLibc = 1000

// libcs tells which functions of libc allocated for whom, where that is more
// than half of all: the table leaves it out.
func (r *report) libcs() {
	libc := r.profile.Origins[profile.OriginLibc].Allocations
	if r.options.All || libc < leastOfLibc || 2*libc <= r.profile.Totals.Allocations || r.profile.ChosenLibc() {
		return
	}
	list := r.profile.OnBehalf()
	var parts []string
	for i := range list {
		if i == callersShown {
			parts = append(parts, fmt.Sprintf("%s more", count(uint64(len(list)-i))))
			break
		}
		of := &list[i]
		name := term.Safe(of.Function)
		if of.Frame != (profile.Frame{}) {
			function, at := frameWords(&of.Frame)
			name += " for " + strings.TrimSuffix(function+" "+at, " ")
		}
		parts = append(parts, name+" ("+r.about(count(of.Counters.Calls))+")")
	}
	r.line(r.cut(r.style.dim("        libc's by " + strings.Join(parts, ", "))))
}
