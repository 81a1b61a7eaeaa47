package gocode

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mallow/test/harness"
)

// A signal that ends mallow go test while a benchmark runs leaves nothing of
// what was built for it in the temporary folder.
func TestEndedBySignal(t *testing.T) {
	folder, temporary := t.TempDir(), t.TempDir()
	put(t, filepath.Join(folder, "go.mod"), "module example.org/slow\n\ngo 1.26\n")
	put(t, filepath.Join(folder, "slow_test.go"), `package slow

import (
	"os"
	"testing"
	"time"
)

func BenchmarkSlow(b *testing.B) {
	os.WriteFile("began", nil, 0o600)
	time.Sleep(20 * time.Second)
}
`)
	command := exec.Command(harness.CLI(t), "go", "test", "--bench", "Slow", ".")
	command.Dir, command.Env = folder, append(settings(t), "TMPDIR="+temporary)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C goes to all of a group
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		if _, err := os.Stat(filepath.Join(folder, "began")); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	syscall.Kill(-command.Process.Pid, syscall.SIGINT)
	err := command.Wait()
	var ended *exec.ExitError
	if status, _ := command.ProcessState.Sys().(syscall.WaitStatus); !errors.As(err, &ended) || status.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "mallow-go-*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
