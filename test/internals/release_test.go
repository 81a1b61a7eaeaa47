package internals

import (
	"fmt"
	"strings"
	"testing"

	"mallow/test/harness"
)

// TestRelease: what the manual promises of the settings that say how memory goes back.
func TestRelease(t *testing.T) {
	const filled = 96
	for _, test := range []struct {
		name, options, arguments string
		freedMost                int // MiB more than at the start, right after all was freed
		endLeast, endMost        int // and a second later
	}{
		{name: "down to nothing", options: "release_interval=10", arguments: "1000 1", freedMost: -1, endMost: 8},
		{name: "never", options: "release_interval=0", arguments: "1000 1", freedMost: -1, endLeast: 80, endMost: 120},
		{name: "all but so much", options: "release_interval=10:release_keep=32M", arguments: "1000 1", freedMost: -1, endLeast: 26, endMost: 42},
		{name: "long blocks at once", options: "release_interval=0:release_at_once=1M", arguments: "2000000 0", freedMost: 2, endMost: 2},
		{name: "shorter ones too", options: "release_interval=0:release_at_once=300000", arguments: "310000 0", freedMost: 2, endMost: 2},
		{name: "not at once", options: "release_interval=0:release_at_once=1G", arguments: "40000000 0", freedMost: -1, endLeast: 80, endMost: 160},
		{name: "mallopt: all stays", options: "release_interval=10", arguments: "1000 1 -1", freedMost: -1, endLeast: 80, endMost: 120},
		{name: "mallopt: so much stays", options: "release_interval=10", arguments: "1000 1 33554432", freedMost: -1, endLeast: 26, endMost: 42},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := harness.Run(t, harness.Command{
				Arguments: append([]string{harness.Program(t, "programs/release"), fmt.Sprint(filled)}, strings.Fields(test.arguments)...),
				Settings:  []string{"LD_PRELOAD=" + harness.Library(t), "MALLOW_OPTIONS=" + test.options},
			})
			var start, full, freed, end int
			if _, err := fmt.Sscan(run.Output, &start, &full, &freed, &end); err != nil || run.Status != 0 {
				t.Fatalf("release ended with %s and printed %q", run.Ending(), run.Output)
			}
			t.Logf("at the start %d MiB, full %d, freed %d, at the end %d", start, full, freed, end)
			if full-start < filled {
				t.Errorf("full, it held %d MiB", full-start)
			}
			if test.freedMost >= 0 && freed-start > test.freedMost {
				t.Errorf("%d MiB stayed when all was freed, more than %d", freed-start, test.freedMost)
			}
			if end-start < test.endLeast || end-start > test.endMost {
				t.Errorf("%d MiB stayed at the end, not %d to %d", end-start, test.endLeast, test.endMost)
			}
		})
	}
}
