package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"mallow/internal/eventlog"
	"mallow/internal/recording"
)

// RecordOptions are the choices of `mallow record`.
type RecordOptions struct {
	Folder      string // "" for PROG.PID.mallow
	NoArguments bool   // keep the command out of the recording
	CPUHertz    int    // samples per second of CPU time; 0: none
	SampleBytes uint64 // record blocks at this mean distance; 0: every call
	Library     string // absolute path of libmallow.so
	LogLimit    uint64 // keep an ordered log of at most so many bytes a process; 0: none
	// Refusal says why a program cannot be recorded, "" when it can.
	Refusal func(path string) string
	// Unseen says, a sentence each, what of the memory of a program that was
	// recorded the recording lacks; nil: nobody asks.
	Unseen func(path string) []string
	// CountCalls are the functions whose calls count as units, as libmallow
	// takes them, and Notes what the recording's meta.json has to say of it.
	CountCalls string
	Notes      []string
	// Done ends the program and its whole group (Command.Group) when it is
	// closed; nil: nothing does.
	Done <-chan struct{}
}

// MostCPUHertz is the most that libmallow takes.
const MostCPUHertz = 10_000

// LeastLogLimit is the least with which libmallow makes a log: its header takes
// the first block of 32 KiB.
const LeastLogLimit = 64 << 10

// Recorded is what Record leaves behind.
type Recorded struct {
	Result
	Folder string // "" when no process recorded anything
	// Left tells that processes of the program's group were there when it had
	// ended, and were ended.
	Left bool
	// Warnings say what the recording lacks.
	Warnings []string
}

// Record runs c with libmallow recording into a new folder, and completes the
// recording when the first process has ended. Children that still run go on
// recording; their image files are left as they are.
//
// The error is an *Error when the program was not started; nothing is left
// behind then.
func Record(c Command, o RecordOptions) (Recorded, error) {
	guard := NewGuard()
	defer guard.Stop()
	process, err := Prepare(c)
	if err != nil {
		return Recorded{}, err
	}
	folder, err := MakeFolder(o.Folder, c, process.Pid)
	if err != nil {
		process.Abandon()
		return Recorded{}, err
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		process.Abandon()
		RemoveFolder(folder)
		return Recorded{}, &Error{StatusCannotRecord, err}
	}
	hold, err := os.Open(folder)
	if err != nil {
		process.Abandon()
		RemoveFolder(folder)
		return Recorded{}, &Error{StatusCannotRecord, err}
	}
	defer hold.Close()
	started := time.Now()
	events := hearFamily(process.Pid)
	if err := process.Release(Preload(c.Env, Preloaded(o.Library)), RecordInto(c.Env, absolute, o)); err != nil {
		RemoveFolder(folder)
		return Recorded{}, err
	}
	guard.Forward(process)
	watcher := watch(process.Pid)
	stop := process.endGroupAt(o.Done)
	result, err := process.Wait()
	stop()
	left := c.Group && process.endGroup()
	if err != nil {
		return Recorded{}, &Error{StatusCannotRecord, fmt.Errorf("waiting for %s: %w", Quote(c.Name), err)}
	}
	r := Recorded{Result: result, Folder: FolderNow(folder, hold), Left: left}
	r.complete(c, o, started, newFamily(process.Pid, watcher, events))
	return r, nil
}

// complete packs what no process writes to any more and adds meta.json.
func (r *Recorded) complete(c Command, o RecordOptions, started time.Time, f family) {
	images := imagesOf(r.Folder)
	if len(images) == 0 {
		if r.diedInSandbox(f.exits) {
			r.Warnings = append(r.Warnings, diedInSandbox)
		}
		r.nothingRecorded(c)
		return
	}
	var identities []recording.Identity
	running, failed := recording.PackEnded(images)
	stillRunning, atWork := 0, make(map[uint64]bool)
	for i, image := range images {
		identity, err := recording.Identify(image)
		if err == nil {
			identities = append(identities, identity)
			atWork[identity.PID] = atWork[identity.PID] || running[i]
		}
		if running[i] {
			stillRunning++
			continue
		}
		if failed[i] != nil {
			r.Warnings = append(r.Warnings, failed[i].Error())
		}
		r.completeLog(image, o.LogLimit > 0)
	}
	if stillRunning > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d processes still run and go on recording", stillRunning, len(images)))
	}
	meta := r.meta(c, o, started)
	meta.PID = uint64(f.first)
	meta.Exits = f.exits
	meta.Unwaited = f.unwaited(identities, atWork)
	meta.Notes = append(slices.Clone(meta.Notes), o.unseen(identities)...)
	if r.diedInSandbox(f.exits) {
		meta.Notes = append(meta.Notes, diedInSandbox)
	}
	meta.Unrecorded = unrecordedPrograms(f.seen, f.heard, identities, o.Refusal)
	if err := writeMeta(r.Folder, meta); err != nil {
		r.Warnings = append(r.Warnings, err.Error())
	}
}

