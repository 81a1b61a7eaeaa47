package symbolize

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mapping is a file in memory. Only the pages that are looked at are read.
type mapping struct {
	path string
	data []byte
	info os.FileInfo
}

var errNotRegular = errors.New("not a regular file")

// mapFile maps a regular file. It never waits: what a recording names may be a
// FIFO or a device by now.
func mapFile(path string) (*mapping, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if info.Size() <= 0 {
		return nil, io.ErrUnexpectedEOF
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return &mapping{path, data, info}, nil
}

func (m *mapping) close() { _ = unix.Munmap(m.data) }
