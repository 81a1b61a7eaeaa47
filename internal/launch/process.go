package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// waitingName is argv[0] of a process that waits to become a program.
const waitingName = "mallow: about to start the program"

// Process is a program that was started by Prepare.
type Process struct {
	// Pid is the process id that the program has, or will have.
	Pid  int
	path string
	env  []string
	gate *os.File
}

// Prepare makes the process that Release will turn into c. Nothing of c has
// run before that.
func Prepare(c Command) (*Process, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, &Error{StatusCannotRecord, fmt.Errorf("cannot start %s: %w", Quote(c.Name), err)}
	}
	gate := os.NewFile(uintptr(pair[0]), "gate")
	// The waiting process inherits its end under the number that it has here:
	// one that is free in this process, so it hides no descriptor of the user.
	defer syscall.Close(pair[1])
	if err := setCloseOnExec(pair[1], false); err != nil {
		gate.Close()
		return nil, &Error{StatusCannotRecord, fmt.Errorf("cannot start %s: %w", Quote(c.Name), err)}
	}
	argv := append([]string{waitingName, strconv.Itoa(pair[1]), inheritedState().String(), c.Path}, c.Argv...)
	attributes := &syscall.ProcAttr{Env: c.Env, Dir: c.Dir, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: c.Group}}
	if c.Stdio != nil {
		for i, file := range c.Stdio {
			attributes.Files[i] = file.Fd()
		}
	}
	pid, err := syscall.ForkExec(self(), argv, attributes)
	if err != nil {
		gate.Close()
		return nil, &Error{StatusCannotRecord, fmt.Errorf("cannot start %s: %w", Quote(c.Name), err)}
	}
	return &Process{Pid: pid, path: c.Path, env: c.Env, gate: gate}, nil
}

// Release lets the process become its program, with settings (NAME=VALUE)
// replacing those of its environment. The error is an *Error when the program
// cannot be executed; the process is gone then.
func (p *Process) Release(settings ...string) error {
	defer p.gate.Close()
	settings = append(settings, passedOn(p.env, os.Getpid(), p.Pid)...)
	if _, err := io.WriteString(p.gate, strings.Join(settings, "\x00")); err != nil {
		return p.vanished()
	}
	if err := shutdownWrite(p.gate); err != nil {
		return p.vanished()
	}
	// The other end closes when execve succeeds.
	answer, err := io.ReadAll(p.gate)
	if err != nil || len(answer) == 0 {
		return nil
	}
	p.reap()
	errno, err := strconv.Atoi(string(answer))
	if err != nil {
		return &Error{StatusCannotRecord, fmt.Errorf("%s could not be started: %s", Quote(p.path), answer)}
	}
	return failedExec(p.path, syscall.Errno(errno))
}

// Abandon ends the process before it became its program.
func (p *Process) Abandon() {
	p.gate.Close()
	p.reap()
}

func (p *Process) vanished() error {
	p.reap()
	return &Error{StatusCannotRecord, fmt.Errorf("%s could not be started: its process ended at once", Quote(p.path))}
}

func (p *Process) reap() {
	for {
		_, err := syscall.Wait4(p.Pid, nil, 0, nil)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// BecomeProgram must be the first call of main. It returns at once, except in
// a process that was made by Prepare: there it waits for Release and never
// returns.
func BecomeProgram() {
	if len(os.Args) < 5 || os.Args[0] != waitingName {
		return
	}
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return
	}
	state, err := parseInherited(os.Args[2])
	if err != nil {
		return
	}
	path, argv := os.Args[3], os.Args[4:]

	setCloseOnExec(fd, true)
	gate := os.NewFile(uintptr(fd), "gate")
	settings, err := io.ReadAll(gate)
	if err != nil || len(settings) == 0 {
		os.Exit(StatusCannotRecord) // abandoned
	}
	env := replaced(os.Environ(), strings.Split(string(settings), "\x00"))
	err = becomeProgram(state, path, argv, env)
	var errno syscall.Errno
	if errors.As(err, &errno) {
		fmt.Fprintf(gate, "%d", int(errno))
	} else {
		fmt.Fprint(gate, err)
	}
	os.Exit(StatusNotExecutable)
}

func setCloseOnExec(fd int, on bool) error {
	flags := 0
	if on {
		flags = syscall.FD_CLOEXEC
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_SETFD, uintptr(flags)); errno != 0 {
		return errno
	}
	return nil
}

func shutdownWrite(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Shutdown(int(fd), syscall.SHUT_WR) }); err != nil {
		return err
	}
	return failed
}
