package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pack replaces an image file by one that holds only the used part of each
// section, one behind the other. The process that wrote it must have ended:
// what it recorded afterwards would be lost with the old file. The old file
// stays untouched when packing fails. Packing a packed file does nothing. The
// new file belongs to whom the old one belonged, if root packs it.
func Pack(path string) error {
	source, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer source.Close()
	header, err := readHeader(source, size)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if header.Flags&FlagPacked != 0 {
		return nil
	}
	if damaged(header) {
		return fmt.Errorf("%s: damaged, left as it is", filepath.Base(path))
	}
	if err := settle(source); err != nil {
		return fmt.Errorf("%s: some of what was recorded is lost: %w", filepath.Base(path), err)
	}
	target, err := os.CreateTemp(filepath.Dir(path), ".pack-")
	if err != nil {
		return err
	}
	defer target.Close()
	GiveToOwner(target, source)
	err = writePacked(target, source, header)
	if err == nil {
		err = target.Close()
	}
	if err == nil {
		err = os.Rename(target.Name(), path)
	}
	if err != nil {
		os.Remove(target.Name())
		return fmt.Errorf("packing %s: %w", filepath.Base(path), err)
	}
	return nil
}

// GiveToOwner gives a file that root has made to the owner of another file, or
// of a folder.
func GiveToOwner(made, of *os.File) {
	if os.Geteuid() != 0 {
		return
	}
	if info, err := of.Stat(); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			made.Chown(int(owner.Uid), int(owner.Gid))
		}
	}
}

// settle waits until a file that another machine or program keeps is there:
// only then they tell that they had no room for what was written to it. Then
// the image says so, in the place where it lies.
func settle(source *os.File) error {
	var system unix.Statfs_t
	if err := unix.Fstatfs(int(source.Fd()), &system); err != nil {
		return nil
	}
	if !slices.Contains([]uint32{unix.FUSE_SUPER_MAGIC, unix.NFS_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC}, uint32(system.Type)) {
		return nil
	}
	err := source.Sync()
	if err == nil {
		return nil
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	if image, openErr := os.OpenFile(source.Name(), os.O_RDWR, 0); openErr == nil {
		defer image.Close()
		word := make([]byte, 4)
		if _, readErr := image.ReadAt(word, incompleteAt); readErr == nil {
			le.PutUint32(word, le.Uint32(word)|IncompleteDisk)
			image.WriteAt(word, incompleteAt)
		}
	}
	return err
}

// PackEnded packs the images whose processes have ended, as many at a time as
// there are processors. It returns, for each path, whether its process still
// runs, and why it was not packed.
func PackEnded(paths []string) (running []bool, failed []error) {
	running, failed = make([]bool, len(paths)), make([]error, len(paths))
	forEach(len(paths), func(i int) {
		if running[i] = InUse(paths[i]); !running[i] {
			failed[i] = Pack(paths[i])
		}
	})
	return running, failed
}

func damaged(header Header) bool {
	for _, missing := range header.missing {
		if missing > 0 {
			return true
		}
	}
	return len(header.tableWarnings) > 0
}

func writePacked(target *os.File, source *os.File, header Header) error {
	b := make([]byte, headerBytes)
	if _, err := source.ReadAt(b, 0); err != nil {
		return err
	}
	le.PutUint32(b[20:], header.Flags|FlagPacked)
	clear(b[sectionTable:])

	sections := make([]section, 0, len(header.sections))
	for _, s := range header.sections {
		if s.used > 0 {
			sections = append(sections, s)
		}
	}
	slices.SortFunc(sections, func(a, b section) int { return int(a.kind) - int(b.kind) })
	le.PutUint32(b[28:], uint32(len(sections)))
	offset := int64(headerBytes)
	for i, s := range sections {
		reserved := (s.bytes() + headerBytes - 1) / headerBytes * headerBytes
		entry := b[sectionTable+i*sectionEntry:]
		le.PutUint32(entry[0:], uint32(s.kind))
		le.PutUint32(entry[4:], uint32(s.item))
		le.PutUint64(entry[8:], uint64(offset))
		le.PutUint64(entry[16:], uint64(reserved))
		le.PutUint64(entry[24:], uint64(s.used))
		stored, err := compress(target, offset, source, s)
		if err != nil {
			return err
		}
		if stored > 0 {
			reserved = (stored + headerBytes - 1) / headerBytes * headerBytes
			le.PutUint32(b[8:], max(le.Uint32(b[8:]), majorCompressed))
			le.PutUint64(entry[16:], uint64(reserved))
			le.PutUint64(entry[32:], uint64(stored))
		} else if err := copyData(target, offset, source, s.offset, s.bytes()); err != nil {
			return err
		}
		offset += reserved
	}
	if err := target.Truncate(offset); err != nil {
		return err
	}
	_, err := target.WriteAt(b, 0)
	return err
}

// copyData copies length bytes and leaves holes where the source has holes.
func copyData(target *os.File, to int64, source *os.File, from, length int64) error {
	end := from + length
	buffer := make([]byte, min(chunkBytes, length))
	for at := from; at < end; {
		data, err := unix.Seek(int(source.Fd()), at, unix.SEEK_DATA)
		switch {
		case errors.Is(err, unix.ENXIO): // only a hole is left
			return nil
		case err != nil: // the file system knows no holes
			data = at
		}
		if at = max(at, data); at >= end {
			return nil
		}
		chunk := buffer[:min(int64(len(buffer)), end-at)]
		if _, err := io.ReadFull(io.NewSectionReader(source, at, int64(len(chunk))), chunk); err != nil {
			return err
		}
		if !allZero(chunk) {
			if _, err := target.WriteAt(chunk, to+at-from); err != nil {
				return err
			}
		}
		at += int64(len(chunk))
	}
	return nil
}

// InUse reports whether a process still has the image file mapped for writing.
// Such a file must not be packed.
func InUse(path string) bool {
	f, _, err := openRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return hasWriter(f) || isMappedByItsProcess(f)
}

// hasWriter asks the kernel for a read lease, which it refuses while anybody,
// in whatever namespace, has the file open or mapped for writing. Some file
// systems have no leases.
func hasWriter(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return errors.Is(err, unix.EAGAIN)
}

// isMappedByItsProcess looks into the maps of the process that the header
// names: into those of its threads, because that of a first one that has ended
// before the others is empty.
func isMappedByItsProcess(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	header, err := readHeader(f, info.Size())
	if err != nil {
		return false
	}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/maps", header.PID))
	for _, thread := range threads {
		if maps, err := os.ReadFile(thread); err == nil && len(maps) > 0 {
			return bytes.Contains(maps, []byte("/"+filepath.Base(f.Name())))
		}
	}
	return false
}
