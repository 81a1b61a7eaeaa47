// Both halves are held to format/recording.md: the C++ side must write the recordings of format/testdata byte for
// byte, and the Go side must read from them what they were made to say.
//
//	go test ./internal/recording -run Golden -update     writes them anew, after a change of the format
package recording_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"mallow/internal/recording"
	"mallow/test/harness"
)

var update = flag.Bool("update", false, "write format/testdata anew")

var names = []string{"one_thread", "two_threads", "fork_child", "incomplete", "functions", "cpu_samples", "habits", "huge"}

func testdata(name string) string {
	return filepath.Join(harness.Root(), "format", "testdata", name+".mallow")
}

func TestGoldenWritten(t *testing.T) {
	folder := t.TempDir()
	if output, err := exec.Command(harness.Program(t, "golden/golden_recordings"), folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, name := range names {
		written, err := filepath.Glob(filepath.Join(folder, name+".mallow", "image-*"))
		if err != nil || len(written) == 0 {
			t.Fatalf("%s: no image file: %v", name, err)
		}
		for _, image := range written {
			comparePacked(t, image, filepath.Join(testdata(name), filepath.Base(image)))
		}
	}
}

func comparePacked(t *testing.T, image, golden string) {
	t.Helper()
	if err := recording.Pack(image); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: differs at byte %d of %d", filepath.Base(image), firstDifference(got, want), len(want))
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// total is what a reader sums up over all stacks of an image.
type total struct {
	Calls, Failed, Bytes, Releases, Temporary, ShortLived, ByRealloc, Foreign uint64
	LiveBlocks, LiveBytes                                                     int64
	PeakBytes, PeakProgram                                                    uint64
}

func TestGoldenRead(t *testing.T) {
	for name, want := range map[string][]total{
		"one_thread": {{Calls: 12, Bytes: 560, Releases: 11, Temporary: 10, ShortLived: 11, ByRealloc: 1,
			LiveBlocks: 1, LiveBytes: 300, PeakBytes: 300, PeakProgram: 300}},
		"two_threads": {{Calls: 5, Bytes: 4064, Releases: 3, Foreign: 3,
			LiveBlocks: 2, LiveBytes: 1064, PeakBytes: 4000, PeakProgram: 4000}},
		"fork_child": {
			{Calls: 2, Bytes: 64, LiveBlocks: 2, LiveBytes: 64, PeakBytes: 64, PeakProgram: 64},
			{Calls: 6, Bytes: 92, Releases: 1, Temporary: 1, ShortLived: 1,
				LiveBlocks: 5, LiveBytes: 80, PeakBytes: 92, PeakProgram: 92}},
		"incomplete": {{Calls: 10, Failed: 1, Bytes: 725, LiveBlocks: 10, LiveBytes: 725, PeakBytes: 725, PeakProgram: 725}},
		"habits":     {{Calls: 70028, Bytes: 7000730, Releases: 70028, ByRealloc: 70000, Foreign: 8}},
		"huge": {{Calls: 4e9 + 3, Failed: 1, Bytes: 32e9 + 18<<30, Releases: 4e9 + 1, Temporary: 4e9 - 5, ShortLived: 3<<30 + 7, Foreign: 1,
			LiveBlocks: 2, LiveBytes: 11 << 30, PeakBytes: 18 << 30, PeakProgram: 18 << 30}},
		"functions": {{Calls: 222, Bytes: 3096, LiveBlocks: 213, LiveBytes: 3096, PeakBytes: 3096, PeakProgram: 1680}},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := recording.Open(testdata(name))
			if err != nil {
				t.Fatal(err)
			}
			if len(rec.Images) != len(want) {
				t.Fatalf("%d images, want %d", len(rec.Images), len(want))
			}
			for i, image := range rec.Images {
				if got := sum(image); got != want[i] {
					t.Errorf("image %d:\n got %+v\nwant %+v", i, got, want[i])
				}
			}
		})
	}
}

