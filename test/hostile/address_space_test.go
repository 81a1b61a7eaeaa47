package hostile

import (
	"fmt"
	"sort"
	"testing"

	"mallow/test/harness"
)

// Address space in KiB: libmallow itself needs some, its code and static data (1.8 MiB), a part of its page map (1.25 MiB)
// and its first blocks. With roomFor more than the program needs alone it goes on as alone, and is recorded.
const roomFor = 4 << 10

// From an address space that is just enough for the program alone up to one with room for libmallow: the program may be
// refused by the loader or be refused memory, as on any malloc that has none, but nothing crashes, and nobody takes what
// was not recorded for a recording.
func TestAddressSpaceJustEnough(t *testing.T) {
	program := harness.Program(t, "programs/guest")
	limited := func(limit int) harness.Command {
		return harness.Command{Arguments: []string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" nothing`, limit), program}}
	}
	want := harness.Run(t, guest(t, "nothing", ""))
	const most = 100_000
	enough := sort.Search(most, func(limit int) bool {
		result := harness.Run(t, limited(limit))
		return result.Output == want.Output && result.Status == want.Status
	})
	if enough == most {
		t.Skip("the program needs more than 100 MB alone")
	}
	for _, more := range []int{0, 500, 1 << 10, 2 << 10, 2500, 3 << 10, 3500, roomFor, 6 << 10, 10 << 10, 20 << 10, 40 << 10} {
		recorded, recording := harness.Record(t, limited(enough+more))
		if recorded.Signal != 0 {
			t.Errorf("%d KiB more: %s\n%s", more, recorded.Ending(), recorded.Errors)
		}
		same := recorded.Output == want.Output && recorded.Status == want.Status
		if !same && more >= roomFor {
			t.Errorf("%d KiB more: %s, %q", more, recorded.Ending(), recorded.Output)
		}
		report := harness.ReadReport(t, recording)
		if report.SiteIn("allocate").Allocations == guestCalls+childCalls {
			continue
		}
		if !report.Quality.Incomplete && len(report.Quality.Warnings) == 0 && len(report.Unrecorded) == 0 {
			t.Errorf("%d KiB more: %d allocations recorded, and no word of what is missing", more, report.SiteIn("allocate").Allocations)
		}
	}
}

// A program that limits its own address space when recording has reserved its own already.
func TestProgramLimitsItsAddressSpace(t *testing.T) {
	const calls = 1 + 2*2006 // of test/programs/limited.c
	for _, flags := range [][]string{nil, {"--cpu"}, {"--log"}} {
		for _, limit := range []string{"200", "500", "1000"} {
			command := harness.Command{Arguments: []string{harness.Program(t, "programs/limited"), limit}}
			alone := harness.Run(t, command)
			command.Flags = flags
			recorded, recording := harness.Record(t, command)
			sameEnding(t, alone, recorded)
			if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got != calls {
				t.Errorf("%q, %s MiB: %d allocations, want %d", flags, limit, got, calls)
			}
		}
	}
}
