package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mallow/test/harness"
)

// observed is what a program saw and how it ended.
type observed struct {
	output string
	status syscall.WaitStatus
}

// observe runs a command in a new folder, with its standard output in a file, so that closed descriptors and
// ignored signals are as `shell` (which starts it by "$@") makes them.
func observe(t *testing.T, shell string, arguments ...string) observed {
	t.Helper()
	folder := t.TempDir()
	command := exec.Command("/bin/sh", append([]string{"-c", shell, "sh"}, arguments...)...)
	command.Dir = folder
	command.Env = append(harness.Environment(), "OUTPUT="+filepath.Join(folder, "output"))
	var errorsText bytes.Buffer
	command.Stderr = &errorsText
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	output, err := os.ReadFile(filepath.Join(folder, "output"))
	if err != nil {
		t.Fatalf("%v\n%s", err, &errorsText)
	}
	return observed{string(output), command.ProcessState.Sys().(syscall.WaitStatus)}
}

// starters are the ways in which mallow starts a program, given its own path.
func starters(t *testing.T) map[string][]string {
	command := harness.CLI(t)
	return map[string][]string{"record": {command}, "run": {command, "run", "--"}}
}

// sameAsAlone checks that a program prints to $OUTPUT the same under mallow as alone.
func sameAsAlone(t *testing.T, shell string, program ...string) {
	t.Helper()
	alone := observe(t, shell, program...)
	if alone.output == "" {
		t.Fatal("the program printed nothing")
	}
	for verb, starter := range starters(t) {
		if under := observe(t, shell, append(starter, program...)...); under != alone {
			t.Errorf("%s, %s: %v, not %v as alone", verb, shell, under, alone)
		}
	}
}

// descriptors prints to $OUTPUT which descriptors are open and which numbers the next ones get.
const descriptors = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  char line[4096];
  int n = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0) n += sprintf(line + n, "open %d %d\n", fd, flags);
  }
  for (int i = 0; i < 4; ++i) n += sprintf(line + n, "next %d\n", open("/dev/null", O_RDONLY));
  int output = open(getenv("OUTPUT"), O_WRONLY | O_CREAT, 0600);
  return write(output, line, n) != n;
}
`

func TestDescriptors(t *testing.T) {
	program := compile(t, descriptors)
	for _, redirection := range []string{
		"", "0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-", "3</dev/null 5</dev/null", "9</dev/null 2>&-",
	} {
		sameAsAlone(t, `"$@" `+redirection, program)
	}
}

// What a process inherits besides: dispositions and mask of signals, limits, creation mask, process group,
// priority. `exec` keeps the shell from becoming another process in between.
func TestInheritedState(t *testing.T) {
	show := `{ grep -E '^(Sig(Blk|Ign|Cgt)|NoNewPrivs|Seccomp|Cpus_allowed|THP)' /proc/self/status; ulimit -a; ulimit -H -n; umask
nice; ps -o sid= -p $$ >/dev/null; cut -d ' ' -f 19,40,41 /proc/self/stat; } >$OUTPUT`
	for _, before := range []string{
		"", "trap '' PIPE; ", "trap '' INT QUIT HUP; ", "trap '' CHLD TSTP TTIN TTOU USR1; ", "ulimit -n 700; ", "umask 027; ", "ulimit -c 0; ",
	} {
		sameAsAlone(t, before+`exec "$@"`, "/bin/sh", "-c", show)
	}
}

func TestBlockedSignals(t *testing.T) {
	program := compile(t, `
