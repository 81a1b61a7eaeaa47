package gocode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"mallow/internal/own"
)

// Toolchain is the go command that a folder's code is built with, which its
// go.mod may choose.
type Toolchain struct {
	Root    string // GOROOT
	Version string // such as "go1.26.8"
	OS      string
	Arch    string
	Flags   string // GOFLAGS
	Module  string // go.mod, or what stands for none
	Work    string // go.work, "" for none
}

// FindToolchain asks the go command about the working directory.
func FindToolchain() (*Toolchain, error) {
	out, err := goOutput("env", "-json", "GOROOT", "GOVERSION", "GOOS", "GOARCH", "GOFLAGS", "GOMOD", "GOWORK")
	if err != nil {
		return nil, err
	}
	var env struct{ GOROOT, GOVERSION, GOOS, GOARCH, GOFLAGS, GOMOD, GOWORK string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("go env says what cannot be read: %w", err)
	}
	return &Toolchain{
		Root: env.GOROOT, Version: env.GOVERSION, OS: env.GOOS, Arch: env.GOARCH,
		Flags: env.GOFLAGS, Module: env.GOMOD, Work: env.GOWORK,
	}, nil
}

// modulePath is the path of the main module, "" where there is none or several.
func (t *Toolchain) modulePath() string {
	if t.Work != "" && t.Work != "off" {
		return ""
	}
	out, err := goOutput("list", "-m")
	if err != nil {
		return ""
	}
	path := strings.TrimSpace(string(out))
	if path == "command-line-arguments" || strings.ContainsAny(path, "\n ") {
		return ""
	}
	return path
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
		return nil, &BuildError{Command: "go " + strings.Join(args, " "), Output: strings.TrimSpace(stderr.String()), err: err}
	}
	return out, nil
}

// BuildError is a go command that failed. Output is what it said, of several
// lines.
type BuildError struct {
	Command string
	Output  string
	err     error
}

func (e *BuildError) Error() string {
	if e.Output == "" {
		return fmt.Sprintf("%s: %v", e.Command, e.err)
	}
	return fmt.Sprintf("%s:\n%s", e.Command, e.Output)
}

func (e *BuildError) Unwrap() error { return e.err }

// cacheFolder is where what is made for a version of Go is kept. Its files are
// compiled into programs: nobody else may be able to write there.
func cacheFolder() (string, error) {
	folder := own.CacheFolder("go", "go")
	if folder == "" {
		return "", errors.New("there is no folder to keep files in: neither the user's cache nor /tmp will do")
	}
	return folder, nil
}
