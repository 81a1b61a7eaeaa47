package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// module is a benchmark of a package of a module at a version.
type module struct {
	name, version, pkg, benchmark string
}

func readModules(path string) ([]module, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []module
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0 || fields[0][0] == '#':
		case len(fields) == 4:
			all = append(all, module{fields[0], fields[1], fields[2], fields[3]})
		default:
			return nil, fmt.Errorf("%s: four words expected in %q", path, lines.Text())
		}
	}
	return all, nil
}

var notOfName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// file is the name of what is kept of it.
func (m module) file() string {
	return m.name + "-" + strings.Trim(notOfName.ReplaceAllString(m.benchmark, "-"), "-") + ".json"
}

// fetch downloads the module and copies it to where tests may write. It
// returns the folder of the copy. One of this repository stays where it is.
func (m module) fetch() (string, error) {
	if strings.HasPrefix(m.version, "./") {
		return filepath.Abs(m.version)
	}
	out, err := command("", "go", "mod", "download", "-json", m.version).Output()
	var found struct{ Dir, Error string }
	if json.Unmarshal(out, &found) != nil || found.Dir == "" {
		return "", fmt.Errorf("%s cannot be had: %s %w", m.version, found.Error, err)
	}
	folder, err := filepath.Abs(filepath.Join(trees, m.name))
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.CopyFS(folder, os.DirFS(found.Dir)); err != nil {
		return "", err
	}
	return folder, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		mode := fs.FileMode(0o644)
		if info, err := d.Info(); err == nil && (d.IsDir() || info.Mode()&0o100 != 0) {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
}

// command is one of the go command or of mallow, in a folder.
func command(folder, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = folder
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	return c
}
