package measure

import (
	"crypto/sha256"
	"hash"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// kept hashes what is written to it and keeps the last of it.
type kept struct {
	sum  hash.Hash
	last []byte
	cut  bool
}

func (k *kept) Write(p []byte) (int, error) {
	if k.sum == nil {
		k.sum = sha256.New()
	}
	k.sum.Write(p)
	k.last = append(k.last, p...)
	if len(k.last) > 2*MostKept {
		k.trim()
	}
	return len(p), nil
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
	if k.sum == nil {
		k.sum = sha256.New()
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
