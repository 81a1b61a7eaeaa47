package recording

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// An archive is a recording in one file: a ZIP archive of what the folder
// holds, its parts stored as they are, with the names of all code addresses in
// it. format/recording.md specifies it.

const (
	symbolsName = "symbols"
	metaName    = "meta.json"
	logPrefix   = "log-"

	mostSymbolsFile = 1 << 30

	noDate = 1<<5 | 1 // 1980-01-01, the first there is
)

// part is a file of a recording: one in the folder, or a range of an archive.
type part struct {
	path         string // of the file that holds it
	offset, size int64  // size is -1 for the whole file
}

// File is a part of a recording, opened for reading.
type File struct {
	*io.SectionReader
	file *os.File
	// Whole tells that the part is a file of its own.
	Whole bool
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// openRegular opens a regular file and tells its size. It never waits: what
// lies in the folder of a recording may be a FIFO or a device.
func openRegular(path string) (f *os.File, size int64, err error) {
	f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func (p part) open() (*File, error) {
	f, size, err := openRegular(p.path)
	if err != nil {
		return nil, err
	}
	if p.size >= 0 { // of an archive less, should it have been cut meanwhile
		size = max(0, min(p.size, size-p.offset))
	}
	return &File{io.NewSectionReader(f, p.offset, size), f, p.size < 0}, nil
}

// OpenFile opens a file of the recording by its name, whether it lies in a
// folder or in an archive. The error for one that is not there is
// fs.ErrNotExist.
func (rec *Recording) OpenFile(name string) (*File, error) {
	p, ok := rec.parts[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return p.open()
}

// Archived tells whether the recording is an archive.
func (rec *Recording) Archived() bool { return rec.archived }

// Symbols returns the symbol file that the recording brings, nil without one.
func (rec *Recording) Symbols() ([]byte, error) {
	f, err := rec.OpenFile(symbolsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size() > mostSymbolsFile {
		return nil, errors.New("its symbols are too large")
	}
	b := make([]byte, f.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

// findParts lists what a recording consists of.
func findParts(path string) (parts map[string]part, archived bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, fmt.Errorf("%s: no such recording", path)
	case err != nil:
		return nil, false, err
	case info.Mode().IsRegular():
		parts, err = archiveParts(path, info.Size())
		return parts, true, err
	case !info.IsDir():
		return nil, false, fmt.Errorf("%s: no recording; a recording is a folder NAME.mallow or a file NAME.mallowpack", path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, false, err
	}
	parts = map[string]part{}
	for _, e := range entries {
		parts[e.Name()] = part{filepath.Join(path, e.Name()), 0, -1}
	}
	return parts, false, nil
}

// archiveParts finds where in an archive its parts are. Of those it takes only
// what a recording has, and only what is stored as it is.
func archiveParts(path string, size int64) (map[string]part, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: no recording; a recording is a folder NAME.mallow or a file NAME.mallowpack", path)
	}
	parts := map[string]part{}
	for _, file := range z.File {
		if !isPartName(file.Name) {
			continue
		}
		if file.Method != zip.Store || file.CompressedSize64 != file.UncompressedSize64 {
			return nil, fmt.Errorf("%s: %q is compressed in it; parts of a recording are stored as they are (zip -0)", path, file.Name)
		}
		offset, err := file.DataOffset()
		if err != nil || offset < 0 || offset > size || file.UncompressedSize64 > uint64(size-offset) {
			return nil, fmt.Errorf("%s: cut or damaged: %q is not in it", path, file.Name)
		}
		if _, twice := parts[file.Name]; twice {
			return nil, fmt.Errorf("%s: damaged: %q is in it twice", path, file.Name)
		}
		parts[file.Name] = part{path, offset, int64(file.UncompressedSize64)}
	}
	return parts, nil
}

func isPartName(name string) bool {
	return name == metaName || name == symbolsName || name == MemanalyzeLines || name == Memanalyze2017Lines ||
		(strings.HasPrefix(name, imagePrefix) || strings.HasPrefix(name, logPrefix)) && !strings.ContainsAny(name, "/\\\x00")
}

// WriteArchive writes the recording and a symbol file as an archive to path,
// which it replaces at once. The same recording and symbols give the same
// bytes. Nothing is written when it returns an error.
func (rec *Recording) WriteArchive(path string, symbols []byte) error {
	target, err := os.CreateTemp(filepath.Dir(path), ".pack-")
	if err != nil {
		return err
	}
	defer os.Remove(target.Name())
	defer target.Close()
	z := zip.NewWriter(target)
	var names []string
	for name := range rec.parts {
		if isPartName(name) && name != symbolsName {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := rec.addPart(z, name, filepath.Dir(path)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := store(z, symbolsName, strings.NewReader(string(symbols))); err != nil {
		return err
	}
	if err := errors.Join(z.Close(), target.Close()); err != nil {
		return err
	}
	return os.Rename(target.Name(), path)
}

// addPart adds a part; an image that is not packed yet, packed. scratch is a
// folder for it.
func (rec *Recording) addPart(z *zip.Writer, name, scratch string) error {
	f, err := rec.OpenFile(name)
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case strings.HasPrefix(name, logPrefix) && f.Whole:
		return store(z, name, io.NewSectionReader(f, 0, endOfData(f.file, f.Size())))
	case !strings.HasPrefix(name, imagePrefix), f.Size() == 0:
		return store(z, name, f)
	}
	header, err := readHeader(f, f.Size())
	if err != nil {
		return err
	}
	if header.Flags&FlagPacked != 0 || !f.Whole {
		return store(z, name, io.NewSectionReader(f, 0, min(f.Size(), header.end())))
	}
	if damaged(header) {
		return errors.New("damaged; the recording cannot be packed")
	}
	packed, err := os.CreateTemp(scratch, ".pack-")
	if err != nil {
		return err
	}
	defer os.Remove(packed.Name())
	defer packed.Close()
	if err := writePacked(packed, f.file, header); err != nil {
		return err
	}
	return store(z, name, packed)
}

// end returns where the last section of a file ends.
func (h *Header) end() int64 {
	end := int64(headerBytes)
	for _, s := range h.sections {
		bytes := s.bytes()
		if s.stored > 0 {
			bytes = s.stored
		}
		end = max(end, s.offset+(bytes+headerBytes-1)/headerBytes*headerBytes)
	}
	return end
}

// endOfData returns where a file ends that a process reserved wide: what comes
// after its last written page is a hole.
func endOfData(f *os.File, size int64) int64 {
	var end int64
	for end < size {
		data, err := unix.Seek(int(f.Fd()), end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return end
		}
		hole, holeErr := unix.Seek(int(f.Fd()), data, unix.SEEK_HOLE)
		if err != nil || holeErr != nil || hole <= end { // the file system knows no holes
			return size
		}
		end = hole
	}
	return min(end, size)
}

// store adds a file as it is. Its size and sum stand before it, for tools that
// read archives from the front.
func store(z *zip.Writer, name string, from io.ReadSeeker) error {
	sum := crc32.NewIEEE()
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	size, err := io.Copy(sum, from)
	if err != nil {
		return err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Store, ModifiedDate: noDate, CRC32: sum.Sum32(),
		CompressedSize64: uint64(size), UncompressedSize64: uint64(size),
	})
	if err != nil {
		return err
	}
	_, err = io.CopyN(w, from, size)
	return err
}
