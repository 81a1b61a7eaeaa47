package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// launcher runs programs through launch/launch.c, in whose small process the peak resident set of the runner itself is
// not inherited by what is measured.
type launcher struct {
	program string
	folder  string // for what the programs print
	timeout time.Duration
}

// usage is what a program took.
type usage struct {
	user, sys, wall          float64 // seconds
	rss                      float64 // bytes at the peak, of the largest process
	minorFaults, majorFaults int
}

// buildLauncher compiles it into folder.
func buildLauncher(folder string, timeout time.Duration) (launcher, error) {
	l := launcher{program: filepath.Join(folder, "launch"), folder: folder, timeout: timeout}
	return l, run("gcc", "-O2", "-static", "-o", l.program, filepath.Join("bench", "launch", "launch.c"))
}

// run runs the command with this environment and standard input (none when empty) and hands what it printed to `read`.
func (l launcher) run(command, environment []string, input string, read func(io.Reader) error) (usage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
	defer cancel()
	process := exec.CommandContext(ctx, l.program, command...)
	process.Env = environment
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	printed, err := os.Create(filepath.Join(l.folder, "stdout"))
	if err != nil {
		return usage{}, err
	}
	defer printed.Close()
	problems, err := os.Create(filepath.Join(l.folder, "stderr"))
	if err != nil {
		return usage{}, err
	}
	defer problems.Close()
	process.Stdout, process.Stderr = printed, problems
	if input != "" {
		file, err := os.Open(input)
		if err != nil {
			return usage{}, err
		}
		defer file.Close()
		process.Stdin = file
	}
	line, err := runReporting(process)
	if err == nil {
		var taken usage
		if taken, err = parseUsage(line); err == nil {
			if _, err := printed.Seek(0, io.SeekStart); err != nil {
				return usage{}, err
			}
			return taken, read(printed)
		}
	}
	if ctx.Err() != nil {
		return usage{}, fmt.Errorf("no end after %v", l.timeout)
	}
	return usage{}, fmt.Errorf("%w\n%s", err, beginning(problems.Name()))
}

// runReporting runs a process and returns what it wrote to its descriptor 3.
func runReporting(process *exec.Cmd) (string, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer reader.Close()
	process.ExtraFiles = []*os.File{writer}
	err = process.Start()
	writer.Close()
	if err != nil {
		return "", err
	}
	report, readError := io.ReadAll(reader)
	return string(report), errors.Join(process.Wait(), readError)
}

func parseUsage(line string) (usage, error) {
	var user, sys, wall, rss float64
	var status int
	var result usage
	if _, err := fmt.Sscan(line, &user, &sys, &wall, &rss, &result.minorFaults, &result.majorFaults, &status); err != nil {
		return usage{}, fmt.Errorf("the launcher reported %q: %w", line, err)
	}
	if status != 0 {
		return usage{}, fmt.Errorf("exit status %d", status)
	}
	result.user, result.sys, result.wall, result.rss = user/1e6, sys/1e6, wall/1e6, rss*1024
	return result, nil
}

// beginning returns the first lines of a file, for a message.
func beginning(path string) string {
	content, _ := os.ReadFile(path)
	return string(bytes.TrimSpace(content[:min(len(content), 2000)]))
}
