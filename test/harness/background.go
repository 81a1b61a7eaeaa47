package harness

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Background is a program that runs while the test goes on.
type Background struct {
	Process *exec.Cmd
	errors  bytes.Buffer
	ended   chan struct{}
}

// Start starts the command in a process group of its own, which is killed when the test ends.
func Start(t testing.TB, command Command) *Background {
	t.Helper()
	return start(t, command, func(*exec.Cmd) {})
}

// start lets prepare change the process before it starts.
func start(t testing.TB, command Command, prepare func(*exec.Cmd)) *Background {
	t.Helper()
	background := &Background{Process: exec.Command(command.Arguments[0], command.Arguments[1:]...), ended: make(chan struct{})}
	process := background.Process
	process.Env = append(Environment(), command.Settings...)
	process.Dir = command.Directory
	process.Stderr = &background.errors
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	prepare(process)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		process.Wait()
		close(background.ended)
	}()
	t.Cleanup(func() {
		syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
		<-background.ended
	})
	return background
}

// Stop sends the signal and waits until the program has ended; returns its exit status.
func (b *Background) Stop(t testing.TB, signal syscall.Signal) int {
	t.Helper()
	b.Process.Process.Signal(signal)
	b.Wait(t)
	return b.Process.ProcessState.ExitCode()
}

// Errors returns what the program wrote to standard error; call it when the program has ended.
func (b *Background) Errors() string { return b.errors.String() }

// Ended tells whether the program has ended.
func (b *Background) Ended() bool {
	select {
	case <-b.ended:
		return true
	default:
		return false
	}
}

// Wait waits until the program has ended.
func (b *Background) Wait(t testing.TB) {
	t.Helper()
	select {
	case <-b.ended:
	case <-time.After(Patience):
		t.Fatalf("%v does not end", b.Process.Args)
	}
}

// RecordDaemon records programs/background, which leaves a daemon behind, and
// reads the report when that has ended too.
func RecordDaemon(t testing.TB) Report {
	t.Helper()
	recording := filepath.Join(TempDir(t), "run.mallow")
	done, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer done.Close()
	process := exec.Command(CLI(t), "record", "-o", recording, "--", Program(t, "programs/background"))
	process.Env = Environment()
	process.ExtraFiles = []*os.File{held}
	if err := process.Run(); err != nil {
		t.Fatal(err)
	}
	held.Close()
	done.SetReadDeadline(time.Now().Add(Patience))
	if _, err := done.Read(make([]byte, 1)); os.IsTimeout(err) {
		t.Fatal("the daemon does not end")
	}
	return ReadReport(t, recording)
}
