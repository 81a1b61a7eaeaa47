// Package git asks git, always in the same way: nobody is asked back, no hooks
// of the user run, and what git told the hook that mallow may be run by, which
// is of one working tree, is not taken for another one.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// settings are given before every command.
var settings = []string{"-c", "safe.directory=*", "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null"}

// ErrMissing is the error where git is not installed.
var ErrMissing = errors.New("there is no git command in PATH")

// Command is a git command in a folder, "" for the working directory. Callers
// may add to its environment and give it input.
func Command(ctx context.Context, folder string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "git", slices.Concat(settings, args)...)
	c.Dir = folder
	c.Env = append(Environment(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	return c
}

// Output runs a Command and returns what it prints, without the last newline,
// also where it fails. The error has the first line of what git says.
func Output(c *exec.Cmd) (string, error) {
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.Output()
	text := strings.TrimSuffix(string(out), "\n")
	if errors.Is(err, exec.ErrNotFound) {
		return text, ErrMissing
	}
	if err != nil {
		command := c.Args[1+len(settings)]
		if said, _, _ := strings.Cut(strings.TrimSpace(problems.String()), "\n"); said != "" {
			return text, fmt.Errorf("git %s: %s", command, said)
		}
		return text, fmt.Errorf("git %s: %w", command, err)
	}
	return text, nil
}

// Run is Output of Command.
func Run(ctx context.Context, folder string, args ...string) (string, error) {
	return Output(Command(ctx, folder, args...))
}

// Environment is that of this process without what git tells its hooks.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_INTERNAL_SUPER_PREFIX", "GIT_QUARANTINE_PATH":
			return true
		}
		return false
	})
}
