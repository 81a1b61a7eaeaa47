package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func once(t *testing.T, c Command) Run {
	t.Helper()
	c.Limit = 5 * time.Minute
	run, err := Once(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestOutputAndEnding(t *testing.T) {
	run := once(t, Command{Shell: "echo out; echo problem >&2; exit 3"})
	if run.Exit != 3 || string(run.Stdout) != "out\n" || string(run.Stderr) != "problem\n" || run.Ending() != "exit status 3" {
		t.Errorf("%+v", run)
	}
	if same := once(t, Command{Shell: "echo problem >&2; echo out; exit 3"}); same.Output != run.Output {
		t.Error("the same output has two hashes")
	}
	for _, other := range []string{"echo out; echo Problem >&2", "echo problem; echo out >&2", "echo out"} {
		if once(t, Command{Shell: other}).Output == run.Output {
			t.Errorf("%s: the hash of another output", other)
		}
	}
	if killed := once(t, Command{Shell: "kill -SEGV $$"}); killed.Signal != syscall.SIGSEGV || killed.Ending() != "killed by SIGSEGV" {
		t.Errorf("%+v", killed)
	}
	if silent := once(t, Command{Shell: "echo out", Silent: true}); len(silent.Stdout) != 0 {
		t.Errorf("%+v", silent)
	}
}

func TestWholeTree(t *testing.T) {
	loop := func(turns int) string { return fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); done", turns) }
	alone := once(t, Command{Shell: loop(3000)})
	// A machine that is itself a guest may count what its host took.
	for range 4 {
		if again := once(t, Command{Shell: loop(3000)}); again.CPU < alone.CPU {
			alone = again
		}
	}
	// What is left when the command ends has a moment to end itself, which may be none of its own where the processor is
	// busy: so the command goes on until the loop is done.
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tree := range map[string]string{
		"waited for":             "(" + loop(60000) + "); " + loop(3000),
		"not waited for":         "(" + loop(60000) + "; echo >" + pipe + ") & " + loop(3000) + "; read x <" + pipe,
		"of a parent that ended": "( (" + loop(60000) + "; echo >" + pipe + ") & ); " + loop(3000) + "; read x <" + pipe,
	} {
		if run := once(t, Command{Shell: tree}); run.CPU < 4*alone.CPU {
			t.Errorf("%s: twenty times as much took %v, and %v alone", name, run.CPU, alone.CPU)
		}
	}
	if alone.CPU == 0 || alone.CPU != alone.User+alone.Sys || alone.Wall <= 0 || alone.MinorFaults == 0 {
		t.Errorf("%+v", alone)
	}
}

func TestPeakIsThatOfTheCommand(t *testing.T) {
	if meter() == nil {
		t.Skip("the meter is not built in")
	}
	ballast := make([]byte, 64<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	if run := once(t, Command{Args: []string{"true"}}); run.PeakRSS > 16<<20 || run.PeakRSS == 0 {
		t.Errorf("true holds %d bytes", run.PeakRSS)
	}
	_ = ballast[0]
}

func TestLeftProcessesAreEnded(t *testing.T) {
	run := once(t, Command{Shell: "sleep 1000 & setsid sleep 1000 & exit 0"})
	if run.Left != 2 {
		t.Errorf("%d left", run.Left)
	}
}

// Ctrl-C reaches the meter as well; it must not leave the command alone.
func TestMeterOutlivesSignals(t *testing.T) {
	if meter() == nil {
		t.Skip("the meter is not built in")
	}
	run := once(t, Command{Shell: "for s in INT QUIT TERM HUP; do kill -$s $PPID; done; sleep 0.01; echo counted"})
	if run.Exit != 0 || string(run.Stdout) != "counted\n" || run.CPU == 0 {
		t.Errorf("%+v", run)
	}
}

// Whoever is killed itself cannot kill what it measures: the meter does.
func TestNothingOutlivesMallow(t *testing.T) {
	if os.Getenv("MEASURE_FOR_EVER") != "" {
		Once(context.Background(), Command{Shell: "echo $$ >" + os.Getenv("MEASURE_FOR_EVER") + "; sleep 1000"})
		return
	}
	if meter() == nil {
		t.Skip("the meter is not built in")
	}
	file := filepath.Join(t.TempDir(), "pid")
	mallow := exec.Command(os.Args[0], "-test.run=^TestNothingOutlivesMallow$")
	mallow.Env = append(os.Environ(), "MEASURE_FOR_EVER="+file)
	if err := mallow.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for deadline := time.Now().Add(5 * time.Minute); pid == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		content, _ := os.ReadFile(file)
		fmt.Sscan(string(content), &pid)
	}
	mallow.Process.Kill()
	mallow.Wait()
	for deadline := time.Now().Add(5 * time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command still runs")
		}
	}
}

func TestLimit(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	_, err := Once(t.Context(), Command{Shell: "(trap '' TERM; sleep 1000; touch " + mark + ") & sleep 1000", Limit: 100 * time.Millisecond})
	if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "100ms") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := Once(ctx, Command{Shell: "sleep 1000"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWhereAndWithWhat(t *testing.T) {
	folder := t.TempDir()
	script := filepath.Join(folder, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\npwd; cat; echo $NAME\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	input := filepath.Join(folder, "input")
	if err := os.WriteFile(input, []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := once(t, Command{Args: []string{"./script"}, Dir: folder, Stdin: input, Env: []string{"NAME=value", "PATH=/usr/bin:/bin"}})
	if want := folder + "\ntext\nvalue\n"; string(run.Stdout) != want {
		t.Errorf("%q, not %q", run.Stdout, want)
	}
}

func TestNotStarted(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(damaged, []byte("\x7fELF and no more"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Command{{}, {Args: []string{"no-such-program"}}, {Args: []string{damaged}}, {Args: []string{"true"}, Stdin: "/no/such"}, {Args: []string{"true"}, Dir: "/no/such"}} {
		if run, err := Once(t.Context(), c); err == nil {
			t.Errorf("%v: %+v", c, run)
		}
	}
}

func TestLongOutputKeepsItsEnd(t *testing.T) {
	run := once(t, Command{Shell: "head -c 5000000 /dev/zero; echo end"})
	if !run.Cut || len(run.Stdout) != MostKept || !strings.HasSuffix(string(run.Stdout), "end\n") {
		t.Errorf("%v, %d bytes", run.Cut, len(run.Stdout))
	}
}
