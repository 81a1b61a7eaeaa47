package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// runner runs the commands of one stage and keeps their output in its log.
type runner struct {
	root string
	log  *os.File
	jobs int
}

func newRunner(root, log string, jobs int) (*runner, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	return &runner{root: root, log: file, jobs: jobs}, nil
}

func (r *runner) close() { r.log.Close() }

func (r *runner) jobsFlag() string { return "-j" + strconv.Itoa(r.jobs) }

// do runs a command whose failure ends the stage.
func (r *runner) do(name string, args ...string) error {
	output, err := r.output(name, args...)
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, lastLines(output, 60))
	}
	return nil
}

// output runs a command and returns what it wrote, of which the log gets a
// copy.
func (r *runner) output(name string, args ...string) (string, error) {
	var text bytes.Buffer
	both := io.MultiWriter(&text, r.log)
	fmt.Fprintf(r.log, "$ %s %s\n", name, strings.Join(args, " "))
	c := exec.Command(name, args...)
	c.Dir = r.root
	c.Env = environment()
	c.Stdout, c.Stderr = both, both
	err := c.Run()
	return text.String(), err
}

// environment is that of the caller, less what make told its children, plus
// where the tests find what was built: with it a missing part is a failure,
// not a skipped test.
func environment() []string {
	env := []string{"MALLOW_BUILD=build/release", "MALLOW_SYMBOL_CACHE=off"}
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(setting, "=")
		switch name {
		case "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MALLOW_BUILD", "MALLOW_SYMBOL_CACHE", "DEBUGINFOD_URLS", "MALLOW_OPTIONS", "MALLOW_LIB", "LD_PRELOAD":
		default:
			env = append(env, setting)
		}
	}
	return env
}
