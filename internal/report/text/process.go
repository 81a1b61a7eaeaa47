package text

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"mallow/internal/profile"
	"mallow/internal/term"
)

const processesShown = 8

// program is all processes of one executable.
type program struct {
	name      string
	processes int
	totals    profile.Totals
}

// processes tells which of a family of processes made the allocations.
func (r *report) processes() {
	count := len(r.profile.Processes)
	if count < 2 {
		return
	}
	r.line("")
	r.line(r.style.dim(r.row(cells{"calls", "share", "bytes", "peak", "live", "temp"}) +
		fmt.Sprintf("process (%d; the peak above is the sum of theirs)", count)))
	whole := r.totals().Allocations
	programs := r.programs()
	for _, p := range programs[:min(len(programs), processesShown)] {
		r.line(r.cut(r.row(totalsCells(&p.totals, whole)) + term.Safe(p.name)))
	}
	if more := len(programs) - processesShown; more > 0 {
		r.line(r.style.dim(r.row(cells{}) + fmt.Sprintf("%d more", more)))
	}
}

// programs returns the processes, those with the most allocations first; where
// there are many, those of one executable together.
func (r *report) programs() []*program {
	together := len(r.profile.Processes) > processesShown
	byName := make(map[string]*program)
	var programs []*program
	for _, process := range r.profile.Processes {
		name := process.Name()
		if together {
			name = process.Image.Executable
		}
		p := byName[name]
		if p == nil {
			p = &program{name: name}
			byName[name] = p
			programs = append(programs, p)
		}
		t := process.Totals
		if !r.options.All {
			t = process.WithoutLibc()
		}
		p.processes++
		p.totals.Add(&t)
	}
	for _, p := range programs {
		if together {
			p.name = fmt.Sprintf("%s, %s", path.Base(p.name), counted(uint64(p.processes), "process", "processes"))
		}
	}
	slices.SortStableFunc(programs, func(a, b *program) int {
		return cmp.Compare(b.totals.Allocations, a.totals.Allocations)
	})
	return programs
}
