package gocode

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Revision is a commit whose files were written into a folder.
type Revision struct {
	Commit string // hash
	Folder string // what the working directory is in the repository
}

// CheckOut writes the files of a commit of the working directory's repository
// into a folder. The repository stays as it is: there is no work tree that it
// would have to know of, and that would have to be taken back.
func CheckOut(revision, into string) (*Revision, error) {
	commit, err := git(nil, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		if _, err := git(nil, "rev-parse", "--git-dir"); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s is no commit of this repository", revision)
	}
	prefix, err := git(nil, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	top, err := git(nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(into, "index")}
	if _, err := git(index, "read-tree", commit); err != nil {
		return nil, err
	}
	tree := filepath.Join(into, "tree")
	if _, err := git(index, "-C", top, "checkout-index", "--all", "--prefix="+tree+"/"); err != nil {
		return nil, err
	}
	r := &Revision{Commit: commit, Folder: filepath.Join(tree, prefix)}
	if info, err := os.Stat(r.Folder); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s has no folder %s", revision, prefix)
	}
	return r, nil
}

// git returns what a git command prints, without the last newline.
func git(environment []string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Env = append(os.Environ(), environment...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("there is no git command in PATH")
	}
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return "", fmt.Errorf("git %s: %s", args[0], first)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
