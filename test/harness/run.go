package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a test waits for what must come. It ends tests that would wait for ever and promises no speed: a
// machine may be busy with others, or take a processor away for seconds.
const Patience = 5 * time.Minute

// Command is a program to run. Its environment holds what Environment and Settings say and nothing else, so that
// no setting of the machine changes what it does.
type Command struct {
	Arguments []string // [0] is the program
	Settings  []string // NAME=value
	Flags     []string // of mallow record
	Directory string
	Input     string        // standard input
	Timeout   time.Duration // default Patience
}

// with returns the command with more settings.
func (c Command) with(settings ...string) Command {
	c.Settings = append(append([]string{}, c.Settings...), settings...)
	return c
}

// Environment is what every program runs with.
func Environment() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/nonexistent", "LC_ALL=C.UTF-8", "TZ=UTC"}
}

// Result is how a program ended.
type Result struct {
	Output  string
	Errors  string
	Status  int // exit status, -1 if a signal ended it
	Signal  syscall.Signal
	Elapsed time.Duration
}

// Ending is exit status or signal as a word.
func (r Result) Ending() string {
	if r.Signal != 0 {
		return fmt.Sprintf("signal %d (%v)", int(r.Signal), r.Signal)
	}
	return fmt.Sprintf("status %d", r.Status)
}

// Run runs the command in a process group of its own, which is killed at the timeout and when the program has
// ended, so that nothing stays behind. A program that cannot be started fails the test.
func Run(t testing.TB, command Command) Result {
	t.Helper()
	timeout := command.Timeout
	if timeout == 0 {
		timeout = Patience
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	process := exec.CommandContext(ctx, command.Arguments[0], command.Arguments[1:]...)
	process.Env = append(Environment(), command.Settings...)
	process.Dir = command.Directory
	process.Stdin = strings.NewReader(command.Input)
	var output, problems bytes.Buffer
	process.Stdout, process.Stderr = &output, &problems
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	process.WaitDelay = time.Minute // for what it wrote to be read, where the machine is busy
	start := time.Now()
	err := process.Run()
	if process.Process != nil {
		syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v\n%s", command.Arguments, err, problems.String())
	}
	if ctx.Err() != nil {
		t.Fatalf("%v: not ended after %v\nstdout: %.2000s\nstderr: %.2000s", command.Arguments, timeout, output.String(), problems.String())
	}
	result := Result{Output: output.String(), Errors: problems.String(), Status: process.ProcessState.ExitCode(), Elapsed: time.Since(start)}
	if status, ok := process.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		result.Signal = status.Signal()
	}
	return result
}

// Record runs the command under `mallow record` and returns how it ended and the recording's folder.
func Record(t testing.TB, command Command) (Result, string) {
	t.Helper()
	recording := recordingFolder(t)
	cli := CLI(t)
	command.Arguments = slices.Concat([]string{cli, "record", "-o", recording}, command.Flags, []string{"--"}, command.Arguments)
	return Run(t, command), recording
}

// Preload runs the command with libmallow preloaded and recording, without the CLI: what a process leaves when nobody
// looks after it.
func Preload(t testing.TB, command Command) (Result, string) {
	t.Helper()
	recording := recordingFolder(t)
	mustMakeFolder(t, recording)
	return Run(t, command.with(PreloadSettings(t, recording)...)), recording
}

// PreloadSettings are the environment variables that make a program record into `folder`.
func PreloadSettings(t testing.TB, folder string) []string {
	t.Helper()
	return []string{"LD_PRELOAD=" + Library(t), "MALLOW_OPTIONS=record=" + folder}
}

// SortedLines returns the lines of a text in order, for output whose order is not defined.
func SortedLines(text string) string {
	lines := strings.Split(text, "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
