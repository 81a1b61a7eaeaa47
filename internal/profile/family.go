package profile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mallow/internal/recording"
)

// Beginning tells how an image of a process came to be.
type Beginning uint8

const (
	BegunFirst   Beginning = iota // by what is not in the recording
	BegunByFork                   // as a copy of its parent
	BegunByExec                   // in the place of its parent, whose process id it has
	BegunAsChild                  // as another program that the parent started
)

func (b Beginning) String() string { return [...]string{"first", "fork", "exec", "child"}[b] }

// linkFamily finds the parent of every image of one recording. Process ids
// are used again: the latest image with an id is meant. A parent is an image
// that began earlier, so following parents always ends.
func linkFamily(images []*recording.Image, processOf map[*recording.Image]*Process) {
	order := slices.Clone(images)
	slices.SortStableFunc(order, compareStart)
	latest := make(map[uint64]*Process)
	earlier := make(map[*recording.Image]*Process, len(images))
	for _, im := range order {
		process := processOf[im]
		forked, same := earlier[im.Parent], latest[im.PID]
		switch {
		case forked != nil:
			process.Parent, process.Begun = forked, BegunByFork
		case same != nil && (same.Image.ParentPID == im.ParentPID || im.ParentPID == recording.Reaper):
			process.Parent, process.Begun = same, BegunByExec
		case latest[im.ParentPID] != nil:
			process.Parent, process.Begun = latest[im.ParentPID], BegunAsChild
		}
		process.joinParent()
		latest[im.PID], earlier[im] = process, process
	}
	for _, im := range order {
		if process := processOf[im]; process.Parent == nil {
			process.findOlder(processOf[im.Parent], BegunByFork)
			process.findOlder(latest[im.ParentPID], BegunAsChild)
		}
	}
}

func (p *Process) joinParent() {
	if p.Parent != nil {
		p.Parent.Children = append(p.Parent.Children, p)
	}
}

// findOlder takes a parent that is older by the wall clock alone: a process in
// a time namespace of its own has another monotonic clock.
func (p *Process) findOlder(parent *Process, begun Beginning) {
	if p.Parent != nil || parent == nil || parent.Image.StartRealtime > p.Image.StartRealtime {
		return
	}
	for ancestor := parent; ancestor != nil; ancestor = ancestor.Parent {
		if ancestor == p {
			return
		}
	}
	p.Parent, p.Begun = parent, begun
	p.joinParent()
}

// compareStart goes by the clock that never jumps, where both know it.
func compareStart(a, b *recording.Image) int {
	if a.StartMonotonic != 0 && b.StartMonotonic != 0 {
		return cmp.Compare(a.StartMonotonic, b.StartMonotonic)
	}
	return cmp.Compare(a.StartRealtime, b.StartRealtime)
}

// noteExits gives processes the exits that mallow heard of: the last image
// with the process id. Of those that ran already when recording began it hears
// none.
func noteExits(rec *recording.Recording, processOf map[*recording.Image]*Process) {
	if rec.Meta == nil || rec.Meta.Imported != nil || rec.Meta.Joined || len(rec.Images) == 0 {
		return
	}
	last := make(map[uint64]*recording.Image)
	for _, im := range rec.Images {
		if other := last[im.PID]; other == nil || compareStart(other, im) <= 0 {
			last[im.PID] = im
		}
	}
	note := func(pid uint64, exit Exit) {
		if im := last[pid]; im != nil && !im.Running && processOf[im] != nil {
			processOf[im].Exit = &exit
		}
	}
	for _, e := range rec.Meta.Exits {
		note(e.PID, Exit{e.Status, e.Signal})
	}
	first := rec.Meta.PID
	if first == 0 {
		first = rec.Images[0].PID
	}
	note(first, Exit{rec.Meta.ExitStatus, rec.Meta.Signal})
}

// Exit is how a process ended.
type Exit struct {
	Status int
	Signal int // 0 unless a signal ended it
}

// selects tells whether one of selectors, process ids or names of programs,
// means the image. No selectors mean every image.
func selects(selectors []string, im *recording.Image) bool {
	if len(selectors) == 0 {
		return true
	}
	pid, name := strconv.FormatUint(im.PID, 10), filepath.Base(im.Executable)
	return slices.ContainsFunc(selectors, func(s string) bool { return s == pid || s == name || s == im.Executable })
}

// CheckProcesses returns an error that names a selector that means no process
// of the recordings, and those that there are.
func CheckProcesses(recordings []*recording.Recording, selectors []string) error {
	for _, selector := range selectors {
		if there := ProcessesWithout(recordings, selector); there != "" {
			return fmt.Errorf("--process %s: there is none; there are %s", selector, there)
		}
	}
	return nil
}

// ProcessesWithout names the processes of the recordings where a selector means
// none of them; "" where it means one.
func ProcessesWithout(recordings []*recording.Recording, selector string) string {
	names := make(map[string]int)
	for _, rec := range recordings {
		for _, im := range rec.Images {
			if selects([]string{selector}, im) {
				return ""
			}
			names[filepath.Base(im.Executable)]++
		}
	}
	return mostFrequent(names)
}

func mostFrequent(names map[string]int) string {
	const most = 8
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(names[b], names[a]), cmp.Compare(a, b)) })
	more := len(list) - most
	list = list[:min(most, len(list))]
	for i, name := range list {
		if names[name] > 1 {
			list[i] = fmt.Sprintf("%s (%d)", name, names[name])
		}
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}
