package launch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	libraryName = "libmallow.so"

	fileMode   = os.FileMode(0o755)
	folderMode = os.ModeDir | 0o755
)

// libraryPlaces are the folders below which libmallow.so is unpacked, the
// first usable one. A program may drop its user id and start another, so a
// home folder, which others may not enter, is none of them.
var libraryPlaces = []string{"/tmp", "/var/tmp", "/dev/shm"}

// ld.so replaces $PLATFORM in LD_PRELOAD by the name of the machine. So each
// kind of child is given what it can load: 64-bit ones libmallow, 32-bit ones
// an empty library, and those of another libc, which take $PLATFORM for the
// name of a folder that is not there, nothing. Without this, 32-bit children
// complain on stderr and musl's die.
const platformToken = "$PLATFORM"

// platforms64 are the names that glibc gives to x86-64 machines.
var platforms64 = []string{"x86_64", "haswell", "xeon_phi"}

const platform32 = "i686"

// Preloaded returns what to put into LD_PRELOAD for the library that Library
// returned.
func Preloaded(library string) string {
	folder := filepath.Dir(library)
	if _, err := os.Lstat(filepath.Join(folder, platforms64[0])); err != nil || !kernelNamesPlatform() {
		return library
	}
	return filepath.Join(folder, platformToken, libraryName)
}

// kernelNamesPlatform tells whether ld.so will know the machine's name: the
// kernel passes it to every program, but some that stand in for it do not.
func kernelNamesPlatform() bool {
	const platformTag = 15 // AT_PLATFORM
	auxiliary, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return false
	}
	for ; len(auxiliary) >= 16; auxiliary = auxiliary[16:] {
		if binary.NativeEndian.Uint64(auxiliary) == platformTag {
			return binary.NativeEndian.Uint64(auxiliary[8:]) != 0
		}
	}
	return false
}

// Library returns the absolute path of a libmallow.so that every process may
// preload: the one that MALLOW_LIB names, else the one inside this executable,
// else the one beside it. The path has no blank and no colon, which separate
// names in LD_PRELOAD, and only its owner can change the file.
func Library() (string, error) {
	if path := os.Getenv("MALLOW_LIB"); path != "" {
		loadable, err := preloadable(path, "MALLOW_LIB names")
		if err == nil && !isLibmallow(loadable) {
			return "", fmt.Errorf("MALLOW_LIB names %s, which is no libmallow.so", Quote(path))
		}
		return loadable, err
	}
	if len(embedded) > 0 {
		return unpack(embedded)
	}
	executable, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(executable), libraryName)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("this mallow was built without libmallow.so, and there is none at %s: run make", Quote(path))
	}
	return preloadable(path, "beside this mallow is")
}

// isLibmallow tells whether the file is a library that ld.so will load and that has our names: it only warns of one that
// it cannot load, and then runs the program without.
func isLibmallow(path string) bool {
	file, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	return err == nil && file.Class == elf.ELFCLASS64 && slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return s.Name == "mallow_version" && s.Section != elf.SHN_UNDEF
	})
}

// preloadable returns path made absolute, or that of a copy where ld.so could
// not take it from LD_PRELOAD.
func preloadable(path, whose string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", whose, Quote(path), errors.Unwrap(err))
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(absolute, " :\t\n$") {
		return unpack(content)
	}
	return absolute, nil
}

// unpack brings content into a file that is named by what it is, unless it is
// there already.
func unpack(content []byte) (string, error) {
	name := fmt.Sprintf("mallow-%d-%x", os.Geteuid(), sha256.Sum256(identity(content)))[:32]
	var failures []string
	for _, place := range libraryPlaces {
		path, err := unpackBelow(place, name, content)
		if err == nil {
			return path, nil
		}
		var ofFile *fs.PathError
		if errors.As(err, &ofFile) {
			err = ofFile.Err // of which file does not matter
		}
		failures = append(failures, fmt.Sprintf("%s: %v", place, err))
	}
	return "", fmt.Errorf("libmallow.so cannot be unpacked (MALLOW_LIB can name a copy): %s", strings.Join(failures, "; "))
}

