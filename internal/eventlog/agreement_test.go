package eventlog_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"mallow/internal/eventlog"
	"mallow/test/harness"
)

var kindNames = map[eventlog.Kind]string{
	eventlog.Birth: "birth", eventlog.Death: "death", eventlog.Move: "move", eventlog.Failure: "failure", eventlog.NullRelease: "null",
}

func line(e *eventlog.Event) string {
	return fmt.Sprintf("%s %d %d %d %x %x %d", kindNames[e.Kind], e.Thread, e.Stack|e.Caller, e.Size, e.Address, e.Old, e.Argument)
}

// TestAgreement reads what the recorder writes: random events of some threads,
// which the program that makes them also prints.
func TestAgreement(t *testing.T) {
	for seed := range 20 {
		compareRandom(t, 1+seed%2, seed, 0)
	}
}

// TestAgreementUpToTheLimit reads logs that end: every event up to the end,
// and none behind it.
func TestAgreementUpToTheLimit(t *testing.T) {
	for seed := range 10 {
		compareRandom(t, 1+seed%2, seed, 300<<10)
	}
}

func compareRandom(t *testing.T, clock, seed, limit int) {
	t.Helper()
	folder := t.TempDir()
	arguments := []string{folder, fmt.Sprint(clock), fmt.Sprint(seed), fmt.Sprint(20000 * (seed%4 + 1))}
	if limit > 0 {
		arguments = append(arguments, fmt.Sprint(limit))
	}
	command := exec.Command(harness.Program(t, "golden/golden_log"), arguments...)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	b := trimmed(t, folder)
	want := bufio.NewScanner(bytes.NewReader(output))
	n := 0
	err = eventlog.ReadAll(b, func(e *eventlog.Event) {
		n++
		if !want.Scan() {
			t.Fatalf("seed %d: event %d was never made: %s", seed, n, line(e))
		}
		if got := line(e); got != want.Text() {
			t.Fatalf("seed %d: event %d is %s, want %s", seed, n, got, want.Text())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for want.Scan() {
		missing++
	}
	if limit == 0 && missing > 0 {
		t.Errorf("seed %d: %d of %d events are missing", seed, missing, n+missing)
	}
	if limit > 0 && n < 10000 {
		t.Errorf("seed %d: only %d events in %d bytes", seed, n, limit)
	}
}

// TestOrder reads what threads log that take blocks from a common heap: by
// either clock no block is given out twice, or taken back before.
func TestOrder(t *testing.T) {
	for _, clock := range []string{"1", "2"} {
		for _, threads := range []string{"2", "5"} {
			folder := t.TempDir()
			command := exec.Command(harness.Program(t, "golden/golden_log"), folder, clock, "threads", threads, "100000")
			if output, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			b := trimmed(t, folder)
			live := map[uint64]bool{}
			wrong, events := 0, 0
			err := eventlog.ReadAll(b, func(e *eventlog.Event) {
				events++
				if given := e.Kind == eventlog.Birth; live[e.Address|e.Old] == given {
					wrong++
				} else {
					live[e.Address|e.Old] = given
				}
			})
			if want, _ := strconv.Atoi(threads); err != nil || events != 100000*want || wrong > 0 {
				t.Errorf("clock %s, %s threads: %d of %d events out of order (%v)", clock, threads, wrong, events, err)
			}
		}
	}
}

// trimmed is the log that the writer has left in the folder.
func trimmed(t *testing.T, folder string) []byte {
	t.Helper()
	path := filepath.Join(folder, "log-1-1-0")
	if err := eventlog.Trim(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
