package gocode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mallow/internal/git"
	"mallow/internal/launch"
)

// Message says what a step of the ladder does, as that of a commit.
type Message struct{ Subject, Body string }

// author stands in patches, which have nobody else's name.
const author = "mallow <mallow@localhost>"

// WritePatchFiles writes each step into a file of a new folder, in the form
// that git am takes.
func (f *Fixed) WritePatchFiles(folder string, messages []Message) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	for i, m := range messages {
		var out bytes.Buffer
		fmt.Fprintf(&out, "From %040d Mon Sep 17 00:00:00 2001\nFrom: %s\nSubject: [PATCH %d/%d] %s\n\n%s\n---\n%s-- \nmallow\n",
			0, author, i+1, len(messages), m.Subject, m.Body, f.Ladder[i+1].Patch)
		name := fmt.Sprintf("%04d-%s.patch", i+1, fileName(m.Subject))
		if err := os.WriteFile(filepath.Join(folder, name), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fileName is a subject as the name of a file.
func fileName(subject string) string {
	words := strings.FieldsFunc(subject, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	name := strings.Join(words, "-")
	return name[:min(len(name), 50)]
}

// NewBranch tells what stands against a new branch of the git repository around
// a folder.
func NewBranch(folder, branch string) error {
	if _, err := inRepository(folder, nil, "rev-parse", "--verify", "HEAD"); err != nil {
		return fmt.Errorf("%s: no git repository with a commit, so that there is none to add to", folder)
	}
	if _, err := inRepository(folder, nil, "check-ref-format", "refs/heads/"+branch); err != nil || strings.HasPrefix(branch, "-") {
		return fmt.Errorf("%s is no name for a branch", branch)
	}
	if _, err := inRepository(folder, nil, "rev-parse", "--verify", "refs/heads/"+branch); err == nil {
		return fmt.Errorf("there is a branch %s already", branch)
	}
	return nil
}

// Commit makes a new branch on top of the last commit, with a commit for each
// step. The working tree and the index stay as they are.
func (f *Fixed) Commit(branch string, messages []Message) error {
	scrap, err := launch.Scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(scrap)
	repository := func(input []byte, args ...string) (string, error) { return inRepository(f.Root, input, args...) }
	inIndex := func(args ...string) (string, error) { return withIndex(filepath.Join(scrap, "index"), f.Root, args...) }
	head, err := repository(nil, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	parent := head
	if _, err := inIndex("read-tree", parent); err != nil {
		return err
	}
	for i, m := range messages {
		step := &f.Ladder[i+1]
		name, err := f.inside(step.File)
		if err != nil {
			return err
		}
		mode, err := f.committed(head, name, step.File)
		if err != nil {
			return err
		}
		blob, err := repository(step.Source, "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return err
		}
		if _, err := inIndex("update-index", "--cacheinfo", mode+","+blob+","+name); err != nil {
			return err
		}
		tree, err := inIndex("write-tree")
		if err != nil {
			return err
		}
		if parent, err = repository([]byte(m.Subject+"\n\n"+m.Body+"\n"), "commit-tree", tree, "-p", parent, "-F", "-"); err != nil {
			return err
		}
	}
	_, err = repository(nil, "update-ref", "refs/heads/"+branch, parent, strings.Repeat("0", len(parent)))
	return err
}

// inside is a file's path in the repository.
func (f *Fixed) inside(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(f.Root)
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(root, resolved)
	if err != nil || !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is not in the git repository %s", path, f.Root)
	}
	return filepath.ToSlash(name), nil
}

// committed returns the mode of a file in a commit that has it as it was when
// the fixes began.
func (f *Fixed) committed(commit, name, path string) (mode string, err error) {
	entry, err := inRepository(f.Root, nil, "ls-tree", commit, "--", name)
	if err != nil {
		return "", err
	}
	mode, rest, ok := strings.Cut(entry, " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 2 {
		return "", fmt.Errorf("%s is not in the last commit", path)
	}
	was, err := inRepository(f.Root, f.Original[path], "hash-object", "--no-filters", "--stdin")
	if err != nil {
		return "", err
	}
	if was != fields[1] {
		return "", fmt.Errorf("%s differs from the last commit: commit it first", path)
	}
	return mode, nil
}

// inRepository runs git in a folder with an input.
func inRepository(folder string, input []byte, args ...string) (string, error) {
	c := git.Command(context.Background(), folder, args...)
	if input != nil {
		c.Stdin = bytes.NewReader(input)
	}
	return git.Output(c)
}
