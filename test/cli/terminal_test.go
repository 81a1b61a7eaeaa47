package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mallow/test/harness"
)

// terminal is a session with a terminal of its own, in which one command runs.
type terminal struct {
	t       *testing.T
	keys    *os.File // the other side of the terminal: keys go in, the screen comes out
	command *exec.Cmd
	screen  string
	shown   chan string
}

func openTerminal(t *testing.T, arguments ...string) *terminal {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keys.Close() })
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir = t.TempDir()
	command.Env = append(harness.Environment(), "TERM=dumb", "PS1=")
	command.Stdin, command.Stdout, command.Stderr = side, side, side
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	terminal := &terminal{t: t, keys: keys, command: command, shown: make(chan string)}
	t.Cleanup(func() { syscall.Kill(-command.Process.Pid, syscall.SIGKILL) })
	go func() {
		defer close(terminal.shown)
		buffer := make([]byte, 4096)
		for {
			n, err := keys.Read(buffer)
			if n > 0 {
				terminal.shown <- string(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return terminal
}

func (s *terminal) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// await returns when the screen has shown text.
func (s *terminal) await(text string) {
	s.t.Helper()
	deadline := time.After(harness.Patience)
	for !strings.Contains(s.screen, text) {
		select {
		case more, open := <-s.shown:
			if !open {
				s.t.Fatalf("the session ended without %q:\n%s", text, s.screen)
			}
			s.screen += more
		case <-deadline:
			s.t.Fatalf("no %q came:\n%s", text, s.screen)
		}
	}
}

// A key on the terminal reaches the program once, and not mallow in its place.
func TestInterruptKey(t *testing.T) {
	for key, name := range map[string]string{"\x03": "INT", "\x1c": "QUIT"} {
		s := openTerminal(t, harness.CLI(t), "/bin/sh", "-c",
			fmt.Sprintf(`n=0; trap 'n=$((n+1))' %s; echo ready; i=0; while [ $i -lt 20 ]; do sleep 0.05; i=$((i+1)); done; echo "signals: $n."; exit 5`, name))
		s.await("ready")
		s.press(key)
		s.await("signals: 1.")
		s.await("wrote ")
		if s.command.Wait(); s.command.ProcessState.ExitCode() != 5 {
			t.Errorf("%s: mallow ended with %v", name, s.command.ProcessState)
		}
	}
}

// A program that stops is a stopped job of the shell, and goes on with it.
func TestStoppedJob(t *testing.T) {
	const script = `set -m; "$1" /bin/sh -c 'kill -TSTP $$; echo went on; exit 5'; echo "first $?."; fg >/dev/null; echo "second $?."`
	s := openTerminal(t, "/bin/bash", "-c", script, "bash", harness.CLI(t))
	s.await("first 147.")
	s.await("went on")
	s.await("second 5.")
}

func TestStopKey(t *testing.T) {
	const script = `set -m; "$1" /bin/sh -c 'echo ready; read line; echo "line: $line."; exit 5'; echo "first $?."; fg >/dev/null; echo "second $?."`
	s := openTerminal(t, "/bin/bash", "-c", script, "bash", harness.CLI(t))
	s.await("ready")
	s.press("\x1a")
	s.await("first 148.")
	s.press("typed\n")
	s.await("line: typed.")
	s.await("second 5.")
}

// top changes its figures in place, and gives the terminal back as it was.
func TestTopOnTerminal(t *testing.T) {
	const script = `stty cols 100 rows 20; before=$(stty -g); mkfifo gate
"$1" -o t.mallow /bin/sh -c 'read line <gate' 2>/dev/null & while ! "$1" top -n 1 t.mallow >/dev/null 2>&1; do sleep 0.1; done
TERM=xterm "$1" top --interval 0.1 t.mallow; echo "status $?."; test "$before" = "$(stty -g)" && echo "as before."; echo >gate; wait`
	s := openTerminal(t, "/bin/bash", "-c", script, "bash", harness.CLI(t))
	s.await("\x1b[?1049h")
	s.await("allocations/s")
	s.await("\x1b[H")
	s.press("xq")
	s.await("\x1b[?1049l")
	s.await("status 0.")
	s.await("as before.")
}
