package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// tree is the repository as it stands: files that git tracks or would.
type tree struct {
	root  string
	files []file
	// What could not be checked on this system, and why.
	unchecked []string
}

type file struct {
	path    string // relative to the root, with slashes
	content []byte
}

func readTree(root string) (*tree, error) {
	paths, err := listFiles(root)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root}
	for _, p := range paths {
		full := filepath.Join(root, p)
		info, err := os.Lstat(full)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // deleted but not committed, or a link
		}
		content, err := os.ReadFile(full)
		if err != nil {
			return nil, err
		}
		t.files = append(t.files, file{p, content})
	}
	return t, nil
}

// listFiles asks git, which must answer in a tree of another owner too.
func listFiles(root string) ([]string, error) {
	c := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	c.Dir = root
	output, err := c.Output()
	if err != nil {
		return nil, errors.New("git cannot list the files of this tree: " + err.Error())
	}
	var paths []string
	for p := range bytes.SplitSeq(bytes.TrimRight(output, "\x00"), []byte{0}) {
		paths = append(paths, string(p))
	}
	return paths, nil
}

// with returns the files whose names end in one of extensions.
func (t *tree) with(extensions ...string) []file {
	var found []file
	for _, f := range t.files {
		for _, extension := range extensions {
			if path.Ext(f.path) == extension {
				found = append(found, f)
			}
		}
	}
	return found
}

// isData holds for files that are input or expected output of tests, and for
// those of other projects: they are as their programs or authors make them.
func (f file) isData() bool {
	return strings.Contains("/"+f.path, "/testdata/") || strings.HasPrefix(f.path, "web/vendor/")
}

// isText holds for files without a zero byte.
func (f file) isText() bool { return bytes.IndexByte(f.content, 0) < 0 }

// lines calls each with the number, from 1, and the text of every line.
func (f file) lines(each func(number int, text string)) {
	number := 0
	for text := range bytes.Lines(f.content) {
		number++
		each(number, strings.TrimRight(string(text), "\n"))
	}
}
