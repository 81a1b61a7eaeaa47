// Package control tells processes that run on libmallow to start and stop
// recording, as format/control.md specifies.
package control

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	magic      = "MALLOWCT"
	version    = 1
	fileBytes  = 8192
	pageBytes  = 4096
	folderAt   = 128
	folderRoom = 2048
)

// Offsets of the words.
const (
	attentionAt = 64 + 4*iota
	orderNumberAt
	orderAt
	doneNumberAt
	resultAt
	recordingAt
)

// A word of eight bytes.
const sampleAt = 88

type order uint32

const (
	nothing order = 0
	start   order = 1
	stop    order = 2
)

// command is an order with its arguments.
type command struct {
	what   order
	folder string
	sample uint64
}

type result uint32

const (
	done result = iota
	cannotRecord
	alreadyRecording
	notRecording
	badOrder
)

// file is a control file, mapped and locked for one order.
type file struct {
	descriptor *os.File
	memory     []byte
	pid        uint64
	table      []byte
}

// open maps the control file of a process. Not for a file that is cut: the
// process that has it mapped could not run.
func open(path string) (*file, error) {
	descriptor, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	f := &file{descriptor: descriptor}
	if err := f.check(); err != nil {
		f.close()
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return f, nil
}

var errNoControlFile = errors.New("no control file of this version")

func (f *file) check() error {
	info, err := f.descriptor.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != fileBytes {
		return errNoControlFile
	}
	f.memory, err = unix.Mmap(int(f.descriptor.Fd()), 0, fileBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	if string(f.memory[:8]) != magic || le.Uint32(f.memory[8:]) != version {
		return errNoControlFile
	}
	f.pid = le.Uint64(f.memory[16:])
	offset, length := le.Uint32(f.memory[32:]), le.Uint32(f.memory[36:])
	if offset < pageBytes || offset > fileBytes || length > fileBytes-offset {
		return errNoControlFile
	}
	f.table = f.memory[offset : offset+length]
	return nil
}

func (f *file) close() {
	if f.memory != nil {
		unix.Munmap(f.memory)
	}
	f.descriptor.Close()
}

func (f *file) word(offset int) *uint32 { return (*uint32)(unsafe.Pointer(&f.memory[offset])) }

func (f *file) recording() bool { return atomic.LoadUint32(f.word(recordingAt)) == 1 }

// wake makes the next slow call of the process look, and the next small
// malloc of each of its threads slow.
func (f *file) wake() {
	atomic.StoreUint32(f.word(attentionAt), 1)
	for i := range f.table {
		f.table[i] = 0
	}
}

// takeBack takes an order to start back that the process has not begun to carry out,
// and tells who gave it so.
func (f *file) takeBack() bool {
	if !atomic.CompareAndSwapUint32(f.word(orderAt), uint32(start), uint32(nothing)) {
		return false
	}
	atomic.StoreUint32(f.word(resultAt), uint32(notRecording))
	atomic.StoreUint32(f.word(doneNumberAt), atomic.LoadUint32(f.word(orderNumberAt)))
	return true
}

var (
	// ErrSilent is the error for an order that the process has not carried out
	// yet: it will when it next allocates.
	ErrSilent = errors.New("makes no call of malloc or free, or only for blocks of more than 256 KiB that its caches have")
	errGone   = errors.New("has ended")
)

const (
	patience = 20 * time.Millisecond // between two wakes
	glance   = time.Millisecond
)

// give gives an order and waits until it was carried out, ctx is done or the
// process is not alive any more. What was not begun then is left standing, or
// taken back.
func (f *file) give(ctx context.Context, c command, leave bool, alive func() bool) (result, error) {
	if len(c.folder) >= folderRoom {
		return badOrder, fmt.Errorf("the path of the recording is longer than %d bytes", folderRoom-1)
	}
	if err := unix.Flock(int(f.descriptor.Fd()), unix.LOCK_EX); err != nil {
		return badOrder, err
	}
	defer unix.Flock(int(f.descriptor.Fd()), unix.LOCK_UN)
	number := atomic.LoadUint32(f.word(orderNumberAt)) + 1
	clear(f.memory[folderAt : folderAt+folderRoom])
	copy(f.memory[folderAt:], c.folder)
	binary.LittleEndian.PutUint64(f.memory[sampleAt:], c.sample)
	atomic.StoreUint32(f.word(orderAt), uint32(c.what))
	atomic.StoreUint32(f.word(orderNumberAt), number)
	for {
		f.wake()
		for woken := time.Now(); time.Since(woken) < patience; time.Sleep(glance) {
			if atomic.LoadUint32(f.word(doneNumberAt)) == number {
				return result(atomic.LoadUint32(f.word(resultAt))), nil
			}
		}
		if !alive() {
			return badOrder, errGone
		}
		if ctx.Err() != nil && (leave || atomic.CompareAndSwapUint32(f.word(orderAt), uint32(c.what), uint32(nothing))) {
			return badOrder, ErrSilent
		}
	}
}
