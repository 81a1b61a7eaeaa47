package hostile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mallow/test/harness"
)

// atOnce runs the command so many times at the same time.
func atOnce(t *testing.T, times int, command harness.Command) []harness.Result {
	results := make([]harness.Result, times)
	var running sync.WaitGroup
	for i := range results {
		running.Go(func() { results[i] = harness.Run(t, command) })
	}
	running.Wait()
	return results
}

// Of several recorders that want one folder one gets it, and the others do not start the program.
func TestOneFolderForSeveralRecorders(t *testing.T) {
	recording := filepath.Join(harness.TempDir(t), "run.mallow")
	command := guest(t, "nothing", "")
	command.Arguments = append([]string{harness.CLI(t), "record", "-o", recording, "--"}, command.Arguments...)
	recorded := 0
	for _, result := range atOnce(t, 4, command) {
		switch {
		case result.Status == 5:
			recorded++
		case result.Status != 125 || result.Output != "" || !strings.Contains(result.Errors, "is there already"):
			t.Errorf("%s, %q, %q", result.Ending(), result.Output, result.Errors)
		}
	}
	if got := harness.ReadReport(t, recording).Origins.Program.Allocations; recorded != 1 || got != guestCalls+childCalls {
		t.Errorf("%d ran, and %d allocations are recorded, want %d", recorded, got, guestCalls+childCalls)
	}
}

// Without the CLI several processes may share a folder: each has files of its own.
func TestOneFolderForSeveralProcesses(t *testing.T) {
	const times = 4
	folder := harness.TempDir(t)
	command := guest(t, "nothing", "")
	alone := harness.Run(t, command)
	command.Settings = harness.PreloadSettings(t, folder)
	for _, result := range atOnce(t, times, command) {
		sameEnding(t, alone, result)
	}
	if got := harness.ReadReport(t, folder).Origins.Program.Allocations; got != times*(guestCalls+childCalls) {
		t.Errorf("%d allocations, want %d", got, times*(guestCalls+childCalls))
	}
}

// Two copies of libmallow in a process: one of them serves it, and records it once.
func TestPreloadedTwice(t *testing.T) {
	copied := filepath.Join(harness.TempDir(t), "another.so")
	harness.CopyProgram(t, harness.Library(t), copied)
	command := guest(t, "nothing", "")
	alone := harness.Run(t, command)
	for _, preloads := range []string{copied + ":" + harness.Library(t), harness.Library(t) + " " + copied, copied + ":" + copied} {
		folder := harness.TempDir(t)
		command.Settings = []string{"LD_PRELOAD=" + preloads, "MALLOW_OPTIONS=record=" + folder}
		sameEnding(t, alone, harness.Run(t, command))
		report := harness.ReadReport(t, folder)
		if got := report.Origins.Program.Allocations; got != guestCalls+childCalls || len(report.Processes) != 2 {
			t.Errorf("%s: %d allocations in %d processes, want %d in 2", preloads, got, len(report.Processes), guestCalls+childCalls)
		}
	}
	command.Settings = []string{"LD_PRELOAD=" + copied}
	recorded, recording := harness.Record(t, command)
	sameEnding(t, alone, recorded)
	if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got != guestCalls+childCalls {
		t.Errorf("%d allocations, want %d", got, guestCalls+childCalls)
	}
}

// A recorder in a recording: what it starts is in its own, and the outer one says so.
func TestRecorderInARecording(t *testing.T) {
	inner := filepath.Join(harness.TempDir(t), "inner.mallow")
	recorded, outer := harness.Record(t, harness.Command{
		Arguments: []string{
			"/bin/sh", "-c", `"$@"; exit $?`, "sh", harness.CLI(t), "record", "-o", inner, "--", harness.Program(t, "programs/guest"), "nothing",
		},
		Flags: []string{"--log", "--cpu"},
	})
	if recorded.Status != 5 {
		t.Fatalf("%s: %s", recorded.Ending(), recorded.Errors)
	}
	if got := harness.ReadReport(t, inner).Origins.Program.Allocations; got != guestCalls+childCalls {
		t.Errorf("the inner recording: %d allocations, want %d", got, guestCalls+childCalls)
	}
	if logs, _ := filepath.Glob(filepath.Join(inner, "log-*")); len(logs) != 0 {
		t.Errorf("the outer recorder's settings went on: %q", logs)
	}
	report := harness.ReadReport(t, outer)
	if got := report.SiteIn("allocate").Allocations; got != 0 {
		t.Errorf("the outer recording has %d allocations of the guest", got)
	}
	if len(report.Unrecorded) != 1 || !strings.Contains(report.Unrecorded[0].Reason, "another mallow started it") {
		t.Errorf("%+v", report.Unrecorded)
	}
}

// The settings of a recorder that this one runs in do not reach its program.
func TestSettingsOfAnotherRecorder(t *testing.T) {
	outer := harness.TempDir(t)
	command := guest(t, "nothing", "")
	command.Settings = []string{"MALLOW_OPTIONS=record=" + outer + ":log=1M:cpu=100:sample=1K"}
	recorded, recording := harness.Record(t, command)
	if recorded.Status != 5 {
		t.Fatalf("%s: %s", recorded.Ending(), recorded.Errors)
	}
	if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got != guestCalls+childCalls {
		t.Errorf("%d allocations, want %d", got, guestCalls+childCalls)
	}
	if left, _ := os.ReadDir(outer); len(left) != 0 {
		t.Errorf("%d files in the other recorder's folder", len(left))
	}
}
