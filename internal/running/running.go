// Package running finds what mallow's library has mapped in a process that
// runs: the files through which the two can meet.
package running

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ErrNoFolder is the error for a folder that was removed, or that we cannot see.
var ErrNoFolder = errors.New("is not there any more, or not to be seen from here")

// Recording returns the folder that the process pid records into, or with
// ErrNoFolder the path that it had.
func Recording(pid int) (string, error) {
	files, err := mapped(pid)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "image-") {
			return visible(pid, filepath.Dir(file))
		}
	}
	return "", fmt.Errorf("process %d is not being recorded", pid)
}

// Control returns the control file that the process pid looks at, which may
// be that of the process it was forked from.
func Control(pid int) (string, error) {
	files, err := mapped(pid)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "control-") {
			folder, err := visible(pid, filepath.Dir(file))
			return filepath.Join(folder, filepath.Base(file)), err
		}
	}
	return "", fmt.Errorf("process %d cannot be recorded while it runs: it was not started by mallow run, nor with MALLOW_OPTIONS=control=FOLDER", pid)
}

// Maps tells whether the process pid has a file of that name mapped, or may
// have.
func Maps(pid int, name string) bool {
	files, err := mapped(pid)
	return err != nil || slices.ContainsFunc(files, func(path string) bool { return filepath.Base(path) == name })
}

// RecordInto returns the processes that record into folder, as far as we may
// look at them. Of a folder that was removed it takes the path that it had.
func RecordInto(folder string) []int {
	status, missing := os.Stat(folder)
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, process := range processes {
		pid, err := strconv.Atoi(process.Name())
		if err != nil {
			continue
		}
		of, err := Recording(pid)
		if errors.Is(err, ErrNoFolder) {
			if of == folder {
				found = append(found, pid)
			}
			continue
		}
		if err != nil || missing != nil {
			continue
		}
		if other, err := os.Stat(of); err == nil && os.SameFile(status, other) {
			found = append(found, pid)
		}
	}
	return found
}

// OwnPID returns the number that the process pid has in its own eyes, which
// is another in a namespace of its own.
func OwnPID(pid int) uint64 {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err == nil {
		for line := range strings.Lines(string(status)) {
			if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
				fields := strings.Fields(numbers)
				if len(fields) > 0 {
					if own, err := strconv.ParseUint(fields[len(fields)-1], 10, 64); err == nil {
						return own
					}
				}
			}
		}
	}
	return uint64(pid)
}

// Alive tells whether the process pid runs, or may.
func Alive(pid int) bool { return lives(Folder(pid)) }

// Stopped tells whether the process pid has been stopped, by a signal or by a
// debugger.
func Stopped(pid int) bool {
	state, _ := stateOf(Folder(pid))
	return strings.HasPrefix(state, "T") || strings.HasPrefix(state, "t")
}

// Folder returns the folder below /proc that tells of the process pid. Where
// its first thread has ended before the others it is that of another one: of
// memory, files and arguments the process's own tells nothing then.
func Folder(pid int) string {
	own := filepath.Join("/proc", strconv.Itoa(pid))
	if lives(own) {
		return own
	}
	threads, _ := os.ReadDir(filepath.Join(own, "task"))
	for _, thread := range threads {
		if other := filepath.Join(own, "task", thread.Name()); lives(other) {
			return other
		}
	}
	return own
}

// lives tells whether the thread that a folder of /proc tells of has not ended.
func lives(folder string) bool {
	state, found := stateOf(folder)
	return found && !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// stateOf returns what the system says of a thread behind its name.
func stateOf(folder string) (state string, found bool) {
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return "", false
	}
	// The name before the state may contain anything, also a bracket.
	_, state, _ = strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	return state, true
}

// visible returns folder, a path in the eyes of the process, as we see it. With
// ErrNoFolder it is not there for us.
func visible(pid int, folder string) (string, error) {
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return folder, nil
	}
	// A process may live below another root, or on other mounts.
	inside := filepath.Join(Folder(pid), "root", folder)
	if info, err := os.Stat(inside); err == nil && info.IsDir() {
		return inside, nil
	}
	return folder, fmt.Errorf("process %d uses the folder %q, which %w", pid, folder, ErrNoFolder)
}

// mapped returns the files that the process has mapped, each once for every
// mapping.
func mapped(pid int) ([]string, error) {
	maps, err := os.ReadFile(filepath.Join(Folder(pid), "maps"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no process %d", pid)
	case errors.Is(err, fs.ErrPermission):
		return nil, notToBeLookedAt(pid, ownerOf(pid), uint32(os.Geteuid()))
	case err != nil:
		return nil, err
	}
	return paths(string(maps)), nil
}

// ownerOf returns the user of the process; that of nobody when it has ended.
func ownerOf(pid int) uint32 {
	var status syscall.Stat_t
	if syscall.Stat(filepath.Join("/proc", strconv.Itoa(pid)), &status) != nil {
		return ^uint32(0)
	}
	return status.Uid
}

func notToBeLookedAt(pid int, owner, user uint32) error {
	if user != owner && user != 0 {
		return fmt.Errorf("process %d belongs to somebody else: its user, or root, may look at it", pid)
	}
	return fmt.Errorf("process %d may not be looked at: it has more privileges than mallow, or lets nobody see its memory", pid)
}

// paths returns the names of files in the text of /proc/PID/maps.
func paths(maps string) []string {
	var found []string
	for line := range strings.Lines(maps) {
		// address permissions offset device inode path
		if at := strings.IndexByte(line, '/'); at >= 0 && len(strings.Fields(line[:at])) == 5 {
			path := strings.TrimSuffix(strings.TrimSuffix(line[at:], "\n"), " (deleted)")
			found = append(found, unescaped(path))
		}
	}
	return found
}

// unescaped gives back the line feeds that the kernel writes as \012.
func unescaped(path string) string { return strings.ReplaceAll(path, `\012`, "\n") }