// diedInSandbox is what a process dies of whose seccomp filter kills it for a
// system call that libmallow makes.
const diedInSandbox = "a process was killed by SIGSYS: its seccomp filter may not allow the system calls that libmallow makes besides its own, " +
	"such as rt_sigprocmask, getpid, gettid, madvise, mprotect and futex (docs/manual/record.md has all of them)"

func (r *Recorded) diedInSandbox(exits []recording.ProcessExit) bool {
	return r.Signal == syscall.SIGSYS || slices.ContainsFunc(exits, func(e recording.ProcessExit) bool { return e.Signal == int(syscall.SIGSYS) })
}

// unseen asks once for each program.
func (o RecordOptions) unseen(recorded []recording.Identity) (notes []string) {
	if o.Unseen == nil {
		return nil
	}
	asked := make(map[string]bool)
	for _, of := range recorded {
		if !asked[of.Executable] {
			asked[of.Executable] = true
			notes = append(notes, o.Unseen(of.Executable)...)
		}
	}
	return notes
}

// completeLog trims the log of an image, if there is one, and says what it
// lacks.
func (r *Recorded) completeLog(image string, wanted bool) {
	name := eventlog.FileName(filepath.Base(image))
	path := filepath.Join(r.Folder, name)
	err := eventlog.Trim(path)
	if errors.Is(err, fs.ErrNotExist) {
		if wanted {
			r.Warnings = append(r.Warnings, name+" is missing: the disk was full or a limit was met, or somebody removed it")
		}
		return
	}
	if err != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the log of a process is missing: %v", err))
		return
	}
	if why, err := eventlog.EndOf(path); err == nil && why != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s ends before its process: %s", name, why))
	}
}

// takeEmpty takes the empty image files, which stand for processes that could
// not be recorded, out of images.
func takeEmpty(images *[]string) (empty []string) {
	*images = slices.DeleteFunc(*images, func(image string) bool {
		info, err := os.Lstat(image)
		if err != nil || info.Size() > 0 {
			return false
		}
		empty = append(empty, image)
		return true
	})
	return empty
}

// nothingRecorded names the failure. An empty folder would look like a
// recording of a program that allocates nothing, so it goes.
func (r *Recorded) nothingRecorded(c Command) {
	why := "libmallow could not write its first file: is the disk full, is a file size limit set, or did the program enter another root?"
	if info, err := os.Lstat(r.Folder); err != nil || !info.IsDir() {
		why = "its folder " + Quote(r.Folder) + " was removed while it ran"
	} else if r.Signal == 0 && r.ExitStatus == StatusNotFound {
		why = "the program ended before it started: its output above says why"
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("nothing of %s was recorded; %s (mallow doctor %s tells more)", Quote(c.Name), why, Quote(c.Name)))
	if err := RemoveFolder(r.Folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s is no recording and was left: %v", Quote(r.Folder), err))
	}
	r.Folder = ""
}

func (r *Recorded) meta(c Command, o RecordOptions, started time.Time) recording.Meta {
	m := recording.Meta{
		Version: 1, Started: started, Ended: time.Now(),
		ExitStatus: r.ExitStatus, Signal: int(r.Signal), Mallow: Version,
		UserSeconds: r.User.Seconds(), SystemSeconds: r.System.Seconds(),
		Notes: o.Notes,
	}
	if !o.NoArguments {
		m.Command = c.Argv
	}
	return m
}

func writeMeta(folder string, m recording.Meta) error {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("meta.json: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(folder, "meta.json"), os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("meta.json: %w", errors.Unwrap(err))
	}
	if owner, err := os.Open(folder); err == nil {
		recording.GiveToOwner(file, owner)
		owner.Close()
	}
	_, err = file.Write(append(content, '\n'))
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(file.Name())
		return fmt.Errorf("meta.json: %w", err)
	}
	return nil
}

// escapeGlob keeps the name of a folder from being a pattern.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
