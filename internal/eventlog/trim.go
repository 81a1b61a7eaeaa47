package eventlog

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Trim cuts a log to what is in use of it and gives the unused ends of its
// blocks back. The process that wrote it must have ended. What it holds reads
// the same.
func Trim(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h, err := readHeader(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if h.flags&flagTrimmed != 0 {
		return nil
	}
	end := int64(headerBytes)
	for number := int64(1); number < h.blocks; number++ {
		b, ok := h.readBlock(f, number)
		if !ok {
			continue
		}
		start := number * h.blockBytes
		end = start + int64(b.used)
		const page = 4096
		if unused := (end + page - 1) / page * page; unused < start+h.blockBytes {
			// A file system without holes keeps them.
			unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, unused, start+h.blockBytes-unused)
		}
	}
	if err := f.Truncate(end); err != nil {
		return fmt.Errorf("trimming %s: %w", filepath.Base(path), err)
	}
	var flags [4]byte
	if _, err := io.ReadFull(io.NewSectionReader(f, 20, 4), flags[:]); err != nil {
		return err
	}
	le.PutUint32(flags[:], le.Uint32(flags[:])|flagTrimmed)
	_, err = f.WriteAt(flags[:], 20)
	return err
}
