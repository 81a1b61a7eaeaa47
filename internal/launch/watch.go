package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mallow/internal/recording"
)

// A watcher looks now and then which programs the descendants of a process
// execute. Only so can those be named that libmallow is not loaded into, since they
// leave nothing in the recording. What comes and goes between two looks stays
// unseen.
type watcher struct {
	stop chan struct{}
	done chan []watched
}

// watched is a process, with what it was seen to execute.
type watched struct {
	pid, parent int
	programs    []string // in the order of their execution
	folder      int      // descriptor of /proc/PID; it never means another process
}

const (
	firstLook   = 3 * time.Millisecond
	lastLook    = 100 * time.Millisecond
	mostWatched = 256 // at the same time
	mostSeen    = 4096
	// A look may take so much of the time at the most.
	greatestShare = 50 // one part of
)

func watch(pid int) *watcher {
	w := &watcher{stop: make(chan struct{}), done: make(chan []watched, 1)}
	go w.run(pid)
	return w
}

// end returns all processes that were seen.
func (w *watcher) end() []watched {
	close(w.stop)
	return <-w.done
}

func (w *watcher) run(pid int) {
	var gone []watched
	alive := make(map[int]*watched)
	watchProcess(alive, pid, 0)
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		began := time.Now()
		for _, p := range alive {
			if !p.look() {
				if len(p.programs) > 0 { // else it had ended before the first look
					gone = append(gone, *p)
				}
				unix.Close(p.folder)
				delete(alive, p.pid)
				continue
			}
			if len(alive)+len(gone) < mostSeen {
				for _, child := range p.children() {
					watchProcess(alive, child, p.pid)
				}
			}
		}
		select {
		case <-w.stop:
			for _, p := range alive {
				gone = append(gone, *p)
				unix.Close(p.folder)
			}
			w.done <- gone
			return
		case <-time.After(max(pause, greatestShare*time.Since(began))):
		}
	}
}

func watchProcess(alive map[int]*watched, pid, parent int) {
	if alive[pid] != nil || len(alive) >= mostWatched {
		return
	}
	folder, err := unix.Open("/proc/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		alive[pid] = &watched{pid: pid, parent: parent, folder: folder}
	}
}

// look notes what the process executes; false when it has ended.
func (p *watched) look() bool {
	program, err := readLink(p.folder, "exe")
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		// It has other rights than mallow: only the short name is for everybody.
		program, err = readFile(p.folder, "comm")
		program = strings.TrimSuffix(program, "\n")
	}
	if err != nil || program == "" {
		return false
	}
	program = strings.TrimSuffix(program, " (deleted)")
	if n := len(p.programs); n == 0 || p.programs[n-1] != program {
		p.programs = append(p.programs, program)
	}
	return true
}

func (p *watched) children() []int {
	tasks, err := unix.Openat(p.folder, "task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	folder := os.NewFile(uintptr(tasks), "task")
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	var children []int
	for _, thread := range names {
		list, _ := readFile(tasks, thread+"/children")
		for _, word := range strings.Fields(list) {
			if pid, err := strconv.Atoi(word); err == nil {
				children = append(children, pid)
			}
		}
	}
	return children
}

func readLink(folder int, name string) (string, error) {
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(folder, name, buffer)
	return string(buffer[:max(0, n)]), err
}

func readFile(folder int, name string) (string, error) {
	fd, err := unix.Openat(folder, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	buffer := make([]byte, 64<<10)
	n, err := f.Read(buffer)
	return string(buffer[:max(0, n)]), err
}

// unrecordedPrograms are those that processes executed and that no image of
// the recording is of.
func unrecordedPrograms(seen []watched, images []recording.Identity, refusal func(path string) string) []recording.UnrecordedProgram {
	const mostPIDs = 16
	recorded := newRecordedPrograms(seen, images)
	at := make(map[string]int)
	var programs []recording.UnrecordedProgram
	for _, p := range seen {
		for _, path := range p.programs {
			if recorded.has(p, path) {
				continue
			}
			i, known := at[path]
			if !known {
				i, at[path] = len(programs), len(programs)
				programs = append(programs, recording.UnrecordedProgram{
					Executable: path, Reason: reasonFor(path, refusal), Parent: uint64(p.parent),
				})
			}
			programs[i].Processes++
			if len(programs[i].PIDs) < mostPIDs {
				programs[i].PIDs = append(programs[i].PIDs, uint64(p.pid))
			}
		}
	}
	return programs
}

type recordedPrograms struct {
	images map[recording.Identity]bool
	pids   map[int]bool
	// elsewhere are programs with images of process ids that mallow does not know:
	// of processes that it came too late for, or in another pid namespace.
	elsewhere map[string]bool
	executed  map[int][]string
	own       string
}

func newRecordedPrograms(seen []watched, images []recording.Identity) *recordedPrograms {
	r := &recordedPrograms{
		images: make(map[recording.Identity]bool), pids: make(map[int]bool),
		elsewhere: make(map[string]bool), executed: make(map[int][]string),
	}
	r.own, _ = os.Executable() // mallow, about to become the first program
	for _, p := range seen {
		r.executed[p.pid] = append(r.executed[p.pid], p.programs...)
	}
	for _, im := range images {
		r.images[im] = true
		r.pids[int(im.PID)] = true
		if r.executed[int(im.PID)] == nil {
			r.elsewhere[im.Executable] = true
		}
	}
	return r
}

func (r *recordedPrograms) has(p watched, path string) bool {
	switch {
	case r.images[recording.Identity{PID: uint64(p.pid), Executable: path}], r.elsewhere[path], path == r.own:
		return true
	case !filepath.IsAbs(path): // hides what it executes, but recorded before
		return r.pids[p.pid]
	}
	// A fork child that has allocated nothing.
	return slices.Contains(r.executed[p.parent], path)
}

func reasonFor(path string, refusal func(path string) string) string {
	if !filepath.IsAbs(path) {
		return "it runs with other rights, so the system ignores LD_PRELOAD"
	}
	if refusal != nil {
		if reason := refusal(path); reason != "" {
			return reason
		}
	}
	return "libmallow was not loaded into it (was LD_PRELOAD taken out of its environment?), or it could not write its file"
}
