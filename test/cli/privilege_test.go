package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mallow/test/harness"
)

const nobody = 65534

// sharedFolder returns a folder that every user may enter and write to, on a file system that honours setuid.
func sharedFolder(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make a program of another user")
	}
	folder, err := os.MkdirTemp("/tmp", "mallow-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	var system unix.Statfs_t
	if err := unix.Statfs(folder, &system); err != nil || system.Flags&unix.ST_NOSUID != 0 {
		t.Skip("/tmp is mounted nosuid: no program there gains anything")
	}
	return folder
}

// copyOf puts a copy of a program into folder.
func copyOf(t *testing.T, program, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "copy")
	harness.CopyProgram(t, program, path)
	return path
}

// recordAs records a program as a user and returns exit code and what mallow said.
func recordAs(t *testing.T, user uint32, folder string, arguments ...string) (int, string) {
	t.Helper()
	// The tree may lie in a home that others cannot enter.
	mallow := copyOf(t, harness.CLI(t), t.TempDir())
	shared := filepath.Join(folder, "mallow")
	if err := os.Rename(mallow, shared); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(shared, arguments...)
	command.Dir, command.Env = folder, harness.Environment()
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), said.String()
}

func refused(t *testing.T, user uint32, folder, program, sentence string) {
	t.Helper()
	code, said := recordAs(t, user, folder, program)
	if code != 125 || !strings.Contains(said, sentence) {
		t.Errorf("as user %d: exit code %d\n%s", user, code, said)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*.mallow")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestSetuid(t *testing.T) {
	folder := sharedFolder(t)
	program := copyOf(t, "/bin/true", folder)
	if err := os.Chmod(program, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	refused(t, nobody, folder, program, "runs as user root (setuid), so the system ignores LD_PRELOAD; run mallow as that user")
	if code, said := recordAs(t, 0, folder, program); code != 0 {
		t.Errorf("root gains nothing by a program of root, but: %d\n%s", code, said)
	}
}

func TestSetuidToLess(t *testing.T) {
	folder := sharedFolder(t)
	program := copyOf(t, "/bin/true", folder)
	if err := errors.Join(os.Chown(program, nobody, nobody), os.Chmod(program, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	refused(t, 0, folder, program, "runs as user nobody (setuid)")
}

func TestSetgid(t *testing.T) {
	folder := sharedFolder(t)
	program := copyOf(t, "/bin/true", folder)
	if err := os.Chmod(program, 0o755|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	refused(t, nobody, folder, program, "runs as group root (setgid), so the system ignores LD_PRELOAD")
}

func TestCapabilities(t *testing.T) {
	folder := sharedFolder(t)
	program := copyOf(t, "/bin/true", folder)
	if output, err := exec.Command("setcap", "cap_net_raw=ep", program).CombinedOutput(); err != nil {
		t.Fatalf("setcap (package libcap2-bin): %v\n%s", err, output)
	}
	refused(t, nobody, folder, program, "has file capabilities, so the system ignores LD_PRELOAD")
}

// A program that drops its user id starts others, which must still find the library.
func TestDroppedUser(t *testing.T) {
	folder := sharedFolder(t)
	code, said := recordAs(t, 0, folder, "-o", "x.mallow", "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/bin/sh", "-c", "id -u")
	if code != 0 || !strings.Contains(said, "65534") || strings.Contains(said, "ld.so") {
		t.Errorf("exit code %d\n%s", code, said)
	}
}

// As an ordinary user everything works the same.
func TestUnprivileged(t *testing.T) {
	folder := sharedFolder(t)
	if code, said := recordAs(t, nobody, folder, "-o", "x.mallow", "/bin/sh", "-c", "exit 6"); code != 6 || !strings.Contains(said, "wrote x.mallow") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	closed := filepath.Join(folder, "closed")
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	code, said := recordAs(t, nobody, folder, "-o", "closed/x.mallow", "/bin/true")
	if code != 125 || !strings.Contains(said, "cannot make the recording closed/x.mallow: permission denied; choose another place with -o") {
		t.Errorf("exit code %d\n%s", code, said)
	}
}
