package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
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
	programs    []program // in the order of their execution
	folder      int       // descriptor of /proc/PID; it never means another process
	unwaited    bool      // none of the family waited for it
}

// program is a path or, where that cannot be had, a short name.
type program struct {
	path, name string
	hidden     bool // it has other rights than mallow
}

// programOf makes one of what /proc/PID/exe said. The short name is for
// everybody, and there until somebody has waited for the process.
func programOf(path string, err error, shortName func() string) program {
	if err == nil {
		return program{path: strings.TrimSuffix(path, " (deleted)")}
	}
	return program{
		name:   strings.TrimSuffix(shortName(), "\n"),
		hidden: errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM),
	}
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
				p.unwaited = p.unwaited || waitsForNobody(p.parent)
				if len(p.programs) > 0 { // else it had ended before the first look
					gone = append(gone, *p)
				}
				unix.Close(p.folder)
				delete(alive, p.pid)
				continue
			}
			p.unwaited = p.unwaited || (p.parent != 0 && alive[p.parent] == nil)
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

// waitsForNobody tells whether a process ignores SIGCHLD: the kernel then takes
// its children away as they end, and adds their time to nobody's.
func waitsForNobody(pid int) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, _ := strings.Cut(string(status), "\nSigIgn:\t")
	mask, _, _ := strings.Cut(rest, "\n")
	ignored, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && inherited{ignored: ignored}.ignores(syscall.SIGCHLD)
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
	path, err := readLink(p.folder, "exe")
	seen := programOf(path, err, func() string {
		name, _ := readFile(p.folder, "comm")
		return name
	})
	if seen.path == "" && !seen.hidden {
		return false
	}
	p.note(seen)
	return true
}

