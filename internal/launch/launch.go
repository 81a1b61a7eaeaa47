// Package launch starts a program on libmallow and stays out of its way: the
// program keeps its descriptors, signals, process group, environment (but for
// LD_PRELOAD and MALLOW_OPTIONS) and exit status.
//
// Recording needs the name of the folder, which bears the program's process
// id, in the program's environment. So the process is made first, by running
// this executable again (see BecomeProgram); it waits until the folder is
// there and then turns itself into the program.
package launch

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// Exit codes for a program that was not started, as the shell and env(1) use
// them.
const (
	StatusCannotRecord  = 125
	StatusNotExecutable = 126
	StatusNotFound      = 127
)

// An Error says why a program was not started and with which code mallow
// exits for it.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Command is a program with its arguments, found but not started.
type Command struct {
	// Name is the program as the user wrote it.
	Name string
	// Path is the file to execute.
	Path string
	// Argv is what the program gets, its own name first.
	Argv []string
	// Env is the whole environment.
	Env []string
	// Dir is the working folder, "" for mallow's own.
	Dir string
	// Stdio are standard input, output and error; nil for mallow's own.
	Stdio *[3]*os.File
	// Group makes the program the first of a process group of its own, so that
	// it can be ended with all that it has started. What it leaves behind when it
	// ends by itself is ended, too.
	Group bool
}

// With returns c with settings (NAME=VALUE) in its environment.
func (c Command) With(settings ...string) Command {
	c.Env = replaced(c.Env, settings)
	return c
}

// failedExec translates an error of execve for the user.
func failedExec(path string, errno syscall.Errno) *Error {
	switch {
	case errors.Is(errno, syscall.ENOENT):
		return &Error{StatusNotFound, fmt.Errorf("%s: the program, or the interpreter that it names, is not there", Quote(path))}
	case errors.Is(errno, syscall.ENOEXEC):
		return &Error{StatusNotExecutable, fmt.Errorf("%s: not a program that this system can execute", Quote(path))}
	}
	return &Error{StatusNotExecutable, fmt.Errorf("%s: cannot be executed: %w", Quote(path), errno)}
}

// Exec turns the calling process into c. It returns only when that fails.
func Exec(c Command) error {
	var errno syscall.Errno
	if errors.As(becomeProgram(inheritedState(), c.Path, c.Argv, c.Env), &errno) {
		return failedExec(c.Path, errno)
	}
	return &Error{StatusNotExecutable, fmt.Errorf("%s: cannot be executed", Quote(c.Path))}
}

// becomeProgram gives back what the Go runtime has changed, and executes path.
func becomeProgram(s inherited, path string, argv, env []string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.giveBack()
	return syscall.Exec(path, argv, env)
}

// self is the executable that runs now, also when its file was replaced
// meanwhile.
func self() string {
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		return "/proc/self/exe"
	}
	return os.Args[0]
}
