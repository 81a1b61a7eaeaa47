package exact

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"mallow/test/harness"
)

// allocated is what the files of a folder take on disk, in bytes.
func allocated(t *testing.T, folder string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A recording takes as much room after ten times the work: it has a line for each stack, and a timeline that has an end.
// The shorter run has filled that, by its events alone: 1,024 moments, of 3.8 million allocations. To the byte,
// as the process leaves it; when it is packed, what is not used of the timeline goes, which is full or down to a half.
func TestSizeDoesNotGrow(t *testing.T) {
	const rounds, half = 12000, 512 * 64
	program := harness.Program(t, "programs/long")
	var left, packed [2]int64
	for i, times := range []int{1, 10} {
		command := harness.Command{Arguments: []string{program, fmt.Sprint(times * rounds)}}
		result, recording := harness.Preload(t, command)
		if result.Status != 0 {
			t.Fatalf("%s: %s", result.Ending(), result.Errors)
		}
		left[i] = allocated(t, recording)
		want := uint64(times*rounds) * (256 + 64)
		if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got != want {
			t.Errorf("%d allocations, want %d", got, want)
		}
		_, recording = harness.Record(t, command)
		packed[i] = allocated(t, recording)
	}
	t.Logf("as left %d and %d bytes, packed %d and %d", left[0], left[1], packed[0], packed[1])
	if left[0] != left[1] {
		t.Errorf("%d bytes, %d after ten times the work", left[0], left[1])
	}
	if packed[1] > packed[0]+half || packed[0] > packed[1]+half {
		t.Errorf("packed %d bytes, %d after ten times the work", packed[0], packed[1])
	}
	if left[0] > 512<<10 || packed[0] > 256<<10 {
		t.Errorf("%d bytes, %d packed, for 64 call paths", left[0], packed[0])
	}
}
