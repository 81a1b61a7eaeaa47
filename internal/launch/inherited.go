package launch

import (
	"syscall"
	"unsafe"
)

// inherited is what the Go runtime changes before main and a program started
// by mallow must still find: signals that were ignored (nohup, background
// jobs of scripts, services) and standard descriptors that were closed.
type inherited struct {
	ignored uint64 // bit n-1 for signal n
	closed  uint64 // bit n for descriptor n
}

// Filled in by the entry point of the executable (entry_amd64.s), before the
// Go runtime starts; zero in executables that are linked without it.
var (
	entryIgnored uint64
	entryClosed  uint64
)

func inheritedState() inherited {
	return inherited{ignored: entryIgnored, closed: entryClosed}
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
