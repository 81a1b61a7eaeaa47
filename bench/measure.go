package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// sample is one run of a workload in one mode.
type sample struct {
	cpu    time.Duration // user and system, of the whole process tree
	system time.Duration
	wall   time.Duration
	rss    int64         // bytes, of the largest process of the tree
	size   int64         // bytes on disk that the run left
	report time.Duration // wall time of `mallow report`, for explained only
}

// measurer runs workloads. Its folder is emptied between runs.
type measurer struct {
	folder  string
	library string
	cli     string
	ended   func(output string) error // if not nil, when a run has ended; output holds what it left
}

// measure runs the workload once.
func (m measurer) measure(work workload, mode mode) (sample, error) {
	output := filepath.Join(m.folder, "out")
	os.RemoveAll(output)
	if err := os.Mkdir(output, 0o755); err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(output)
	recording := filepath.Join(output, "run.mallow")
	arguments, settings := work.command, append([]string{}, work.settings...)
	switch mode {
	case library:
		settings = append(settings, "LD_PRELOAD="+m.library)
	case recorded:
		if err := os.Mkdir(recording, 0o700); err != nil {
			return sample{}, err
		}
		settings = append(settings, "LD_PRELOAD="+m.library, "MALLOW_OPTIONS=record="+recording)
	case sampled:
		if err := os.Mkdir(recording, 0o700); err != nil {
			return sample{}, err
		}
		settings = append(settings, "LD_PRELOAD="+m.library, "MALLOW_OPTIONS=record="+recording+":sample=524288")
	case explained:
		arguments = append([]string{m.cli, "record", "-o", recording, "--"}, arguments...)
	case heaptrack:
		arguments = append([]string{"heaptrack", "-o", filepath.Join(output, "heaptrack")}, arguments...)
	}
	result, err := runMeasured(arguments, settings, work)
	if err != nil {
		return sample{}, fmt.Errorf("%s under %s: %w", work.name, mode, err)
	}
	if result.size, err = allocatedBytes(output); err != nil {
		return sample{}, err
	}
	if m.ended != nil {
		if err := m.ended(output); err != nil {
			return sample{}, err
		}
	}
	if mode == explained {
		start := time.Now()
		if err := run(m.cli, "report", recording); err != nil {
			return sample{}, err
		}
		result.report = time.Since(start)
	}
	return result, nil
}

func runMeasured(arguments, settings []string, work workload) (sample, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	process := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	process.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C.UTF-8"}, settings...)
	var problems bytes.Buffer
	process.Stderr = &problems
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	if work.input != "" {
		input, err := os.Open(work.input)
		if err != nil {
			return sample{}, err
		}
		defer input.Close()
		process.Stdin = input
	}
	start := time.Now()
	if err := process.Run(); err != nil {
		return sample{}, fmt.Errorf("%w\n%s", err, problems.String())
	}
	wall := time.Since(start)
	usage := process.ProcessState.SysUsage().(*syscall.Rusage)
	return sample{
		cpu:    process.ProcessState.UserTime() + process.ProcessState.SystemTime(),
		system: process.ProcessState.SystemTime(),
		wall:   wall,
		rss:    usage.Maxrss * 1024,
	}, nil
}

// allocatedBytes is what the files below a folder take on disk.
func allocatedBytes(folder string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			sum += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return sum, err
}
