package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mallow/internal/running"
)

// Process is a process that can be told to record.
type Process struct {
	PID  int
	file *file
}

// Find returns the process pid, if it can be told.
func Find(pid int) (*Process, error) {
	const tries, pause = 100, 20 * time.Millisecond
	const whole = 5 // tries after which a file that is being made must be one
	for try := 0; ; try++ {
		path, err := running.Control(pid)
		if err != nil {
			return nil, err
		}
		own := running.OwnPID(pid)
		f, err := open(path)
		switch {
		case err == nil && f.pid == own:
			return &Process{PID: pid, file: f}, nil
		case err == nil:
			// A fork child that has made no slow call yet: with the next one it makes
			// a file of its own.
			f.wake()
			f.close()
		case errors.Is(err, fs.ErrNotExist) && !strings.HasPrefix(filepath.Base(path), fmt.Sprintf("control-%d-", own)):
			// Its parent has woken it when it ended.
		case errors.Is(err, errNoControlFile) && try < whole:
		default:
			return nil, fmt.Errorf("process %d cannot be told to record: %w", pid, err)
		}
		if try == tries {
			return nil, fmt.Errorf("process %d cannot be told to record: it makes no call of malloc, or cannot make its control file", pid)
		}
		time.Sleep(pause)
	}
}

// Close lets the process go.
func (p *Process) Close() { p.file.close() }

// Recording tells whether the process is being recorded.
func (p *Process) Recording() bool { return p.file.recording() }

// Alive tells whether the process still runs.
func (p *Process) Alive() bool { return running.Alive(p.PID) }

// Executed tells whether the process has executed another program: that one
// looks at this control file no more.
func (p *Process) Executed() bool {
	return !running.Maps(p.PID, filepath.Base(p.file.descriptor.Name())) && p.Alive()
}

// Start makes the process record into folder, an absolute path: blocks at a
// mean distance of `sample` bytes, or for 0 every call. It returns
// when the process records, has ended or ctx is done; then it does not start
// any more.
func (p *Process) Start(ctx context.Context, folder string, sample uint64) error {
	inside := insideRoot(p.PID, folder)
	answer, err := p.file.give(ctx, command{start, inside, sample}, false, p.Alive)
	switch {
	case errors.Is(err, ErrSilent) && running.Stopped(p.PID):
		return fmt.Errorf("process %d is stopped, by a signal or a debugger, and begins to record only when it runs: continue it first", p.PID)
	case err != nil:
		return fmt.Errorf("process %d %w", p.PID, err)
	case answer == done:
		return nil
	case answer == alreadyRecording:
		return fmt.Errorf("process %d is being recorded already", p.PID)
	case answer == notRecording, answer == badOrder: // the latter where the process was about to look
		return fmt.Errorf("process %d was told to stop before it began to record", p.PID)
	}
	return fmt.Errorf("process %d could not make its file in the recording: is the disk full, is the folder out of its reach, by its user or its root, or has it a limit of memory, file size or open files (/proc/%[1]d/limits)?", p.PID)
}

// Stop makes the process stop recording. A process that makes no call until
// ctx is done stops with its next one.
func (p *Process) Stop(ctx context.Context) error {
	answer, err := p.file.give(ctx, command{what: stop}, true, p.Alive)
	switch {
	case errors.Is(err, errGone):
		return nil
	case err != nil:
		return fmt.Errorf("process %d %w", p.PID, err)
	case answer != done && answer != notRecording:
		return fmt.Errorf("process %d could not stop recording", p.PID)
	}
	return nil
}

// insideRoot is the path of a folder in the eyes of a process that may live
// below another root.
func insideRoot(pid int, folder string) string {
	root, err := os.Readlink(filepath.Join(running.Folder(pid), "root"))
	if err != nil || root == "/" || len(folder) <= len(root) || folder[:len(root)] != root || folder[len(root)] != '/' {
		return folder
	}
	return folder[len(root):]
}
