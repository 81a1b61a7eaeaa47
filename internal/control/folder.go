package control

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

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
	sweep(folder)
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
