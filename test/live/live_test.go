// Package live watches recorded programs by `mallow top` while they run: what it shows must be what they did.
package live

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mallow/test/harness"
)

type figures struct {
	Allocations    uint64   `json:"allocations"`
	Bytes          uint64   `json:"bytes"`
	LiveBlocks     uint64   `json:"live_blocks"`
	LiveBytes      uint64   `json:"live_bytes"`
	CallsPerSecond *float64 `json:"allocations_per_second"`
	BytesPerSecond *float64 `json:"bytes_per_second"`
}

type view struct {
	Schema     string   `json:"schema"`
	Seconds    *float64 `json:"seconds"`
	SinceStart bool     `json:"since_start"`
	Ended      bool     `json:"ended"`
	Gone       int      `json:"processes_ended"`
	Totals     figures  `json:"totals"`
	Processes  []struct {
		PID uint64 `json:"pid"`
		figures
	} `json:"processes"`
	Sites []struct {
		Function string `json:"function"`
		figures
	} `json:"sites"`
}

// top is a `mallow top --json` that runs while the test goes on.
type top struct {
	process *exec.Cmd
	lines   *json.Decoder
}

func startTop(t *testing.T, arguments ...string) *top {
	t.Helper()
	watch := &top{process: exec.Command(harness.CLI(t), append([]string{"top", "--json"}, arguments...)...)}
	output, err := watch.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		watch.process.Process.Kill()
		watch.process.Wait()
	})
	watch.lines = json.NewDecoder(output)
	return watch
}

func (w *top) next(t *testing.T) view {
	t.Helper()
	var v view
	if err := w.lines.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if v.Schema != "mallow.top/1" {
		t.Errorf("schema %q", v.Schema)
	}
	return v
}

