package gocode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"mallow/internal/git"
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
	commit, err := git.Run(context.Background(), "", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		if _, err := git.Run(context.Background(), "", "rev-parse", "--git-dir"); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s is no commit of this repository", revision)
	}
	prefix, err := git.Run(context.Background(), "", "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	top, err := git.Run(context.Background(), "", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	index := filepath.Join(into, "index")
	if _, err := withIndex(index, "", "read-tree", commit); err != nil {
		return nil, err
	}
	tree, err := surrounded(top, filepath.Join(into, "tree"))
	if err != nil {
		return nil, err
	}
	if _, err := withIndex(index, top, "checkout-index", "--all", "--prefix="+tree+"/"); err != nil {
		return nil, err
	}
	if err := carryWorkspace(top, tree, prefix); err != nil {
		return nil, err
	}
	r := &Revision{Commit: commit, Folder: filepath.Join(tree, prefix)}
	if info, err := os.Stat(r.Folder); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s has no folder %s", revision, prefix)
	}
	return r, nil
}

// surrounded makes a folder that stands for another one, below a root of its own
// where it has the same path and all that lies around it, by symbolic links: a
// go.work above it, and modules beside it that a go.mod names by "../", are found
// as they are there.
func surrounded(folder, root string) (string, error) {
	stands := filepath.Join(root, folder)
	if err := os.MkdirAll(stands, 0o700); err != nil {
		return "", err
	}
	for at := folder; filepath.Dir(at) != at; at = filepath.Dir(at) {
		above := filepath.Dir(at)
		entries, err := os.ReadDir(above)
		if err != nil {
			continue // nobody can see what lies there
		}
		for _, e := range entries {
			if e.Name() == filepath.Base(at) {
				continue
			}
			if err := os.Symlink(filepath.Join(above, e.Name()), filepath.Join(root, above, e.Name())); err != nil {
				return "", err
			}
		}
	}
	return stands, nil
}

// withIndex runs git in a folder with an index of its own, which leaves that of
// the repository as it is.
func withIndex(index, folder string, args ...string) (string, error) {
	c := git.Command(context.Background(), folder, args...)
	c.Env = append(c.Env, "GIT_INDEX_FILE="+index)
	return git.Output(c)
}
