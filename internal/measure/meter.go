package measure

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mallow/internal/launch"
)

// embedded has the meter, put there by the Makefile.
//
//go:embed all:embedded
var embedded embed.FS

// meter is the program that starts, waits and counts; nil where it is not
// built in or memory must not be executed. Commands are then started directly:
// the peak of their memory is at least that of mallow, and processes whose
// parent ended are not counted.
var meter = sync.OnceValue(func() *os.File {
	program, err := embedded.ReadFile("embedded/meter")
	if err != nil {
		return nil
	}
	fd, err := unix.MemfdCreate("meter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "meter")
	if _, err := file.Write(program); err != nil {
		file.Close()
		return nil
	}
	return file
})

// start runs the command and returns when its whole tree is gone. It calls
// started when the streams have been handed over.
func start(ctx context.Context, c launch.Command, folder string, streams []*os.File, started func()) (Run, error) {
	if ctx.Err() != nil {
		return Run{}, ctx.Err()
	}
	program := meter()
	if program == nil {
		return startDirectly(ctx, c, folder, streams, started)
	}
	report, reportEnd, err := os.Pipe()
	if err != nil {
		return Run{}, err
	}
	defer report.Close()
	leashEnd, leash, err := os.Pipe()
	if err != nil {
		reportEnd.Close()
		return Run{}, err
	}
	defer leash.Close()
	process := exec.Cmd{
		Path: "/proc/self/fd/5", Args: append([]string{"meter", c.Path}, c.Argv...), Env: c.Env, Dir: folder,
		Stdin: streams[0], Stdout: streams[1], Stderr: streams[2],
		ExtraFiles: []*os.File{reportEnd, leashEnd, program},
	}
	err = process.Start()
	reportEnd.Close()
	leashEnd.Close()
	if errors.Is(err, syscall.EACCES) {
		return startDirectly(ctx, c, folder, streams, started)
	}
	if err != nil {
		return Run{}, err
	}
	started()
	defer context.AfterFunc(ctx, func() { leash.Close() })()
	line, err := io.ReadAll(report)
	if err := errors.Join(err, ignoreExit(process.Wait())); err != nil {
		return Run{}, err
	}
	return parse(string(line))
}

// ignoreExit leaves the status of the meter, whose report says more.
func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

func parse(line string) (Run, error) {
	var errno int
	if _, err := fmt.Sscanf(line, "failed %d", &errno); err == nil {
		return Run{}, fmt.Errorf("cannot be executed: %w", syscall.Errno(errno))
	}
	var user, system, wall int64
	var peak uint64
	var status uint32
	var run Run
	_, err := fmt.Sscan(strings.TrimPrefix(line, "ended "), &user, &system, &wall, &peak, &run.MinorFaults, &run.MajorFaults, &status, &run.Left, &run.PID)
	if err != nil {
		return Run{}, fmt.Errorf("what it took was not reported: %q", line)
	}
	run.User, run.Sys = time.Duration(user)*time.Microsecond, time.Duration(system)*time.Microsecond
	run.Wall, run.CPU = time.Duration(wall)*time.Microsecond, run.User+run.Sys
	run.PeakRSS = peak * 1024
	run.ended(syscall.WaitStatus(status))
	return run, nil
}

func (r *Run) ended(status syscall.WaitStatus) {
	if status.Signaled() {
		r.Signal = status.Signal()
	} else {
		r.Exit = status.ExitStatus()
	}
}

// startDirectly is for where there is no meter.
func startDirectly(ctx context.Context, c launch.Command, folder string, streams []*os.File, started func()) (Run, error) {
	process := exec.CommandContext(ctx, c.Path)
	process.Args, process.Env, process.Dir = c.Argv, c.Env, folder
	process.Stdin, process.Stdout, process.Stderr = streams[0], streams[1], streams[2]
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	killAll := func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	process.Cancel = killAll
	begin := time.Now()
	if err := process.Start(); err != nil {
		return Run{}, err
	}
	started()
	err := ignoreExit(process.Wait())
	run := Run{Wall: time.Since(begin), PID: process.Process.Pid}
	if killAll() == nil {
		run.Left = 1
	}
	if err != nil {
		return Run{}, err
	}
	usage, ok := process.ProcessState.SysUsage().(*syscall.Rusage)
	status, known := process.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !known {
		return Run{}, errors.New("the system does not say what it took")
	}
	run.User, run.Sys = time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
	run.CPU = run.User + run.Sys
	run.PeakRSS = uint64(usage.Maxrss) * 1024
	run.MinorFaults, run.MajorFaults = uint64(usage.Minflt), uint64(usage.Majflt)
	run.ended(status)
	return run, nil
}