func (p *watched) note(executed program) {
	if n := len(p.programs); n == 0 || p.programs[n-1] != executed {
		p.programs = append(p.programs, executed)
	}
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
// the recording is of. `heard`: of each exec, not only of what was seen now and then.
func unrecordedPrograms(seen []watched, heard bool, images []recording.Identity, refusal func(path string) string) []recording.UnrecordedProgram {
	recorded, mallows := newRecordedPrograms(seen, heard, images), newMallows(seen)
	var found unrecordedList
	for _, p := range seen {
		for _, executed := range p.programs {
			if executed.path != "" && !recorded.has(p, executed.path) && !mallows.measurePrices(p, executed) {
				found.add(p, executed.path, mallows.started(p), func() string { return reasonFor(executed.path, refusal) })
			}
		}
	}
	for _, p := range seen {
		for _, executed := range p.programs {
			if executed.path != "" || recorded.hasAnother(p.pid) || mallows.measurePrices(p, executed) {
				continue
			}
			found.add(p, found.named(executed.name), mallows.started(p) && !executed.hidden, func() string {
				if executed.hidden {
					return "it runs with other rights, so that the system ignores LD_PRELOAD"
				}
				return "it ended before mallow could look at it"
			})
		}
	}
	return found.programs
}

// mallows tells which processes are another mallow's: those that were one, and
// all that descend from them.
type mallows struct {
	parents map[int]int
	its     map[int]bool
}

func newMallows(seen []watched) mallows {
	m := mallows{parents: make(map[int]int, len(seen)), its: make(map[int]bool)}
	for _, p := range seen {
		m.parents[p.pid] = p.parent
		if slices.ContainsFunc(p.own(), program.isMallow) {
			m.its[p.pid] = true
		}
	}
	return m
}

// started tells whether another mallow started the process, or what it
// descends from.
func (m mallows) started(p watched) bool {
	if len(m.its) == 0 || p.programs[len(p.programs)-1].isMallow() {
		return false
	}
	pid := p.pid
	for range len(m.parents) { // ids that were given out again may lead in a circle
		if pid == 0 || m.its[pid] {
			break
		}
		pid = m.parents[pid]
	}
	return m.its[pid]
}

func (executed program) isMallow() bool { return filepath.Base(executed.path) == "mallow" }

// PriceProgram is what the program by which mallow measures the price of malloc
// is called, which lies in memory alone.
const PriceProgram = "calibrate"

// measurePrices tells whether one of them executed the program for itself.
func (m mallows) measurePrices(p watched, executed program) bool {
	isIts := executed.path == "/memfd:"+PriceProgram || executed.path == "" && executed.name == PriceProgram
	return isIts && m.started(p)
}

// own are the programs that the process executed. The first process of all is a
// copy of this mallow until it executes its own.
func (p *watched) own() []program {
	if p.parent == 0 && len(p.programs) > 1 {
		return p.programs[1:]
	}
	return p.programs
}

// unrecordedList has one entry for all processes of a program, and another for
// those of another mallow.
type unrecordedList struct {
	programs []recording.UnrecordedProgram
}

const ofAnotherMallow = "another mallow started it: what it allocates is in the recording of that one, if in any"

func (l *unrecordedList) add(p watched, executable string, another bool, reason func() string) {
	const mostPIDs = 16
	i := slices.IndexFunc(l.programs, func(u recording.UnrecordedProgram) bool {
		return u.Executable == executable && (u.Reason == ofAnotherMallow) == another
	})
	if i < 0 {
		i = len(l.programs)
		why := ofAnotherMallow
		if !another {
			why = reason()
		}
		l.programs = append(l.programs, recording.UnrecordedProgram{Executable: executable, Reason: why, Parent: uint64(p.parent)})
	}
	l.programs[i].Processes++
	if len(l.programs[i].PIDs) < mostPIDs {
		l.programs[i].PIDs = append(l.programs[i].PIDs, uint64(p.pid))
	}
}

// named returns the path of the program in the list that has the short name, if
// there is one; what came and went too soon is most likely that one.
func (l *unrecordedList) named(name string) string {
	const longest = 15 // of a short name
	for _, u := range l.programs {
		if base := filepath.Base(u.Executable); base[:min(longest, len(base))] == name {
			return u.Executable
		}
	}
	return name
}

type recordedPrograms struct {
	heard  bool
	images map[processProgram]bool
	// begun are the images of each process that began by exec.
	begun map[int]int
	// elsewhere are programs with images of process ids that mallow does not know:
	// of processes that it came too late for, or in another pid namespace.
	elsewhere map[string]bool
	executed  map[int][]string
	own       string
}

type processProgram struct {
	pid  int
	path string
}

func newRecordedPrograms(seen []watched, heard bool, images []recording.Identity) *recordedPrograms {
	r := &recordedPrograms{
		heard: heard, images: make(map[processProgram]bool), begun: make(map[int]int),
		elsewhere: make(map[string]bool), executed: make(map[int][]string),
	}
	r.own, _ = os.Executable() // mallow, about to become the first program
	known := make(map[int]bool)
	for _, p := range seen {
		known[p.pid] = true
		for _, executed := range p.programs {
			if executed.path != "" {
				r.executed[p.pid] = append(r.executed[p.pid], executed.path)
			}
		}
	}
	for _, im := range images {
		pid := int(im.PID)
		r.images[processProgram{pid, im.Executable}] = true
		if !im.Forked {
			r.begun[pid]++
		}
		if !known[pid] {
			r.elsewhere[im.Executable] = true
		}
	}
	return r
}

func (r *recordedPrograms) has(p watched, path string) bool {
	if r.images[processProgram{p.pid, path}] || r.elsewhere[path] || path == r.own {
		return true
	}
	// What was seen may be a fork child that has allocated nothing, and executed nothing.
	return !r.heard && slices.Contains(r.executed[p.parent], path)
}

// hasAnother tells whether the process has an image that none of the paths
// which it executed accounts for.
func (r *recordedPrograms) hasAnother(pid int) bool {
	accounted := 0
	for _, path := range r.executed[pid] {
		if r.images[processProgram{pid, path}] {
			accounted++
		}
	}
	return r.begun[pid] > accounted
}

func reasonFor(path string, refusal func(path string) string) string {
	if refusal != nil {
		if reason := refusal(path); reason != "" {
			return reason
		}
	}
	return "libmallow was not loaded into it (was LD_PRELOAD taken out of its environment, or another root entered?), or it could not write its file, or somebody removed that"
}
