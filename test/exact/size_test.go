package exact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mallow/test/harness"
)

// ofFiles sums up what is said of each file of a folder.
func ofFiles(t *testing.T, folder string, bytesOf func(file *os.File) (int64, error)) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		bytes, err := bytesOf(file)
		sum += bytes
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// allocated is what the file takes on disk, in bytes.
func allocated(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512, nil
}

// written is how many bytes of a file lie in pages that were written to. What
// is allocated may be more by the blocks in which a file system keeps where the
// others are: it depends on how they came to lie.
func written(file *os.File) (sum int64, err error) {
	for end := int64(0); ; {
		begin, err := file.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
		if end, err = file.Seek(begin, unix.SEEK_HOLE); err != nil {
			return 0, err
		}
		sum += end - begin
	}
}

// A recording takes as much room after ten times the work: it has a line for each stack, and a timeline that has an end.
// The shorter run has filled that, by its events alone: 1,024 moments, of 3.8 million allocations. To the byte,
// as the process leaves it; when it is packed, what is not used of the timeline goes, which is full or down to a half.
func TestSizeDoesNotGrow(t *testing.T) {
	const rounds, half = 12000, 512 * 64
	program := harness.Program(t, "programs/long")
	var left, data, packed [2]int64
	for i, times := range []int{1, 10} {
		command := harness.Command{Arguments: []string{program, fmt.Sprint(times * rounds)}}
		result, recording := harness.Preload(t, command)
		if result.Status != 0 {
			t.Fatalf("%s: %s", result.Ending(), result.Errors)
		}
		left[i], data[i] = ofFiles(t, recording, allocated), ofFiles(t, recording, written)
		want := uint64(times*rounds) * (256 + 64)
		if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got != want {
			t.Errorf("%d allocations, want %d", got, want)
		}
		_, recording = harness.Record(t, command)
		packed[i] = ofFiles(t, recording, allocated)
	}
	t.Logf("as left %d and %d bytes, packed %d and %d", left[0], left[1], packed[0], packed[1])
	if data[0] != data[1] {
		t.Errorf("%d bytes, %d after ten times the work", data[0], data[1])
	}
	if packed[1] > packed[0]+half || packed[0] > packed[1]+half {
		t.Errorf("packed %d bytes, %d after ten times the work", packed[0], packed[1])
	}
	if left[0] > 512<<10 || packed[0] > 256<<10 {
		t.Errorf("%d bytes, %d packed, for 64 call paths", left[0], packed[0])
	}
}