#include <signal.h>
#include <unistd.h>
int main(int argc, char** argv) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  execv(argv[1], argv + 1);
  return 1;
}
`)
	sameAsAlone(t, `exec `+program+` "$@" >$OUTPUT`, "/bin/grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status")
}

// The environment is the same but for the two settings that do the work.
func TestEnvironment(t *testing.T) {
	show := `env | grep -v -e '^LD_PRELOAD=' -e '^MALLOW_OPTIONS=' -e '^OUTPUT=' -e '^PWD=' >$OUTPUT`
	sameAsAlone(t, `export ODD='two words' EMPTY= ; exec "$@"`, "/bin/sh", "-c", show)
	for verb, starter := range starters(t) {
		under := observe(t, `export LD_PRELOAD=libm.so.6; exec "$@"`, append(starter, "/bin/sh", "-c", `echo "$LD_PRELOAD" >$OUTPUT`)...)
		if !strings.HasSuffix(under.output, "/libmallow.so:libm.so.6\n") {
			t.Errorf("%s: LD_PRELOAD is %q", verb, under.output)
		}
	}
}

// Standard input belongs to the program, also when it reads only a part.
func TestInput(t *testing.T) {
	sameAsAlone(t, `{ echo one; echo two; echo three; } | { "$@"; read rest; echo "left: $rest" >>$OUTPUT; }`,
		"/bin/sh", "-c", `read line; echo "read: $line" >$OUTPUT`)
}

func TestNames(t *testing.T) {
	for _, name := range []string{"two words", "new\nline", "100%", "a:b", "\xff\xfe", "-o", "ü", `quo"te`, "$HOME", "*"} {
		folder := t.TempDir()
		program := filepath.Join(folder, name)
		if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s|' \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(harness.CLI(t), "record", "--", "./"+name, name, "")
		command.Dir = folder
		command.Env = harness.Environment()
		output, err := command.Output()
		if err != nil || string(output) != name+"||" {
			t.Errorf("%q printed %q, %v", name, output, err)
		}
		found, err := filepath.Glob(filepath.Join(folder, "*.mallow", "meta.json"))
		if err != nil || len(found) != 1 || !strings.HasPrefix(filepath.Base(filepath.Dir(found[0])), name+".") {
			t.Errorf("%q left %q, %v", name, found, err)
		}
	}
}

// The recording itself may lie below folders of odd names: the library must find it.
func TestOddFolders(t *testing.T) {
	for _, name := range []string{"two words", "100%3A", "a:b=c", "\xff", "new\nline", strings.Repeat("long", 60)} {
		folder := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(harness.CLI(t), "record", "-o", "x.mallow", "--", "/bin/sh", "-c", "exit 4")
		command.Dir = folder
		command.Env = harness.Environment()
		output, err := command.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 4 {
			t.Errorf("%q: %v\n%s", name, err, output)
		}
		if found, _ := filepath.Glob(filepath.Join(escapeGlob(folder), "x.mallow", "image-*")); len(found) != 1 {
			t.Errorf("%q: recorded %q\n%s", name, found, output)
		}
	}
}

func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// Whoever waits for mallow sees the signal that ended the program, and no core dump of mallow.
func TestDiesBySameSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{
		syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE,
		syscall.SIGUSR1, syscall.SIGQUIT, syscall.SIGFPE, syscall.SIGALRM, 34, 64,
	} {
		shell := fmt.Sprintf(`echo started >$OUTPUT; ulimit -c unlimited; exec "$@"`)
		under := observe(t, shell, harness.CLI(t), "/bin/sh", "-c", fmt.Sprintf("kill -%d $$", int(sig)))
		if !under.status.Signaled() || under.status.Signal() != sig || under.status.CoreDump() {
			t.Errorf("signal %d ended the program, but mallow ended with %#x", sig, int(under.status))
		}
	}
}

// Who stops and continues the program by its own number does not stop mallow for ever.
func TestStoppedAlone(t *testing.T) {
	const script = `(sleep 0.5; kill -CONT $$) & kill -STOP $$; wait; exit 5`
	program := harness.Start(t, harness.Command{Arguments: []string{harness.CLI(t), "/bin/sh", "-c", script}, Directory: t.TempDir()})
	program.Wait(t)
	if status := program.Process.ProcessState.ExitCode(); status != 5 {
		t.Errorf("mallow ended with %v: %s", program.Process.ProcessState, program.Errors())
	}
}

// A signal to mallow alone is meant for the program, which may outlive it.
func TestForwardedSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{
		syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGVTALRM,
		syscall.SIGWINCH, 37, 64, // httpd's and systemd's ways to be stopped by a container's supervisor
	} {
		folder := t.TempDir()
		script := fmt.Sprintf(`trap 'echo got; exit 9' %d; echo ready; while :; do sleep 0.02; done`, int(sig))
		command := exec.Command(harness.CLI(t), "/bin/sh", "-c", script)
		command.Dir, command.Env = folder, harness.Environment()
		command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		output, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		var line [6]byte
		if _, err := output.Read(line[:]); err != nil || string(line[:]) != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
		if err := command.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		var rest bytes.Buffer
		rest.ReadFrom(output)
		command.Wait()
		if rest.String() != "got\n" || command.ProcessState.ExitCode() != 9 {
			t.Errorf("%v: the program printed %q, mallow ended with %v", sig, &rest, command.ProcessState)
		}
	}
}

func TestMain(m *testing.M) {
	// The test binary may have been started with signals ignored (by nohup, as a background job): children
	// must not inherit that. What is caught here is the default in them.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(m.Run())
}
