package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"mallow/internal/launch"
	"mallow/internal/recording"
	"mallow/internal/running"
)

// Options of recording a process that runs.
type Options struct {
	Folder      string        // "" for PROG.PID.mallow
	Duration    time.Duration // 0: until something ends it
	NoArguments bool
	SampleBytes uint64 // record blocks at this mean distance; 0: every call
	// Unseen says, a sentence each, what of the memory of a program the
	// recording lacks in an environment; nil: nobody asks.
	Unseen func(executable string, environment []string) []string
	// Waiting is called when the process has made no call for a while that
	// recording could begin with.
	Waiting func()
	// Began is called when the process records.
	Began func(folder string)
}

// Recorded is what a session leaves behind.
type Recorded struct {
	Folder   string
	Warnings []string
}

const (
	look        = 50 * time.Millisecond // between two looks at a process that records
	longLook    = time.Second           // between two looks at what it has mapped
	stopPatient = time.Second
	tellWaiting = time.Second
)

// Record records the process pid, and the children that it forks, until ctx is
// done, the time is over, the process ends or somebody stops it. Nothing is
// left behind when it could not be recorded.
func Record(ctx context.Context, pid int, o Options) (Recorded, error) {
	launch.ReserveThreads()
	process, err := Find(pid)
	if err != nil {
		return Recorded{}, err
	}
	defer process.Close()
	folder, err := launch.MakeFolder(o.Folder, launch.Command{Name: nameOf(pid)}, pid)
	if err != nil {
		return Recorded{}, err
	}
	hold, err := holdFolder(folder)
	if err != nil {
		launch.RemoveFolder(folder)
		return Recorded{}, err
	}
	defer hold.Close()
	meta := recording.Meta{Version: 1, Started: time.Now(), Mallow: launch.Version, Joined: true}
	if !o.NoArguments {
		meta.Command = wordsOf(pid, "cmdline")
	}
	if executable, err := os.Readlink(filepath.Join(running.Folder(pid), "exe")); err == nil && o.Unseen != nil {
		meta.Notes = o.Unseen(executable, wordsOf(pid, "environ"))
	}
	limited, cancel := withLimit(ctx, o.Duration)
	defer cancel()
	if err := begin(limited, process, folder, hold, o); err != nil {
		discard(folder)
		return Recorded{}, err
	}
	if o.Began != nil {
		o.Began(folder)
	}
	executed := process.wait(ctx, o.Duration)
	r := Recorded{Folder: launch.FolderNow(folder, hold)}
	r.Warnings = stopAll(r.Folder)
	if executed {
		r.Warnings = append(r.Warnings, fmt.Sprintf("process %d has executed another program, which is not in this recording", pid))
	}
	return r, r.complete(meta)
}

// begin makes the process record; a folder of root's must be one of the
// process's user then.
func begin(ctx context.Context, process *Process, folder string, hold *os.File, o Options) error {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if owner, err := os.Open(running.Folder(process.PID)); err == nil {
		giveFolder(folder, hold, owner)
		owner.Close()
	}
	if o.Waiting != nil {
		defer time.AfterFunc(tellWaiting, o.Waiting).Stop()
	}
	return process.Start(ctx, absolute, o.SampleBytes)
}

// giveFolder gives a folder, and hold of it, to an owner. Not one behind a
// link: who may write beside it could have put that there, to be given
// something else.
func giveFolder(folder string, hold, owner *os.File) {
	held, err := hold.Stat()
	if err != nil {
		return
	}
	if named, err := os.Lstat(folder); err == nil && os.SameFile(named, held) {
		recording.GiveToOwner(hold, owner)
	}
}

func withLimit(ctx context.Context, duration time.Duration) (context.Context, context.CancelFunc) {
	if duration > 0 {
		return context.WithTimeout(ctx, duration)
	}
	return context.WithCancel(ctx)
}

// wait returns when the recording is to end, and tells whether that is because
// the process has executed another program.
func (p *Process) wait(ctx context.Context, duration time.Duration) (executed bool) {
	ctx, cancel := withLimit(ctx, duration)
	defer cancel()
	mapped := time.NewTicker(longLook)
	defer mapped.Stop()
	for p.Recording() && p.Alive() {
		select {
		case <-ctx.Done():
			return p.Executed()
		case <-mapped.C:
			if p.Executed() {
				return true
			}
		case <-time.After(look):
		}
	}
	return false
}

// stopAll stops all processes that record into folder. Children may be forked
// meanwhile.
func stopAll(folder string) (warnings []string) {
	const rounds = 5
	for range rounds {
		recorders := running.RecordInto(folder)
		if len(recorders) == 0 {
			return nil
		}
		warnings = nil
		for _, err := range stopEach(recorders) {
			if err != nil {
				warnings = append(warnings, err.Error())
			}
		}
		if len(warnings) == len(recorders) {
			break
		}
	}
	return warnings
}

