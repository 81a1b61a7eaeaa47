package gocode

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"mallow/internal/git"
)

const workspaceName = "go.work"

// carryWorkspace gives the tree of a commit the go.work that a folder of the
// working tree has and git does not, as most keep it out of repositories: else
// the two sides would be built with other versions of the modules beside them.
// The modules that the commit does not have yet are left out of it.
func carryWorkspace(top, tree, prefix string) error {
	for at := filepath.Clean(prefix); ; at = filepath.Dir(at) {
		file := filepath.Join(at, workspaceName)
		content, err := os.ReadFile(filepath.Join(top, file))
		if err != nil && at == "." {
			return nil
		}
		if err != nil {
			continue
		}
		tracked, err := git.Run(context.Background(), top, "ls-files", "--", file)
		if _, statErr := os.Stat(filepath.Join(tree, file)); err != nil || tracked != "" || statErr == nil {
			return err
		}
		content = presentModules(content, filepath.Join(tree, at))
		if content == nil {
			return nil
		}
		if err := os.MkdirAll(filepath.Join(tree, at), 0o700); err != nil {
			return err
		}
		if sums, err := os.ReadFile(filepath.Join(top, file+".sum")); err == nil {
			if err := os.WriteFile(filepath.Join(tree, file+".sum"), sums, 0o600); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(tree, file), content, 0o600)
	}
}

// presentModules is a go.work with those of its modules that are there, seen
// from a folder; nil for none of them. What is no go.work stays as it is, for
// the go command to say so.
func presentModules(content []byte, folder string) []byte {
	work, err := modfile.ParseWork(workspaceName, content, nil)
	if err != nil {
		return content
	}
	present := false
	for _, use := range work.Use {
		path := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
			present = true
		} else if err := work.DropUse(use.Path); err != nil {
			return content
		}
	}
	if !present {
		return nil
	}
	work.Cleanup()
	return modfile.Format(work.Syntax)
}
