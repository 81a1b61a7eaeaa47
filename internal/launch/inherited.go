package launch

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inherited is what the Go runtime changes before main and a program started
// by mallow must still find: signals that were ignored (nohup, background
// jobs of scripts, services) or blocked, and standard descriptors that were
// closed.
type inherited struct {
	ignored uint64 // bit n-1 for signal n
	blocked uint64 // likewise
	closed  uint64 // bit n for descriptor n
}

// Filled in by the entry point of the executable (entry_amd64.s), before the
// Go runtime starts; zero in executables that are linked without it.
var (
	entryIgnored uint64
	entryBlocked uint64
	entryClosed  uint64
)

// StandardOutput is this process's standard output. Where that was closed, the
// Go runtime has opened /dev/null in its place: who writes to it learns so.
func StandardOutput() io.Writer {
	if entryClosed&(1<<1) != 0 {
		return closedOutput{}
	}
	return os.Stdout
}

type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EBADF}
}

func inheritedState() inherited {
	return inherited{ignored: entryIgnored, blocked: entryBlocked, closed: entryClosed}
}

// String writes s as one word, which parseInherited reads.
func (s inherited) String() string {
	return fmt.Sprintf("%x,%x,%x", s.ignored, s.blocked, s.closed)
}

func parseInherited(word string) (s inherited, err error) {
	_, err = fmt.Sscanf(word, "%x,%x,%x", &s.ignored, &s.blocked, &s.closed)
	return s, err
}

// giveBack brings the state back that this process inherited, just before it
// executes a program. The calling goroutine must be locked to its thread,
// whose signal mask the program gets.
func (s inherited) giveBack() {
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		if s.ignores(sig) {
			setDisposition(sig, ignoreSignal)
		}
	}
	mask := unix.Sigset_t{Val: [16]uint64{s.blocked}}
	unix.PthreadSigmask(unix.SIG_SETMASK, &mask, nil)
	for fd := range 3 {
		if s.closed&(1<<fd) != 0 {
			syscall.Close(fd)
		}
	}
}

func (s inherited) ignores(sig syscall.Signal) bool {
	return s.ignored&(1<<(uint(sig)-1)) != 0
}

const (
	lastSignal    = syscall.Signal(64)
	defaultAction = 0
	ignoreSignal  = 1
)

// setDisposition goes past the Go runtime, which keeps its own handlers for
// most signals; only for a process that is about to end or to execute.
func setDisposition(sig syscall.Signal, action uintptr) {
	kernelSigaction := struct {
		handler, flags, restorer uintptr
		mask                     uint64
	}{handler: action}
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&kernelSigaction)), 0,
		unsafe.Sizeof(kernelSigaction.mask), 0, 0)
}