// stopEach stops all at the same time: some may be silent.
func stopEach(pids []int) []error {
	failures := make([]error, len(pids))
	var stops sync.WaitGroup
	for i, pid := range pids {
		stops.Go(func() { failures[i] = stopOne(pid) })
	}
	stops.Wait()
	return failures
}

func stopOne(pid int) error {
	process, err := Find(pid)
	if err != nil {
		if _, none := running.Recording(pid); none != nil && !errors.Is(none, running.ErrNoFolder) {
			return nil // it has ended since it was looked for, or executed another program
		}
		return err
	}
	defer process.Close()
	ctx, cancel := context.WithTimeout(context.Background(), stopPatient)
	defer cancel()
	err = process.Stop(ctx)
	if errors.Is(err, ErrSilent) && running.Stopped(pid) {
		return fmt.Errorf("process %d is stopped, by a signal or a debugger; it stops recording at its first call of malloc or free after that", pid)
	}
	if errors.Is(err, ErrSilent) {
		return fmt.Errorf("process %d makes no call of malloc or free now; it stops recording at its next one", pid)
	}
	return err
}

// errRemoved is the error for what a process recorded and somebody took away:
// it had made its image when it began.
var errRemoved = errors.New("was removed while it was written; nothing is left of it")

func (r *Recorded) complete(meta recording.Meta) error {
	meta.Ended = time.Now()
	done := launch.Complete(r.Folder, meta)
	r.Warnings = append(r.Warnings, done.Warnings...)
	if done.Images > 0 {
		return nil
	}
	discard(r.Folder)
	removed := fmt.Errorf("the recording %q %w", r.Folder, errRemoved)
	r.Folder = ""
	return removed
}

// Stop ends the recording of the process pid and of the others that record
// into the same folder. It completes the recording, unless another mallow
// waits to do so: then Folder is "", and so it is where the recording had not begun.
func Stop(pid int) (Recorded, error) {
	folder, err := running.Recording(pid)
	removed := errors.Is(err, running.ErrNoFolder)
	if err != nil && !removed {
		if takeBack(pid) {
			return Recorded{}, nil
		}
		return Recorded{}, err
	}
	if _, err := running.Control(pid); err != nil {
		return Recorded{}, fmt.Errorf("process %d has been recorded from its start, and is to its end", pid)
	}
	r := Recorded{Folder: folder, Warnings: stopAll(folder)}
	if removed {
		r.Folder = ""
		return r, fmt.Errorf("the recording %q %w", folder, errRemoved)
	}
	return finish(r)
}

// takeBack ends a recording of the process that waits to begin.
func takeBack(pid int) bool {
	path, err := running.Control(pid)
	if err != nil {
		return false
	}
	f, err := open(path)
	if err != nil {
		return false
	}
	defer f.close()
	return f.pid == running.OwnPID(pid) && f.takeBack()
}

// finish completes a recording that has been stopped, unless the mallow that began it does so, or has done so by now: it
// sees the end of the recording as soon as this one.
func finish(r Recorded) (Recorded, error) {
	hold, err := holdFolder(r.Folder)
	if errors.Is(err, errHeld) || errors.Is(err, fs.ErrNotExist) {
		r.Folder = ""
		return r, nil
	}
	if err != nil {
		return Recorded{}, err
	}
	defer hold.Close()
	if launch.IsComplete(r.Folder) {
		r.Folder = ""
		return r, nil
	}
	meta := recording.Meta{Version: 1, Mallow: launch.Version, Joined: true}
	if info, err := os.Stat(r.Folder); err == nil {
		meta.Started = info.ModTime()
	}
	return r, r.complete(meta)
}

var errHeld = errors.New("another mallow is at it")

// holdFolder tells other mallows that this one completes the recording.
func holdFolder(folder string) (*os.File, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, errHeld
	}
	return f, nil
}

// discard removes the folder of a recording that has not begun.
func discard(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			os.Remove(path)
		}
	}
	launch.RemoveFolder(folder)
}

func nameOf(pid int) string {
	path, err := os.Readlink(filepath.Join(running.Folder(pid), "exe"))
	if err != nil {
		return "process"
	}
	return strings.TrimSuffix(filepath.Base(path), " (deleted)")
}

// wordsOf returns what the system tells of a process in one of its files, such as
// its command line; nil when it may not be known.
func wordsOf(pid int, file string) []string {
	words, err := os.ReadFile(filepath.Join(running.Folder(pid), file))
	if err != nil || len(words) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
}
