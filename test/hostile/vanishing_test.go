package hostile

import (
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// A program that unmaps what the unwinder reads: its own headers and unwind tables, code, stacks. What can still be
// unwound is, and the rest is said to be cut.
func TestVanishingMemory(t *testing.T) {
	for way, cut := range map[string]uint64{
		"headers": 0, "tables": 10, "hidden": 10, "library": 1000, "closed": 1000, "generated": 1000, "stack": 0,
	} {
		t.Run(way, func(t *testing.T) {
			command := harness.Command{Arguments: []string{
				harness.Program(t, "programs/vanishing"), way, harness.Program(t, "programs/passage.so"),
			}}
			alone := harness.Run(t, command)
			if alone.Status != 5 {
				t.Fatalf("alone: %s, %q", alone.Ending(), alone.Output)
			}
			_, number, _ := strings.Cut(strings.TrimSpace(alone.Output), ": ")
			made, _ := strconv.ParseUint(number, 10, 64)
			for _, flags := range [][]string{nil, {"--cpu"}, {"--log"}, {"--sample", "100"}} {
				command.Flags = flags
				recorded, recording := harness.Record(t, command)
				sameEnding(t, alone, recorded)
				report := harness.ReadReport(t, recording)
				if len(flags) > 0 && flags[0] == "--sample" {
					continue // an estimate
				}
				if got := report.Origins.Program.Allocations; got != made || got == 0 {
					t.Errorf("%q: %d allocations recorded, the program made %d", flags, got, made)
				}
				if got := report.Quality.TruncatedAllocations; got != cut {
					t.Errorf("%q: the stacks of %d allocations are said to be cut, want %d", flags, got, cut)
				}
			}
		})
	}
}
