package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Result is how a program ended. Times of processor use include those
// children that the program waited for.
type Result struct {
	ExitStatus int
	Signal     syscall.Signal // 0 unless a signal ended it
	User       time.Duration
	System     time.Duration
}

// Guard keeps mallow alive while its program runs and until the recording is
// complete: signals are the program's affair.
type Guard struct {
	signals chan os.Signal
	ended   chan struct{}
}

// NewGuard takes over the signals that a user or a supervisor sends, until
// Stop. They wait for Forward.
func NewGuard() *Guard {
	ReserveThreads()
	g := &Guard{signals: make(chan os.Signal, 16), ended: make(chan struct{})}
	state := inheritedState()
	for _, sig := range sentSignals() {
		if !state.ignores(sig) {
			signal.Notify(g.signals, sig)
		}
	}
	return g
}

// sentSignals are those that somebody sends, and neither the kernel nor Go's
// runtime to mallow itself. Go leaves no real-time signal below firstRealTime to
// programs.
func sentSignals() []syscall.Signal {
	const firstRealTime = 35
	list := []syscall.Signal{
		syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGPIPE, syscall.SIGIO, syscall.SIGPWR, syscall.SIGWINCH,
	}
	for sig := syscall.Signal(firstRealTime); sig <= lastSignal; sig++ {
		list = append(list, sig)
	}
	return list
}

// Forward sends to p the signals that were sent to mallow alone. What comes from
// the terminal has reached the whole process group already. mallow itself writes
// to no pipe meanwhile.
func (g *Guard) Forward(p *Process) {
	// The descriptor, unlike the number, never means another process.
	process, err := unix.PidfdOpen(p.Pid, 0)
	if err != nil {
		return
	}
	go func() {
		defer unix.Close(process)
		for {
			select {
			case sig := <-g.signals:
				if !isFromTerminal(sig) {
					unix.PidfdSendSignal(process, sig.(syscall.Signal), nil, 0)
				}
			case <-g.ended:
				return
			}
		}
	}()
}

// Stop gives the signals their usual meaning for mallow back.
func (g *Guard) Stop() {
	signal.Stop(g.signals)
	close(g.ended)
}

func isFromTerminal(sig os.Signal) bool {
	return (sig == syscall.SIGINT || sig == syscall.SIGQUIT || sig == syscall.SIGWINCH) && inForeground()
}

func inForeground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

// Wait returns when the program has ended. While the terminal's job control has
// stopped the program mallow is stopped too, so that the shell sees a stopped
// job.
func (p *Process) Wait() (Result, error) {
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		_, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, &usage)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return Result{}, err
		case status.Stopped():
			// Who sends SIGSTOP to the program alone continues it alone too, and nobody mallow.
			if status.StopSignal() != syscall.SIGSTOP {
				p.stopAlong()
			}
		default:
			r := Result{
				ExitStatus: status.ExitStatus(),
				User:       time.Duration(usage.Utime.Nano()),
				System:     time.Duration(usage.Stime.Nano()),
			}
			if status.Signaled() {
				r.ExitStatus, r.Signal = 0, status.Signal()
			}
			return r, nil
		}
	}
}

// endGroupAt kills the group of a process when done is closed, until stop is
// called, right behind Wait.
func (p *Process) endGroupAt(done <-chan struct{}) (stop func()) {
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-done:
			p.endGroup()
		case <-ended:
		}
	}()
	return func() {
		close(ended)
		<-over
	}
}

// endGroup kills what is left of the process group that the process began, and
// tells whether there was anything.
func (p *Process) endGroup() bool { return syscall.Kill(-p.Pid, syscall.SIGKILL) == nil }

// stopAlong stops mallow when the program stays stopped. A key on the terminal
// stops and continues both, and then the news that the program was stopped may
// come when it runs again already.
func (p *Process) stopAlong() {
	time.Sleep(50 * time.Millisecond)
	if !isStopped(p.Pid) {
		return
	}
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	syscall.Kill(p.Pid, syscall.SIGCONT)
}

func isStopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name before the state may contain anything, also a bracket.
	_, state, found := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	return err == nil && found && strings.HasPrefix(state, "T")
}

// DieBy ends the calling process by sig, so that whoever waits for mallow
// sees what became of the program. There is no core dump: that of the program
// is the one of interest. A signal that ends nobody makes it exit with 128
// and the number, as shells do.
func DieBy(sig syscall.Signal) {
	runtime.LockOSThread()
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	setDisposition(sig, defaultAction)
	only := unix.Sigset_t{}
	only.Val[(uint(sig)-1)/64] = 1 << ((uint(sig) - 1) % 64)
	unix.PthreadSigmask(unix.SIG_UNBLOCK, &only, nil)
	unix.Tgkill(os.Getpid(), unix.Gettid(), sig)
	os.Exit(128 + int(sig))
}