// identity returns what tells content from that of other builds: the build ID
// of a library, with its size, else all of it. Every command that records
// unpacks, and the hash of 5 MB takes 3 ms.
func identity(content []byte) []byte {
	const gnuBuildID = ".note.gnu.build-id"
	file, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return content
	}
	section := file.Section(gnuBuildID)
	if section == nil {
		return content
	}
	note, err := section.Data()
	if err != nil || len(note) == 0 {
		return content
	}
	return binary.LittleEndian.AppendUint64(note, uint64(len(content)))
}

func unpackBelow(place, name string, content []byte) (string, error) {
	if err := canHoldPrograms(place); err != nil {
		return "", err
	}
	folder := filepath.Join(place, name)
	if isOurs(folder, content) {
		return filepath.Join(folder, libraryName), nil
	}
	if isOwned(folder, folderMode) {
		// A cleaner of old files was here.
		return filepath.Join(folder, libraryName), fill(folder, content)
	}
	fresh, err := os.MkdirTemp(place, name+"-")
	if err != nil {
		return "", err
	}
	if err := fill(fresh, content); err != nil {
		os.RemoveAll(fresh)
		return "", err
	}
	if os.Rename(fresh, folder) == nil {
		return filepath.Join(folder, libraryName), nil
	}
	// Somebody else was quicker: another mallow, whose copy is as good, or
	// somebody who must not choose what we load.
	if isOurs(folder, content) {
		os.RemoveAll(fresh)
		return filepath.Join(folder, libraryName), nil
	}
	return filepath.Join(fresh, libraryName), nil
}

// fill puts the library and what stands beside it into folder, each at once:
// nobody loads half of it.
func fill(folder string, content []byte) error {
	failures := []error{
		putFile(filepath.Join(folder, libraryName), content),
		os.MkdirAll(filepath.Join(folder, platform32), 0o755),
		os.Chmod(filepath.Join(folder, platform32), folderMode.Perm()),
		putFile(filepath.Join(folder, platform32, libraryName), emptyLibrary()),
	}
	for _, platform := range platforms64 {
		if err := os.Symlink(".", filepath.Join(folder, platform)); !errors.Is(err, os.ErrExist) {
			failures = append(failures, err)
		}
	}
	return cmp.Or(append(failures, os.Chmod(folder, folderMode.Perm()))...)
}

func putFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // nothing to remove once it is renamed
	_, err = file.Write(content)
	// The creation mask may have taken bits away.
	if err = errors.Join(err, file.Chmod(fileMode), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// canHoldPrograms refuses a file system whose files ld.so may not map.
func canHoldPrograms(place string) error {
	var system unix.Statfs_t
	if err := unix.Statfs(place, &system); err != nil {
		return err
	}
	if system.Flags&unix.ST_NOEXEC != 0 {
		return errors.New("mounted noexec")
	}
	return nil
}

// isOurs holds when folder and what is in it belong to us, nobody else can
// write to them and everybody can read them, and the content is right.
func isOurs(folder string, content []byte) bool {
	if !isOwned(folder, folderMode) || !isOwned(filepath.Join(folder, platform32), folderMode) {
		return false
	}
	for _, platform := range platforms64 {
		if target, err := os.Readlink(filepath.Join(folder, platform)); err != nil || target != "." {
			return false
		}
	}
	return holds(filepath.Join(folder, libraryName), content) &&
		holds(filepath.Join(folder, platform32, libraryName), emptyLibrary())
}

func holds(path string, content []byte) bool {
	if !isOwned(path, fileMode) {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	// Piece by piece: touching fresh memory for all of it takes longer than comparing.
	for piece := make([]byte, 64<<10); len(content) > 0; {
		n, err := file.Read(piece)
		if n == 0 || err != nil || !bytes.HasPrefix(content, piece[:n]) {
			return false
		}
		content = content[n:]
	}
	n, err := file.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, io.EOF)
}

func isOwned(path string, mode os.FileMode) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != mode {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Geteuid()
}
