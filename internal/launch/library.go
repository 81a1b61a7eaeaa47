package launch

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// Library returns the absolute path of a libmallow.so that every process may
// preload: the one that MALLOW_LIB names, else the one inside this executable,
// else the one beside it. The path has no blank and no colon, which separate
// names in LD_PRELOAD, and only its owner can change the file.
func Library() (string, error) {
	if path := os.Getenv("MALLOW_LIB"); path != "" {
		return preloadable(path, "MALLOW_LIB names")
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

// unpack brings content into a file that is named by its hash, unless it is
// there already.
func unpack(content []byte) (string, error) {
	name := fmt.Sprintf("mallow-%d-%x", os.Geteuid(), sha256.Sum256(content))[:32]
	var failures []error
	for _, place := range libraryPlaces {
		path, err := unpackBelow(place, name, content)
		if err == nil {
			return path, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", place, err))
	}
	return "", fmt.Errorf("libmallow.so cannot be unpacked (MALLOW_LIB can name a copy): %w", errors.Join(failures...))
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

// fill puts the library into folder at once: nobody loads half of it.
func fill(folder string, content []byte) error {
	file, err := os.CreateTemp(folder, libraryName+".")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(content)
	// The creation mask may have taken bits away.
	err = errors.Join(err, file.Chmod(fileMode), file.Close())
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(file.Name(), filepath.Join(folder, libraryName)), os.Chmod(folder, folderMode.Perm()))
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

// isOurs holds when folder and the library in it belong to us, nobody else
// can write to them and everybody can read them, and the content is right.
func isOurs(folder string, content []byte) bool {
	path := filepath.Join(folder, libraryName)
	if !isOwned(folder, folderMode) || !isOwned(path, fileMode) {
		return false
	}
	found, err := os.ReadFile(path)
	return err == nil && bytes.Equal(found, content)
}

func isOwned(path string, mode os.FileMode) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != mode {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Geteuid()
}
