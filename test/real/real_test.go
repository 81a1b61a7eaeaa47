// Package real records real programs, with and without mallow: same output, same ending, and for those that do the
// same at every run the same number of calls as the counting preload saw over glibc.
package real

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mallow/test/harness"
)

// program is a real program and its work. `prepare` returns the command; it runs in a folder of its own.
type program struct {
	name    string
	prepare func(t *testing.T, folder string) harness.Command
	// varies says why the number of calls is not the same at every run; empty if it is.
	varies string
	status int
	// check looks at the report beyond the counts.
	check func(t *testing.T, report harness.Report)
}

var programs = []program{
	{name: "sqlite3", prepare: sqlite, check: atLeast(1_000_000)},
	{name: "python3", prepare: python, check: atLeast(3_000_000)},
	{name: "git", prepare: git, check: atLeast(5_000)},
	{name: "perl", prepare: perl, check: atLeast(20_000)},
	{name: "sort", prepare: sortFile, check: atLeast(50)},
	{name: "xz", prepare: xz, varies: "threads take the blocks as they come", check: atLeast(50)},
	{name: "g++", prepare: compile, check: hasProcess("cc1plus")},
	{name: "bash", prepare: pipeline, status: 4, check: atLeast(10_000)},
	{name: "node", prepare: node, varies: "garbage collection and worker threads go by time", status: 6, check: atLeast(10_000)},
	{name: "rust", prepare: rust, status: 9, check: atLeast(60_000)},
	{name: "cgo", prepare: cgo, varies: "the Go runtime starts threads as it needs them", status: 8, check: blocksOfCgo},
}

func TestPrograms(t *testing.T) {
	for _, program := range programs {
		t.Run(program.name, func(t *testing.T) {
			command := program.prepare(t, harness.TempDir(t))
			command.Timeout = 2 * time.Minute
			compareRuns(t, program, command)
		})
	}
}

// compareRuns runs the command alone, recorded and, unless its counts vary, counted.
func compareRuns(t *testing.T, program program, command harness.Command) {
	t.Helper()
	alone := harness.Run(t, command)
	if alone.Status != program.status {
		t.Fatalf("alone: %s, want status %d\n%s", alone.Ending(), program.status, alone.Errors)
	}
	recorded, recording := harness.Record(t, command)
	sameRun(t, "recorded", alone, recorded)
	report := harness.ReadReport(t, recording)
	if report.Quality.Incomplete || report.Quality.TruncatedStacks != 0 {
		t.Errorf("incomplete %v, %d truncated stacks, %q", report.Quality.Incomplete, report.Quality.TruncatedStacks, report.Quality.Warnings)
	}
	if program.check != nil {
		program.check(t, report)
	}
	if program.varies != "" {
		return
	}
	counted, processes := harness.Count(t, command, harness.RecordedEnvironment(t))
	sameRun(t, "counted", alone, counted)
	if got := report.Counted(); !slices.Equal(got, processes) {
		t.Errorf("recorded and counted differ:\n%s", processDifferences(got, processes))
	}
}

func processDifferences(recorded, counted []harness.CountedProcess) string {
	var text strings.Builder
	for i := range max(len(recorded), len(counted)) {
		if i >= len(recorded) {
			fmt.Fprintf(&text, "recorded none\ncounted  %+v\n", counted[i])
		} else if i >= len(counted) {
			fmt.Fprintf(&text, "recorded %+v\ncounted  none\n", recorded[i])
		} else if recorded[i] != counted[i] {
			fmt.Fprintf(&text, "recorded %+v\ncounted  %+v\n", recorded[i], counted[i])
		}
	}
	return text.String()
}

func sameRun(t *testing.T, how string, alone, other harness.Result) {
	t.Helper()
	if other.Ending() != alone.Ending() {
		t.Errorf("%s: %s, alone: %s\n%s", how, other.Ending(), alone.Ending(), other.Errors)
	}
	if other.Output != alone.Output {
		t.Errorf("%s: prints something else (%d bytes, alone %d)\n%s", how, len(other.Output), len(alone.Output), firstDifference(alone.Output, other.Output))
	}
}

func firstDifference(left, right string) string {
	leftLines, rightLines := strings.Split(left, "\n"), strings.Split(right, "\n")
	for i := range min(len(leftLines), len(rightLines)) {
		if leftLines[i] != rightLines[i] {
			return fmt.Sprintf("line %d: %.200q, alone %.200q", i+1, rightLines[i], leftLines[i])
		}
	}
	return "one is the beginning of the other"
}

func atLeast(allocations uint64) func(*testing.T, harness.Report) {
	return func(t *testing.T, report harness.Report) {
		t.Helper()
		if report.Totals.Allocations < allocations {
			t.Errorf("%d allocations, a run makes more than %d", report.Totals.Allocations, allocations)
		}
	}
}

// hasProcess checks that an image of that program was recorded.
func hasProcess(name string) func(*testing.T, harness.Report) {
	return func(t *testing.T, report harness.Report) {
		t.Helper()
		for _, process := range report.Processes {
			if filepath.Base(process.Executable) == name {
				return
			}
		}
		t.Errorf("no process %s was recorded", name)
	}
}

// Each of 64 goroutines calls make_block 500 times.
func blocksOfCgo(t *testing.T, report harness.Report) {
	t.Helper()
	if got := report.SiteIn("make_block").Allocations; got != 32000 {
		t.Errorf("%d allocations by make_block, want 32000", got)
	}
}

func testdata(name string) string {
	return filepath.Join(harness.Root(), "test", "real", "testdata", name)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
