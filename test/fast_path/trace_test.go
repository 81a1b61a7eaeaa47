package fastpath

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// outside stands for an instruction that is not libmallow's.
const outside = ^uint64(0)

// trace is one hit, as it was executed.
type trace struct {
	symbol    string   // of the entry point
	arguments string   // "64", or "1,64" of calloc
	steps     []uint64 // addresses within the library, or outside
}

// entryNames are the entry points as people write them.
var entryNames = map[string]string{
	"_Znwm": "operator new", "_ZdlPv": "operator delete", "_ZdlPvm": "sized operator delete",
}

func (tr trace) String() string {
	name := tr.symbol
	if written, ok := entryNames[name]; ok {
		name = written
	}
	return name + "(" + strings.ReplaceAll(tr.arguments, ",", ", ") + ")"
}

// step executes the hits on a library. The shortest of some runs counts: where a heap begins is chance, and in one process
// of thirty blocks lie outside the first leaf of the page map, which costs them a look at the other leaves.
func step(t *testing.T, library string, settings ...string) []trace {
	t.Helper()
	shortest := stepOnce(t, library, settings)
	for range 5 {
		if again := stepOnce(t, library, settings); length(again) < length(shortest) {
			shortest = again
		}
	}
	return shortest
}

func length(traces []trace) int {
	sum := 0
	for _, tr := range traces {
		sum += len(tr.steps)
	}
	return sum
}

func stepOnce(t *testing.T, library string, settings []string) []trace {
	t.Helper()
	run := harness.Run(t, harness.Command{
		Arguments: []string{harness.Program(t, "programs/single_step")},
		Settings:  append(slices.Clip(settings), "LD_PRELOAD="+library),
	})
	if run.Status != 0 {
		t.Fatalf("single_step ended with %s\n%s", run.Ending(), run.Errors)
	}
	var traces []trace
	for line := range strings.Lines(run.Output) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			t.Fatalf("single_step printed %q", line)
		}
		tr := trace{symbol: fields[0], arguments: fields[1]}
		for _, field := range fields[2:] {
			address, err := strconv.ParseUint(field, 16, 64)
			if field == "-" {
				address = outside
			} else if err != nil {
				t.Fatal(err)
			}
			tr.steps = append(tr.steps, address)
		}
		traces = append(traces, tr)
	}
	return traces
}
