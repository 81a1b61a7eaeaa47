package text

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/term"
)

const (
	// Where there are more, brothers that run the same program stand in one line.
	processesApart = 8
	branchesShown  = 20
	deepestIndent  = 12
)

// branch is one process, or some brothers with the same program, in the tree
// of processes.
type branch struct {
	begun     profile.Beginning
	processes []*profile.Process
	totals    profile.Totals // of the processes themselves
	calls     uint64         // with all below
	children  []*branch
}

// processes shows the tree of processes, and which of them made the
// allocations.
func (r *report) processes() {
	count := len(r.profile.Processes)
	unrecorded := r.unrecorded()
	if count+len(unrecorded) < 2 {
		return
	}
	r.line("")
	sum := "; the peak above is the sum of theirs"
	if r.profile.PeakUnknown() {
		sum = ""
	}
	r.line(r.style.dim(r.row(tableCells("peak")) + fmt.Sprintf("process (%s%s)", groupedDigits(count), sum)))
	tree := &treeWriter{report: r, whole: r.totals().Allocations, left: branchesShown}
	tree.write(r.roots(), 0)
	if tree.omitted > 0 {
		r.line(r.style.dim(r.row(cells{groupedDigits(int(tree.omittedCalls))}) +
			counted(tree.omitted, "more process", "more processes")))
	}
	r.unrecordedPrograms(unrecorded)
}

func groupedDigits(n int) string { return count(uint64(n)) }

// roots builds the tree: without recursion, as each process may have begun
// the next.
func (r *report) roots() []*branch {
	together := len(r.profile.Processes) > processesApart
	var first []*profile.Process
	for _, process := range r.profile.Processes {
		if process.Parent == nil {
			first = append(first, process)
		}
	}
	roots := r.branches(first, together)
	all := slices.Clone(roots)
	for i := 0; i < len(all); i++ {
		var children []*profile.Process
		for _, process := range all[i].processes {
			children = append(children, process.Children...)
		}
		all[i].children = r.branches(children, together)
		all = append(all, all[i].children...)
	}
	for _, b := range slices.Backward(all) {
		b.calls = b.totals.Allocations
		for _, child := range b.children {
			b.calls += child.calls
		}
		slices.SortStableFunc(b.children, compareBranches)
	}
	slices.SortStableFunc(roots, compareBranches)
	return roots
}

func compareBranches(a, b *branch) int { return cmp.Compare(b.calls, a.calls) }

func (r *report) branches(processes []*profile.Process, together bool) []*branch {
	type key struct {
		begun      profile.Beginning
		executable string
	}
	byKey := make(map[key]*branch)
	var branches []*branch
	for _, process := range processes {
		k := key{process.Begun, process.Image.Executable}
		b := byKey[k]
		if b == nil || !together {
			b = &branch{begun: process.Begun}
			byKey[k] = b
			branches = append(branches, b)
		}
		t := process.Totals
		if !r.options.All {
			t = process.WithoutLibc()
		}
		b.processes = append(b.processes, process)
		b.totals.Add(&t)
	}
	return branches
}

type treeWriter struct {
	report                *report
	whole                 uint64
	left                  int // lines
	omitted, omittedCalls uint64
}

func (t *treeWriter) write(branches []*branch, depth int) {
	for _, b := range branches {
		if t.left == 0 {
			t.omitted += uint64(len(b.processes))
			t.omittedCalls += b.totals.Allocations
		} else {
			t.left--
			t.report.line(t.report.cut(t.report.row(t.report.aboutAll(t.report.totalsCells(&b.totals, t.whole))) +
				strings.Repeat("  ", min(depth, deepestIndent)) + b.name()))
		}
		t.write(b.children, depth+1)
	}
}

// name tells an image that took another's place from a child.
func (b *branch) name() string {
	process := b.processes[0]
	name := process.Name()
	if len(b.processes) > 1 {
		name = fmt.Sprintf("%s, %s", recording.ProgramName(process.Image.Executable), counted(uint64(len(b.processes)), "process", "processes"))
	}
	if b.begun == profile.BegunByExec {
		name = "=> " + name
	}
	for _, note := range b.notes() {
		name += ", " + note
	}
	return term.Safe(name)
}

func (b *branch) notes() (notes []string) {
	process := b.processes[0]
	notes = b.badEnds()
	running := 0
	for _, p := range b.processes {
		if p.Image.Running {
			running++
		}
	}
	switch {
	case running == 0:
	case running == len(b.processes):
		notes = append(notes, "running")
	default:
		notes = append(notes, fmt.Sprintf("%d running", running))
	}
	if process.Image.Incomplete&recording.IncompleteOwnMalloc != 0 && b.totals.Allocations == 0 {
		notes = append(notes, "not recorded: another malloc serves it")
	}
	return notes
}

// badEnds are how processes ended that did not end well, and of several how many did so.
func (b *branch) badEnds() (ends []string) {
	count := make(map[string]int)
	for _, p := range b.processes {
		switch {
		case p.Exit == nil:
		case p.Exit.Signal != 0:
			count[fmt.Sprintf("signal %d", p.Exit.Signal)]++
		case p.Exit.Status != 0:
			count[fmt.Sprintf("exit %d", p.Exit.Status)]++
		}
	}
	for _, end := range slices.Sorted(maps.Keys(count)) {
		if len(b.processes) > 1 {
			end = fmt.Sprintf("%d %s", count[end], end)
		}
		ends = append(ends, end)
	}
	return ends
}

func (r *report) unrecorded() (programs []recording.UnrecordedProgram) {
	for _, rec := range r.profile.Recordings {
		if rec.Meta != nil {
			programs = append(programs, rec.Meta.Unrecorded...)
		}
	}
	return programs
}

func (r *report) unrecordedPrograms(programs []recording.UnrecordedProgram) {
	const most = 5
	for _, program := range programs[:min(most, len(programs))] {
		name := recording.ProgramName(program.Executable)
		if program.Processes > 1 {
			name += ", " + counted(uint64(program.Processes), "process", "processes")
		} else if len(program.PIDs) > 0 {
			name += fmt.Sprintf(" %d", program.PIDs[0])
		}
		r.line(r.cut(r.row(cells{"-", "-", "-", "-", "-", "-"}) + term.Safe(name+", not recorded: "+program.Reason)))
	}
	if more := len(programs) - most; more > 0 {
		r.line(r.style.dim(r.row(cells{}) + fmt.Sprintf("%d more programs, not recorded", more)))
	}
}