func sum(image *recording.Image) total {
	var sum total
	image.EachStack(func(_ uint32, c *recording.Counters) {
		sum.Calls += c.Calls
		sum.Failed += c.Failed
		sum.Bytes += c.Bytes
		sum.Releases += c.Releases
		sum.Temporary += c.Temporary
		sum.ShortLived += c.ShortLived
		sum.ByRealloc += c.ByRealloc
		sum.Foreign += c.Foreign
		if c.Bytes > 0 {
			sum.LiveBlocks += c.LiveBlocks()
		}
		sum.LiveBytes += c.LiveBytes()
	})
	sum.PeakBytes, sum.PeakProgram = image.PeakBytes()
	return sum
}

// TestGoldenHuge reads what is kept apart of great figures.
func TestGoldenHuge(t *testing.T) {
	rec, err := recording.Open(testdata("huge"))
	if err != nil {
		t.Fatal(err)
	}
	var got []recording.Counters
	rec.Images[0].EachStack(func(_ uint32, c *recording.Counters) { got = append(got, *c) })
	want := []recording.Counters{
		{Calls: 4e9, Bytes: 32e9, UsableBytes: 64e9, SizeMin: 8, SizeMax: 8,
			Releases: 4e9, ReleasedBytes: 32e9, Temporary: 4e9 - 5, ShortLived: 3<<30 + 7},
		{Calls: 3, Failed: 1, Bytes: 18 << 30, UsableBytes: 19<<30 + 4096, SizeMin: 5 << 30, SizeMax: 7 << 30, PeakBytes: 18 << 30,
			Releases: 1, ReleasedBytes: 7 << 30, Foreign: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestGoldenCPUSamples(t *testing.T) {
	rec, err := recording.Open(testdata("cpu_samples"))
	if err != nil {
		t.Fatal(err)
	}
	im := rec.Images[0]
	if im.CPUInterval != 5e6 || im.CPUProcess != 60e6 {
		t.Errorf("interval %d, process %d", im.CPUInterval, im.CPUProcess)
	}
	type sample struct {
		frame             uint64
		part              recording.CPUPart
		nanoseconds, seen uint64
	}
	var got []sample
	for _, s := range im.CPUSamples() {
		node, _ := im.Node(s.Node)
		got = append(got, sample{node.Value(), s.Part, s.Nanoseconds, s.Samples})
	}
	want := []sample{
		{0, recording.CPUNoRoom, 4e6, 1}, {0, recording.CPURecorder, 7e6, 1}, {0, recording.CPUSampler, 0, 0},
		{0x401205, recording.CPUProgram, 30e6, 6}, {0x401310, recording.CPUAllocator, 5e6, 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestGoldenKnowledge(t *testing.T) {
	rec, err := recording.Open(testdata("habits"))
	if err != nil {
		t.Fatal(err)
	}
	image := rec.Images[0]
	if len(image.Warnings) > 0 {
		t.Errorf("warnings %q", image.Warnings)
	}
	const node, key, buffer = 1, 2, 3
	want := map[uint32]recording.Knowledge{
		node: {
			Births: 14, Runs: 14, LongestRun: 1,
			Size:      []recording.Vote{{Candidate: 40, Lead: 10, Voters: 10}, {Candidate: 40, Lead: 4, Voters: 4}},
			BornAfter: []recording.Vote{{Candidate: key, Lead: 8, Voters: 10}, {Candidate: key, Lead: 2, Voters: 4}},
			Deaths:    14, DeathRuns: 14,
			FreedAfter: []recording.Vote{{Candidate: key, Lead: 12, Voters: 14}},
			FreedBy:    []recording.Vote{{Candidate: caller(t, image, 0x401215), Lead: 14, Voters: 14}},
			Lifetimes:  [32]uint64{3: 4, 4: 6},
			Shards:     []uint32{0, 1}, FirstMs: 3, LastMs: 1000, LastDeathMs: 2000,
		},
		key: {
			Births: 14, Runs: 14, LongestRun: 1,
			Size:      []recording.Vote{{Candidate: 11, Lead: 4, Voters: 10}, {Candidate: 15, Lead: 4, Voters: 4}},
			BornAfter: []recording.Vote{{Candidate: node, Lead: 10, Voters: 10}, {Candidate: node, Lead: 4, Voters: 4}},
			Deaths:    14, DeathRuns: 14,
			FreedAfter: []recording.Vote{{Candidate: node, Lead: 14, Voters: 14}},
			FreedBy:    []recording.Vote{{Candidate: caller(t, image, 0x401320), Lead: 10, Voters: 14}},
			Shards:     []uint32{0, 1}, FirstMs: 3, LastMs: 1000, LastDeathMs: 2001,
		},
		buffer: {
			Births: 70000, Runs: 1, LongestRun: 70000,
			Size:      []recording.Vote{{Candidate: 100, Lead: 70000, Voters: 70000}},
			BornAfter: []recording.Vote{{Candidate: key, Lead: 1, Voters: 1}},
			Deaths:    70000, DeathRuns: 1,
			FreedAfter: []recording.Vote{{Candidate: key, Lead: 1, Voters: 1}},
			FreedBy:    []recording.Vote{{Candidate: caller(t, image, 0x401320), Lead: 70000, Voters: 70000}},
			Lifetimes:  [32]uint64{70000},
			Reallocs:   recording.Reallocs{Resized: 69999, Grown: 9, Moved: 7, BytesCopied: 1234, Chained: 69998},
			Shards:     []uint32{0}, FirstMs: 1100, LastMs: 1900, LastDeathMs: 1950,
		},
	}
	image.EachStack(func(id uint32, _ *recording.Counters) {
		if got := image.Knowledge(id); !reflect.DeepEqual(*got, want[id]) {
			t.Errorf("stack %d:\n got %+v\nwant %+v", id, *got, want[id])
		}
	})
}

func TestGoldenTimeline(t *testing.T) {
	rec, err := recording.Open(testdata("habits"))
	if err != nil {
		t.Fatal(err)
	}
	want := []recording.TimelineSample{
		{Ms: 500, Stacks: 2, Births: 300, LiveBlocks: 290, LiveBytes: 11000,
			Changes: []recording.TimelineChange{{Stack: 2, Bytes: 6000}, {Stack: 1, Bytes: 5000}}},
		{Ms: 1500, Stacks: 4, Births: 40000, LiveBlocks: 20, LiveBytes: 700,
			Changes: []recording.TimelineChange{{Stack: 1, Bytes: -10000}}},
		{Ms: 2001, Stacks: 4, Births: 70028}, // where it ends
	}
	if got := rec.Images[0].Timeline(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// caller returns the child of the root with an address.
func caller(t *testing.T, image *recording.Image, address uint64) uint32 {
	t.Helper()
	for id, node := range image.OwnNodes() {
		if node.Parent == 0 && node.Value() == address && node.Tag() == recording.TagReturn {
			return uint32(id)
		}
	}
	t.Fatalf("no caller at %#x", address)
	return 0
}

// Reallocs say themselves of which stack they are: one far from all that counted, or
// one that cannot be, gets none.
func TestReallocsOfNoStack(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(testdata("habits"), "image-700-1000000000-0"))
	if err != nil {
		t.Fatal(err)
	}
	record := binary.LittleEndian.AppendUint64(nil, 69999) // resized
	record = binary.LittleEndian.AppendUint64(record, 9)   // grown
	at := bytes.Index(b, record) + 56
	if at < 56 || b[at] != 3 {
		t.Fatal("the reallocs are not there")
	}
	for _, stack := range []uint64{64, 1 << 31, 1<<32 - 1, 1<<32 + 3, 1<<64 - 1} {
		binary.LittleEndian.PutUint64(b[at:], stack)
		image := read(t, b)
		image.EachStack(func(id uint32, c *recording.Counters) {
			if id > 3 || c.ByRealloc != 0 || image.Knowledge(id).Reallocs != (recording.Reallocs{}) {
				t.Errorf("reallocs of stack %d: stack %d has %+v", stack, id, image.Knowledge(id).Reallocs)
			}
		})
	}
	binary.LittleEndian.PutUint64(b[at:], 0)
	image := read(t, b)
	if got := image.Knowledge(0).Reallocs.Resized; got != 69999 {
		t.Errorf("what has no stack was resized %d times", got)
	}
}
