package measure

import (
	"crypto/sha256"
	"hash"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kept hashes what is written to it and keeps the last of it.
type kept struct {
	from *os.File // the end of the pipe that it is read from; nil for none
	sum  hash.Hash
	last []byte
	cut  bool
}

func newKept() *kept { return &kept{sum: sha256.New()} }

func (k *kept) Write(p []byte) (int, error) {
	k.sum.Write(p)
	k.last = append(k.last, p...)
	if len(k.last) > 2*MostKept {
		k.trim()
	}
	return len(p), nil
}

// hurry is called when the command has ended: what is still to be read is in
// the pipe. Without the meter a process that is left may hold the other end
// for ever.
func (k *kept) hurry() {
	if k.from != nil {
		k.from.SetReadDeadline(time.Now().Add(10 * time.Second))
	}
}

func (k *kept) trim() {
	k.last = append([]byte(nil), k.last[len(k.last)-MostKept:]...)
	k.cut = true
}

// hash is of all that was written.
func (k *kept) hash() []byte {
	if len(k.last) > MostKept {
		k.trim()
	}
	return k.sum.Sum(nil)
}

// enlarge lets the command write on while mallow reads: fewer switches between
// the two.
func enlarge(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, MostKept) })
}

func signalName(signal syscall.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return signal.String()
}
