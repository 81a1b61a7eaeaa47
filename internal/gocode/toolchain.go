package gocode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/own"
)

// Toolchain is the go command that a folder's code is built with, which its
// go.mod may choose.
type Toolchain struct {
	Root       string // GOROOT
	Version    string // such as "go1.26.8"
	Experiment string // GOEXPERIMENT
	OS         string
	Arch       string
	Flags      string // GOFLAGS
	Module     string // go.mod, or what stands for none
	Work       string // go.work, "" for none
	modules    string // GOMODCACHE
	linked     bool   // Root is not where the go command itself finds its root
}

// FindToolchain asks the go command about the working directory.
func FindToolchain() (*Toolchain, error) {
	out, err := goOutput("env", "-json", "GOROOT", "GOVERSION", "GOEXPERIMENT", "GOOS", "GOARCH", "GOFLAGS", "GOMOD", "GOWORK", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	var env struct{ GOROOT, GOVERSION, GOEXPERIMENT, GOOS, GOARCH, GOFLAGS, GOMOD, GOWORK, GOMODCACHE string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("go env says what cannot be read: %w", err)
	}
	t := &Toolchain{
		Root: env.GOROOT, Version: env.GOVERSION, Experiment: env.GOEXPERIMENT, OS: env.GOOS, Arch: env.GOARCH,
		Flags: env.GOFLAGS, Module: env.GOMOD, Work: env.GOWORK, modules: env.GOMODCACHE,
	}
	if inside(t.Root, t.modules) {
		err = t.link()
	}
	return t, err
}

// link gives a toolchain that the go command fetched a second path: files
// beneath the module cache may not be replaced.
func (t *Toolchain) link() error {
	base, err := cacheFolder()
	if err != nil {
		return err
	}
	path := filepath.Join(base, "roots", t.Version)
	if to, err := os.Readlink(path); err == nil && to == t.Root {
		t.Root, t.linked = path, true
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	os.Remove(fresh) // of another process of this number, long ago
	if err := os.Symlink(t.Root, fresh); err != nil {
		return err
	}
	t.Root, t.linked = path, true
	return os.Rename(fresh, path)
}

// command is one of this toolchain's go command.
func (t *Toolchain) command(args ...string) *exec.Cmd {
	if !t.linked {
		return exec.Command("go", args...)
	}
	c := exec.Command(filepath.Join(t.Root, "bin", "go"), args...)
	c.Env = append(os.Environ(), "GOROOT="+t.Root, "GOTOOLCHAIN=local")
	return c
}

// inside tells whether a path is in a folder, at any depth.
func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return folder != "" && err == nil && filepath.IsLocal(rel)
}

// ownModules are the paths of the module that is measured, or of those of the
// workspace; none where files stand outside of any.
func ownModules() []string {
	out, err := goOutput("list", "-m")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(path string) bool { return path == "command-line-arguments" })
}

// goOutput returns what a go command writes to its standard output.
func goOutput(args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("there is no go command in PATH")
	}
	if err != nil {
		return nil, &CommandError{What: "go " + args[0], Output: strings.TrimSpace(stderr.String()), err: err}
	}
	return out, nil
}

// CommandError is a go command, or a program that one built, that failed. What
// is a sentence about it, Output what it said, of several lines.
type CommandError struct {
	What   string
	Output string
	err    error
}

// mostOutput lines of a command are told, the first ones.
const mostOutput = 40

func (e *CommandError) Error() string {
	said := strings.TrimPrefix(e.Output, "go: ")
	lines := strings.Split(said, "\n")
	switch {
	case said == "":
		return fmt.Sprintf("%s: %v", e.What, e.err)
	case len(lines) == 1 && strings.Contains(said, "requires go >= ") && strings.HasSuffix(said, "GOTOOLCHAIN=local)"):
		return e.What + ": " + said + ": GOTOOLCHAIN=auto lets the go command fetch that version"
	case len(lines) == 1:
		return e.What + ": " + said
	case len(lines) > mostOutput:
		lines = append(lines[:mostOutput], fmt.Sprintf("and %d lines more", len(lines)-mostOutput))
	}
	return e.What + ":\n" + strings.Join(lines, "\n")
}

func (e *CommandError) Unwrap() error { return e.err }

// cacheFolder is where what is made for a version of Go is kept. Its files are
// compiled into programs: nobody else may be able to write there.
func cacheFolder() (string, error) {
	folder := own.CacheFolder("go", "go")
	if folder == "" {
		return "", errors.New("there is no folder to keep files in: neither the user's cache nor /tmp will do")
	}
	return folder, nil
}
