package launch

import (
	"maps"
	"slices"

	"mallow/internal/recording"
)

// family is what mallow knows of the descendants of the program that it
// started.
type family struct {
	first int // process id
	seen  []watched
	heard bool // every fork, exec and exit
	exits []recording.ProcessExit
}

// unwaited returns the ids of those recorded processes whose time nobody told
// the first one: of those that still run, or that none of the family waited
// for, and of all that descend from them.
func (f family) unwaited(recorded []recording.Identity, running map[uint64]bool) (ids []uint64) {
	parents, lost := make(map[uint64]uint64, len(f.seen)), maps.Clone(running)
	for _, p := range f.seen {
		parents[uint64(p.pid)] = uint64(p.parent)
		if p.unwaited {
			lost[uint64(p.pid)] = true
		}
	}
	// In a pid namespace number 1 may be of the family itself.
	reaped := !slices.ContainsFunc(recorded, func(of recording.Identity) bool { return of.PID == recording.Reaper })
	for _, of := range recorded {
		if _, seen := parents[of.PID]; !seen {
			parents[of.PID] = of.ParentPID
		}
		if reaped && of.ParentPID == recording.Reaper && of.PID != uint64(f.first) {
			lost[of.PID] = true
		}
	}
	for _, of := range recorded {
		pid := of.PID
		for range len(parents) { // ids that were given out again may lead in a circle
			if pid == 0 || lost[pid] {
				break
			}
			pid = parents[pid]
		}
		if lost[pid] {
			ids = append(ids, of.PID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// newFamily ends both, and takes the one that knows more.
func newFamily(pid int, w *watcher, e *familyEvents) family {
	f := family{first: pid, seen: w.end()}
	if e == nil {
		return f
	}
	members, whole := e.end()
	if !whole {
		return f
	}
	f.heard, f.seen, f.exits = true, nil, exitsOf(members)
	for _, m := range members {
		f.seen = append(f.seen, m.watched)
	}
	return f
}