// end waits until top has ended, which must be of its own accord.
func (w *top) end(t *testing.T) {
	t.Helper()
	for {
		var v view
		if err := w.lines.Decode(&v); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.process.Wait(); err != nil {
		t.Errorf("top ended with %v", err)
	}
}

func (v view) site(t *testing.T, function string) figures {
	t.Helper()
	for _, site := range v.Sites {
		if site.Function == function {
			return site.figures
		}
	}
	t.Fatalf("no site %s in %+v", function, v)
	return figures{}
}

// A round of programs/rounds.c.
const (
	often, oftenBytes = 1000, 16000
	keep, keepBytes   = 10, 1000
)

func rounds(t *testing.T) (program *harness.Conversation, recording string) {
	t.Helper()
	recording = filepath.Join(harness.TempDir(t), "rounds.mallow")
	program = harness.Converse(t, harness.Command{
		Arguments: []string{harness.CLI(t), "record", "-o", recording, harness.Program(t, "programs/rounds")},
	})
	program.Order(t, "r")
	return program, recording
}

// mostReadings are waited for until what must come is in one.
const mostReadings = 300

// amounts are what happened in readings that follow each other.
type amounts struct{ calls, bytes float64 }

// until reads on until the program has made so many allocations in all, and sums up what its sites and all of it ("")
// have done in what was read: the reading that is due may come before the program has done all that it was told.
func (w *top) until(t *testing.T, allocations uint64) (last view, done map[string]amounts) {
	t.Helper()
	done = make(map[string]amounts)
	for range mostReadings {
		last = w.next(t)
		sum := func(name string, f figures) {
			if last.Seconds == nil || f.CallsPerSecond == nil || f.BytesPerSecond == nil {
				t.Fatalf("no rates in %+v", last)
			}
			so := done[name]
			done[name] = amounts{so.calls + *f.CallsPerSecond**last.Seconds, so.bytes + *f.BytesPerSecond**last.Seconds}
		}
		sum("", last.Totals)
		for _, site := range last.Sites {
			sum(site.Function, site.figures)
		}
		if last.Totals.Allocations >= allocations {
			return last, done
		}
	}
	t.Fatalf("no %d allocations in %+v", allocations, last)
	return last, done
}

// check compares what was done with so many calls and bytes.
func (a amounts) check(t *testing.T, calls, bytes float64) {
	t.Helper()
	if math.Abs(a.calls-calls) > 0.01 || math.Abs(a.bytes-bytes) > 0.01 {
		t.Errorf("%v calls for %v bytes, not %v for %v", a.calls, a.bytes, calls, bytes)
	}
}

func TestRates(t *testing.T) {
	program, recording := rounds(t)
	watch := startTop(t, "--interval", "1", recording)
	v, done := watch.until(t, 0)
	if !v.SinceStart || v.Ended {
		t.Errorf("first reading: %+v", v)
	}
	done["often"].check(t, often, oftenBytes)
	done[""].check(t, often+keep, oftenBytes+keepBytes)

	program.Order(t, "rrr")
	v, done = watch.until(t, 4*(often+keep))
	if v.SinceStart {
		t.Errorf("second reading: %+v", v)
	}
	done["often"].check(t, 3*often, 3*oftenBytes)
	done["keep"].check(t, 3*keep, 3*keepBytes)
	done[""].check(t, 3*(often+keep), 3*(oftenBytes+keepBytes))
	if kept := v.site(t, "keep"); kept.LiveBlocks != 4*keep || kept.LiveBytes != 4*keepBytes || kept.Allocations != 4*keep {
		t.Errorf("kept: %+v", kept)
	}

	program.Order(t, "f")
	for n := 0; v.Totals.LiveBlocks != 0 && n < mostReadings; n++ {
		v, done = watch.until(t, 0)
		done[""].check(t, 0, 0)
	}
	if v.Totals.LiveBlocks != 0 || v.Totals.LiveBytes != 0 || v.Totals.Allocations != 4*(often+keep) {
		t.Errorf("after the release: %+v", v.Totals)
	}
	program.End(t)
	watch.end(t)
}

// Children are picked up as they come. What those that end had allocated still counts, what they held does not live.
func TestChildren(t *testing.T) {
	program, recording := rounds(t)
	watch := startTop(t, "--interval", "0.5", recording)
	if v := watch.next(t); len(v.Processes) != 1 || v.Gone != 0 {
		t.Errorf("first reading: %+v", v)
	}
	program.Order(t, "c") // the answer is the child's, which takes the orders from here on
	program.Order(t, "r")
	v, _ := watch.until(t, 3*often+2*keep)
	if len(v.Processes) != 2 || v.Totals.Allocations != 3*often+2*keep || v.Totals.LiveBlocks != 2*keep {
		t.Errorf("with the child: %+v", v.Totals)
	}
	program.Order(t, "e") // the child ends, and its parent answers
	for v = watch.next(t); v.Gone != 1; {
		v = watch.next(t)
	}
	if v.Totals.Allocations != 3*often+2*keep || v.Totals.LiveBlocks != keep || len(v.Processes) != 1 {
		t.Errorf("after the child: %+v", v)
	}
	_, done := watch.until(t, 0)
	done[""].check(t, 0, 0)
	program.End(t)
	watch.end(t)
}

func TestProcessID(t *testing.T) {
	program, _ := rounds(t)
	children, err := exec.Command("/usr/bin/pgrep", "-P", strconv.Itoa(program.Process.Process.Pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(children))
	v := startTop(t, "-n", "1", pid).next(t)
	if v.Totals.Allocations != often+keep || len(v.Processes) != 1 || fmt.Sprint(v.Processes[0].PID) != pid {
		t.Errorf("%+v", v)
	}
}

// An ended recording is shown once.
func TestEnded(t *testing.T) {
	program, recording := rounds(t)
	program.End(t)
	watch := startTop(t, recording)
	v := watch.next(t)
	if !v.Ended || v.Gone != 1 || v.Totals.Allocations != often+keep || v.Totals.LiveBlocks != 0 {
		t.Errorf("%+v", v)
	}
	watch.end(t)
}

func TestInterrupted(t *testing.T) {
	_, recording := rounds(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		watch := startTop(t, "--interval", "100", recording)
		watch.next(t)
		watch.process.Process.Signal(signal)
		watch.end(t)
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct{ arguments, says string }{
		{"none.mallow", "none.mallow: no such recording"},
		{"999999999", "there is no process 999999999"},
		{"1.mallow 2.mallow", "top takes one recording"},
		{"", "top takes one recording"},
		{"--interval 0 x.mallow", "--interval takes seconds"},
		{"--interval nan x.mallow", "--interval takes seconds"},
		{"-n -1 x.mallow", "-n take a number from 0 up"},
		{"--sort size x.mallow", "must be calls/s, bytes/s, live or calls"},
	} {
		run := harness.Run(t, harness.Command{Arguments: append([]string{harness.CLI(t), "top"}, strings.Fields(test.arguments)...)})
		if run.Status != 1 || run.Output != "" || !strings.Contains(run.Errors, test.says) || strings.Count(run.Errors, "\n") != 1 {
			t.Errorf("top %s: %s, %q, %q", test.arguments, run.Ending(), run.Output, run.Errors)
		}
	}
}
