package harness

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Counts are the calls of one process or of several, by the rules of the counting preload (test/count) and of a
// report's totals.
type Counts struct {
	Mallocs, Callocs, Reallocs, Strdups, Wcsdups, Aligned, News uint64
	Frees, FreeNulls, Failed, Bytes                             uint64
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Mallocs += other.Mallocs
	c.Callocs += other.Callocs
	c.Reallocs += other.Reallocs
	c.Strdups += other.Strdups
	c.Wcsdups += other.Wcsdups
	c.Aligned += other.Aligned
	c.News += other.News
	c.Frees += other.Frees
	c.FreeNulls += other.FreeNulls
	c.Failed += other.Failed
	c.Bytes += other.Bytes
}

// Allocations is the number of calls that returned a block.
func (c Counts) Allocations() uint64 {
	return c.Mallocs + c.Callocs + c.Reallocs + c.Strdups + c.Wcsdups + c.Aligned + c.News
}

// CountedProcess is one process image and its counts.
type CountedProcess struct {
	Executable string
	Counts     Counts
}

// countFile mirrors test/count/layout.h.
type countFile struct {
	Magic      uint64
	Pid        uint64
	Executable [256]byte
	Counts     Counts
}

const countMagic = 0x544e554f43574c4d

// Count runs the command under the counting preload and returns how it ended and its process images, ordered by
// executable and calls.
//
// `like` holds the values of LD_PRELOAD and MALLOW_OPTIONS of the recorded run that this one is compared with: the counter
// runs with values of the same lengths, because programs such as shells copy their environment.
func Count(t testing.TB, command Command, like Preloaded) (Result, []CountedProcess) {
	t.Helper()
	folder := TempDir(t)
	library := padded(t, filepath.Join(folder, "l"), len(like.Library), ".so")
	CopyProgram(t, Counter(t), library)
	results := padded(t, filepath.Join(folder, "r"), len(like.Options)-len("record="), "")
	mustMakeFolder(t, results)
	result := Run(t, command.with("LD_PRELOAD="+library, "MALLOW_OPTIONS=record="+results))
	return result, readCounts(t, results)
}

// Preloaded are the values of LD_PRELOAD and MALLOW_OPTIONS that a recorded program sees.
type Preloaded struct{ Library, Options string }

// RecordedEnvironment asks a recorded program for the environment that `mallow record` gives it.
func RecordedEnvironment(t testing.TB) Preloaded {
	t.Helper()
	result, _ := Record(t, Command{Arguments: []string{"/usr/bin/env"}})
	var seen Preloaded
	for _, line := range strings.Split(result.Output, "\n") {
		if value, found := strings.CutPrefix(line, "LD_PRELOAD="); found {
			seen.Library = value
		}
		if value, found := strings.CutPrefix(line, "MALLOW_OPTIONS="); found {
			seen.Options = value
		}
	}
	if seen.Library == "" || !strings.HasPrefix(seen.Options, "record=") {
		t.Fatalf("a recorded env printed no LD_PRELOAD and MALLOW_OPTIONS:\n%s%s", result.Output, result.Errors)
	}
	return seen
}

// padded lengthens the path to exactly `length` bytes, suffix included; the last component takes the padding.
func padded(t testing.TB, path string, length int, suffix string) string {
	t.Helper()
	missing := length - len(path) - len(suffix)
	if missing < 0 || missing > 200 {
		t.Fatalf("cannot make %s%s %d bytes long", path, suffix, length)
	}
	return path + strings.Repeat("x", missing) + suffix
}

func readCounts(t testing.TB, folder string) []CountedProcess {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "count-*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("the counter left no file in %s (%v)", folder, err)
	}
	var processes []CountedProcess
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file countFile
		if err := binary.Read(bytes.NewReader(content), binary.LittleEndian, &file); err != nil || file.Magic != countMagic {
			t.Fatalf("%s is no file of the counter (%v)", path, err)
		}
		executable, _, _ := strings.Cut(string(file.Executable[:]), "\x00")
		processes = append(processes, CountedProcess{executable, file.Counts})
	}
	SortProcesses(processes)
	return processes
}

// SortProcesses orders processes by executable and counts, so that those of two runs can be compared.
func SortProcesses(processes []CountedProcess) {
	slices.SortFunc(processes, func(left, right CountedProcess) int {
		return cmp.Or(
			cmp.Compare(left.Executable, right.Executable),
			cmp.Compare(left.Counts.Allocations(), right.Counts.Allocations()),
			cmp.Compare(left.Counts.Bytes, right.Counts.Bytes),
			cmp.Compare(left.Counts.Frees, right.Counts.Frees),
			cmp.Compare(left.Counts.FreeNulls, right.Counts.FreeNulls))
	})
}
