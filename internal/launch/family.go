package launch

import "mallow/internal/recording"

// family is what mallow knows of the descendants of the program that it
// started.
type family struct {
	first int // process id
	seen  []watched
	heard bool // every fork, exec and exit
	exits []recording.ProcessExit
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
