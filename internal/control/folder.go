package control

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"mallow/internal/launch"
	"mallow/internal/recording"
)

// Folder returns a folder of this user for control files, made if it is not
// there. What processes that were killed have left in it goes.
func Folder() (string, error) {
	parent := os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(parent) || owned(parent) != nil {
		parent = os.TempDir()
	}
	folder := filepath.Join(parent, fmt.Sprintf("mallow-control-%d", os.Geteuid()))
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if err := owned(folder); err != nil {
		return "", err
	}
	launch.WriteInPlace(folder)
	sweep(folder)
	return folder, nil
}

// Given returns the path of a folder for control files that the user has
// chosen, which may be one of a group's or of root's that only is not written to
// by others.
func Given(name string) (string, error) {
	folder, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return "", fmt.Errorf("%q cannot hold control files: %w", name, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%q cannot hold control files: %w", name, syscall.ENOTDIR)
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if ownedByOthers := !ok || int(status.Uid) != os.Geteuid() && status.Uid != 0; ownedByOthers || info.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("%q cannot hold control files: others can write to it, and could decide what the program does; choose a folder of your own (chmod go-w)", name)
	}
	if err := unix.Access(folder, unix.W_OK|unix.X_OK); err != nil {
		return "", fmt.Errorf("%q cannot hold control files: %w", name, err)
	}
	return folder, nil
}

// owned refuses what others could put files into: those would decide what our
// programs do.
func owned(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(status.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%q is no folder of this user alone", folder)
	}
	return nil
}

func sweep(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		numbers, ok := strings.CutPrefix(entry.Name(), "control-")
		if !ok {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		pid, _, _ := strings.Cut(numbers, "-")
		if _, err := os.Stat(filepath.Join("/proc", pid)); err != nil && !recording.InUse(path) {
			os.Remove(path)
		}
	}
}
