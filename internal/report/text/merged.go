package text

import (
	"fmt"
	"strings"
)

// merged says what several recordings were put together from.
func (r *report) merged() {
	m := r.profile.Merged()
	if m == nil {
		return
	}
	line := "        " + count(uint64(m.Recordings)) + " recordings added up"
	if len(m.Programs) > 1 {
		const most = 4
		names := m.Programs[:min(most, len(m.Programs))]
		line += fmt.Sprintf(" of %d programs, %s", len(m.Programs), strings.Join(names, ", "))
		if more := len(m.Programs) - len(names); more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
	}
	switch {
	case m.Least == m.Most:
		line += ", each of " + r.about(counted(m.Most, "allocation", "allocations"))
	default:
		line += fmt.Sprintf(", each of %s to %s", r.about(count(m.Least)), r.about(counted(m.Most, "allocation", "allocations")))
	}
	switch {
	case m.Sampled == m.Recordings || m.Sampled == 0:
	case m.Sampled == 1:
		line += "; 1 of them is an estimate"
	default:
		line += fmt.Sprintf("; %d of them are estimates", m.Sampled)
	}
	if !r.profile.PeakUnknown() {
		line += "; the peak is the sum of theirs"
	}
	r.folded(line)
}

// rebuilt are notes on programs of which several builds were recorded.
func (r *report) rebuilt() (notes []string) {
	m := r.profile.Merged()
	if m == nil {
		return nil
	}
	for _, b := range m.Rebuilt {
		notes = append(notes, fmt.Sprintf("%s is in it in %d builds: a line that is at another place in each stands once for each; --by function adds them up", b.Name, b.Builds))
	}
	return notes
}
