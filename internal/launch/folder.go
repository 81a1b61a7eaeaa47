package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const extension = ".mallow"

// MakeFolder makes the folder of a new recording, for its owner alone. With
// an empty name it is PROG.PID.mallow in the working directory. A folder that
// is there already is never written to.
func MakeFolder(name string, c Command, pid int) (string, error) {
	if name != "" {
		if trimmed := strings.TrimRight(name, "/"); trimmed != "" {
			name = trimmed // or it is the root
		}
		return name, refusal(name, makeFolder(name))
	}
	base := fmt.Sprintf("%s.%d", filepath.Base(c.Name), pid)
	name = base + extension
	err := makeFolder(name)
	// Process ids come again, and old recordings stay.
	for n := 2; errors.Is(err, os.ErrExist) && n < 1000; n++ {
		name = fmt.Sprintf("%s.%d%s", base, n, extension)
		err = makeFolder(name)
	}
	return name, refusal(name, err)
}

func makeFolder(name string) error {
	if err := os.Mkdir(name, 0o700); err != nil {
		return err
	}
	if underQuota(name) {
		RemoveFolder(name)
		return &os.PathError{Op: "mkdir", Path: name, Err: errQuota}
	}
	WriteInPlace(name)
	return os.Chmod(name, 0o700)
}

// WriteInPlace asks for new files of the folder to be written where they are.
// Btrfs finds a new place for each page that is written once more, and where
// there is none any more it kills the program that has mapped the file. Other
// file systems have no such flag, and no need of it.
func WriteInPlace(folder string) {
	const flagNoCopyOnWrite = 0x00800000 // FS_NOCOW_FL
	file, err := os.Open(folder)
	if err != nil {
		return
	}
	defer file.Close()
	if flags, err := unix.IoctlGetUint32(int(file.Fd()), unix.FS_IOC_GETFLAGS); err == nil {
		unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, int(flags|flagNoCopyOnWrite))
	}
}

// RemoveFolder removes the empty folder of a recording that has not begun, and
// no file that somebody has put in its place.
func RemoveFolder(name string) error { return syscall.Rmdir(name) }

func refusal(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrExist):
		err = fmt.Errorf("%s is there already; remove it, or choose another name with -o", Quote(name))
	default:
		err = fmt.Errorf("cannot make the recording %s: %w; choose another place with -o", Quote(name), errors.Unwrap(err))
	}
	return &Error{StatusCannotRecord, err}
}

// FolderNow is the path of a folder that is held open and may have been moved,
// or removed: then it is the one that it had last.
func FolderNow(folder string, hold *os.File) string {
	if same(folder, hold) {
		return folder
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", hold.Fd()))
	if err != nil {
		return folder
	}
	return strings.TrimSuffix(path, " (deleted)")
}

func same(folder string, hold *os.File) bool {
	there, err := os.Stat(folder)
	if err != nil {
		return false
	}
	held, err := hold.Stat()
	return err == nil && os.SameFile(there, held)
}
