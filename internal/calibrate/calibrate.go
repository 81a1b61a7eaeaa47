// Package calibrate measures what malloc and free cost on this machine: with
// the malloc that a program would use without us, and with libmallow.
//
// It takes a quarter of a second of CPU time, once on a machine: the figures
// are kept in the user's cache folder. When it fails nothing is harmed, there
// is just no price.
package calibrate

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mallow/internal/advise/price"
	"mallow/internal/launch"
)

// embedded has the program that measures, put there by the Makefile; without
// it nothing is measured.
//
//go:embed all:embedded
var embedded embed.FS

const programName = "embedded/calibrate"

// Costs returns what allocating costs with that malloc: from the cache, else
// measured now. It returns nil where neither can be had.
func Costs(m price.Malloc) *price.Costs { return Ahead()(m) }

// Ahead returns Costs for one call, and begins to look for libmallow, which
// takes some milliseconds.
func Ahead() func(price.Malloc) *price.Costs {
	library := make(chan string, 1)
	go func() {
		path, err := launch.Library()
		if err != nil {
			path = ""
		}
		library <- path
	}()
	return func(m price.Malloc) *price.Costs { return costs(<-library, m) }
}

func costs(library string, m price.Malloc) *price.Costs {
	program, err := embedded.ReadFile(programName)
	if err != nil || library == "" {
		return nil
	}
	if !trusted(m.Library) {
		m = price.Malloc{Name: price.Glibc.Name}
	}
	kept, ok := cacheFor(program, library, m.Library)
	if !ok {
		return nil
	}
	if costs := kept.read(); costs != nil {
		costs.Malloc = m.Name
		return costs
	}
	// On a busy machine figures come out that cannot be.
	const attempts = 3
	for range attempts {
		if costs, err := measure(program, library, m); err == nil {
			kept.write(costs)
			return costs
		}
	}
	return nil
}

// trusted tells whether a library may be executed because a recording, which
// may be a stranger's, names it: only one that the system has installed.
func trusted(library string) bool {
	if library == "" {
		return true
	}
	path, err := filepath.EvalSymlinks(library)
	if err != nil || !strings.HasPrefix(path, "/usr/") || strings.ContainsAny(path, " :\t\n$") {
		return false
	}
	for ; path != "/"; path = filepath.Dir(path) {
		var status unix.Stat_t
		if unix.Lstat(path, &status) != nil || status.Uid != 0 || status.Mode&0o022 != 0 {
			return false
		}
	}
	return true
}

// patience is what one of the runs may take. They take a tenth of a second of
// CPU time; on a machine that is busy that is a while.
const patience = 10 * time.Second

func measure(program []byte, library string, m price.Malloc) (*price.Costs, error) {
	file, err := inMemory(program)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	folder, err := os.MkdirTemp("", "mallow-calibrate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)

	costs := &price.Costs{Malloc: m.Name}
	var plain []string
	if m.Library != "" {
		plain = []string{launch.Preload(nil, m.Library)}
	}
	preload := launch.Preload(nil, launch.Preloaded(library))
	for _, run := range []struct {
		table **price.Table
		env   []string
	}{
		{&costs.Plain, plain},
		{&costs.Libmallow, []string{preload}},
		{&costs.Recorded, []string{preload, launch.RecordInto(nil, folder, launch.RecordOptions{})}},
	} {
		if *run.table, err = execute(file, run.env); err != nil {
			return nil, err
		}
	}
	return costs, nil
}

// inMemory puts the program into a file that needs no place where programs
// may lie.
func inMemory(program []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(launch.PriceProgram, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	file := os.NewFile(uintptr(fd), launch.PriceProgram)
	if _, err := file.Write(program); err != nil {
		file.Close()
		return nil, fmt.Errorf("calibration: %w", err)
	}
	return file, nil
}

// attempts is how often is measured until a table is whole: on a busy machine
// a round with the calls may take no longer than one without them.
const attempts = 5

func execute(file *os.File, env []string) (table *price.Table, err error) {
	for range attempts {
		var output *bytes.Buffer
		if output, err = outputOf(file, env); err != nil {
			return nil, err
		}
		if table, err = price.Read(output); err == nil {
			return table, nil
		}
	}
	return nil, err
}

func outputOf(file *os.File, env []string) (*bytes.Buffer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	const inChild = "/proc/self/fd/3"
	command := exec.CommandContext(ctx, inChild)
	command.Env = append([]string{"LC_ALL=C"}, env...)
	command.ExtraFiles = []*os.File{file}
	command.Dir = "/"
	var output bytes.Buffer
	command.Stdout = &output
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	return &output, nil
}
