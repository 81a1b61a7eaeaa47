// Package own keeps files that nobody but the user could have written: what is
// read back from them, or executed, can be trusted as far as the user can.
package own

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// NewPrefix begins the names of files that are being written; one that a kill
// left behind may be removed.
const NewPrefix = ".new-"

// Is tells whether a file or folder is the user's and nobody else can write to
// it.
func Is(info fs.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// CacheFolder returns a folder for what mallow keeps, made if need be, that we
// can write to and nobody else: below the user's cache (within is a path
// there, "" for mallow's part of it itself), and where there is none below /tmp
// with name as a part of its own name; "" where neither can be had.
func CacheFolder(within, name string) string {
	var folders []string
	if user, err := os.UserCacheDir(); err == nil && isFolder(filepath.Dir(user)) {
		folders = append(folders, filepath.Join(user, "mallow", within))
	}
	folders = append(folders, filepath.Join(os.TempDir(), fmt.Sprintf("mallow-%d-%s", os.Geteuid(), name)))
	for _, folder := range folders {
		_ = os.MkdirAll(folder, 0o700)
		info, err := os.Lstat(folder)
		if err == nil && info.IsDir() && Is(info) && unix.Access(folder, unix.W_OK) == nil {
			return folder
		}
	}
	return ""
}

// isFolder keeps root from making the home folder of those who shall have
// none.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Read reads a file that nobody else could have written, of at most so many
// bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most || !Is(info) {
		return nil, fs.ErrPermission
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

// Replace writes a file at once, in a folder of the user's own, made if need
// be: who reads at the same time sees the old one or the new one.
func Replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !Is(info) {
		return fs.ErrPermission
	}
	f, err := os.CreateTemp(dir, NewPrefix) // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
