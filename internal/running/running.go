// Package running finds what mallow's library has mapped in a process that
// runs: the files through which the two can meet.
package running

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Recording returns the folder that the process pid records into.
func Recording(pid int) (string, error) {
	files, err := mapped(pid)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "image-") {
			return visible(pid, filepath.Dir(file))
		}
	}
	return "", fmt.Errorf("process %d is not being recorded", pid)
}

// visible returns folder, a path in the eyes of the process, if it is there
// for us too.
func visible(pid int, folder string) (string, error) {
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return folder, nil
	}
	// A process may live below another root, or on other mounts.
	inside := filepath.Join("/proc", strconv.Itoa(pid), "root", folder)
	if info, err := os.Stat(inside); err == nil && info.IsDir() {
		return inside, nil
	}
	return "", fmt.Errorf("process %d uses the folder %q, which is not there any more, or not to be seen from here", pid, folder)
}

// mapped returns the files that the process has mapped, each once for every
// mapping.
func mapped(pid int) ([]string, error) {
	maps, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no process %d", pid)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("process %d belongs to somebody else: its user, or root, may look at it", pid)
	case err != nil:
		return nil, err
	}
	return paths(string(maps)), nil
}

// paths returns the names of files in the text of /proc/PID/maps.
func paths(maps string) []string {
	var found []string
	for line := range strings.Lines(maps) {
		// address permissions offset device inode path
		if at := strings.IndexByte(line, '/'); at >= 0 && len(strings.Fields(line[:at])) == 5 {
			path := strings.TrimSuffix(strings.TrimSuffix(line[at:], "\n"), " (deleted)")
			found = append(found, unescaped(path))
		}
	}
	return found
}

// unescaped gives back the line feeds that the kernel writes as \012.
func unescaped(path string) string { return strings.ReplaceAll(path, `\012`, "\n") }
