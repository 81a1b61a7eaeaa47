// Package real records real programs, with and without mallow: same output, same ending, and for those that do the
// same at every run the same number of calls as the counting preload saw over glibc.
package real

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// program is a real program and its work. `prepare` returns the command; it runs in a folder of its own.
type program struct {
	name    string
	prepare func(t *testing.T, folder string) harness.Command
	status  int
	least   uint64 // allocations that a run makes at the least
	// Why and by what share of its calls the program differs from run to run; zero if it does not.
	varies variation
	// Why the bytes, or the calls of free(NULL), differ where the other calls do not.
	bytesVary, freeNullsVary string
	// Why some stacks cannot be walked to their end by any tool.
	unwalkable string
	// check looks at the report beyond the counts.
	check func(t *testing.T, report harness.Report)
}

type variation struct {
	why   string
	share float64
}

var programs = []program{
	{name: "sqlite3", prepare: sqlite, least: 6_000_000},
	{name: "python3", prepare: python, least: 4_000_000,
		bytesVary: "json notes ids of objects, and an int is longer for a higher address"},
	{name: "git", prepare: git, least: 80_000},
	// 150,000 words are split and substituted. What else that allocates, each perl does in its own way.
	{name: "perl", prepare: perl, least: 300_000},
	{name: "sort", prepare: sortFile, least: 200},
	{name: "xz", prepare: xz, least: 200, varies: variation{"threads take the blocks as they come", 0.05}},
	{name: "g++", prepare: compile, least: 800_000, check: hasProcess("cc1plus"),
		varies: variation{"cc1plus hashes by address, and its tables grow by collisions: over glibc its runs differ too", 0.001}},
	{name: "bash", prepare: pipeline, status: 4, least: 300_000, bytesVary: "ids of processes have more digits or fewer"},
	{name: "node", prepare: node, status: 6, least: 100_000, unwalkable: "code made at run time has no unwind tables",
		varies: variation{"collections of garbage and worker threads go by time", 0.05}},
	{name: "rust", prepare: rust, status: 9, least: 60_000},
	{name: "cgo", prepare: cgo, status: 8, least: 64_000, check: blocksOfCgo, unwalkable: "Go's own frames have no unwind tables",
		varies: variation{"the Go runtime starts threads as it needs them", 0.01}},
}

func TestPrograms(t *testing.T) {
	for _, program := range programs {
		t.Run(program.name, func(t *testing.T) {
			command := program.prepare(t, harness.TempDir(t))
			compareRuns(t, program, command)
		})
	}
}

// compareRuns runs the command alone, recorded and counted.
func compareRuns(t *testing.T, program program, command harness.Command) {
	t.Helper()
	alone := harness.Run(t, command)
	if alone.Status != program.status {
		t.Fatalf("alone: %s, want status %d\n%s", alone.Ending(), program.status, alone.Errors)
	}
	recorded, recording := harness.Record(t, command)
	sameRun(t, "recorded", alone, recorded)
	report := harness.ReadReport(t, recording)
	if report.Quality.Incomplete {
		t.Errorf("incomplete: %q", report.Quality.Warnings)
	}
	if report.Quality.TruncatedStacks != 0 && program.unwalkable == "" {
		t.Errorf("%d truncated stacks", report.Quality.TruncatedStacks)
	}
	if report.Totals.Allocations < program.least {
		t.Errorf("%d allocations, a run makes %d at the least", report.Totals.Allocations, program.least)
	}
	if program.check != nil {
		program.check(t, report)
	}
	counted, processes := harness.Count(t, command, harness.RecordedEnvironment(t))
	sameRun(t, "counted", alone, counted)
	compareCounts(t, program, report.Counted(), processes)
}

func compareCounts(t *testing.T, program program, recorded, counted []harness.CountedProcess) {
	t.Helper()
	if program.varies.why != "" {
		got, want := float64(allocations(recorded)), float64(allocations(counted))
		if math.Abs(got-want) > want*program.varies.share || len(recorded) != len(counted) {
			t.Errorf("%.0f allocations of %d processes recorded, %.0f of %d counted", got, len(recorded), want, len(counted))
		}
		return
	}
	for i := range recorded {
		forget(program, &recorded[i].Counts)
	}
	for i := range counted {
		forget(program, &counted[i].Counts)
	}
	if !slices.Equal(recorded, counted) {
		t.Errorf("recorded and counted differ:\n%s", processDifferences(recorded, counted))
	}
}

func allocations(processes []harness.CountedProcess) (sum uint64) {
	for _, process := range processes {
		sum += process.Counts.Allocations()
	}
	return sum
}

// forget clears what differs from run to run.
func forget(program program, counts *harness.Counts) {
	if program.bytesVary != "" {
		counts.Bytes = 0
	}
	if program.freeNullsVary != "" {
		counts.FreeNulls = 0
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

// workload is a program of the benchmarks.
func workload(name string) string {
	return filepath.Join(harness.Root(), "bench", "workloads", name)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
