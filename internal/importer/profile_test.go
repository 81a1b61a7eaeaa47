package importer

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"mallow/internal/recording"
)

// sampledProfile is one as Go writes it: main calls work, which has helper inlined.
func sampledProfile(t testing.TB, period int64, types ...string) []byte {
	t.Helper()
	functions := []*profile.Function{{ID: 1, Name: "main.main", Filename: "main.go"}, {ID: 2, Name: "main.work", Filename: "work.go"}, {ID: 3, Name: "main.helper", Filename: "work.go"}}
	module := &profile.Mapping{ID: 1, File: "/bin/prog"}
	locations := []*profile.Location{
		{ID: 1, Mapping: module, Line: []profile.Line{{Function: functions[0], Line: 10}}},
		{ID: 2, Mapping: module, Line: []profile.Line{{Function: functions[2], Line: 5}, {Function: functions[1], Line: 20}}},
		{ID: 3, Mapping: module, Address: 0x401000},
	}
	p := &profile.Profile{
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: period,
		Mapping: []*profile.Mapping{module}, Function: functions, Location: locations,
	}
	for _, name := range types {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: name, Unit: "count"})
	}
	add := func(size int64, locations []*profile.Location, values ...int64) {
		p.Sample = append(p.Sample, &profile.Sample{Location: locations, Value: values[:len(types)], NumLabel: map[string][]int64{"bytes": {size}}})
	}
	add(1024, []*profile.Location{locations[1], locations[0]}, 1000, 1024_000, 400, 409_600)
	add(16, []*profile.Location{locations[0]}, 50, 800, 0, 0)
	add(8, []*profile.Location{locations[2], nil}[:1], 3, 24, 3, 24)
	add(1, nil, 1, 1, 1, 1)
	add(5, locations[:1], 2, 10, 4, -20)
	add(5, locations[:1], 0, 0, 0, 0)
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func imageOf(t *testing.T, b []byte) *recording.Image {
	t.Helper()
	_, folder := importText(t, b)
	rec, err := recording.Open(folder)
	if err != nil || len(rec.Images[0].Warnings) > 0 {
		t.Fatal(err, rec.Images[0].Warnings)
	}
	return rec.Images[0]
}

func TestProfile(t *testing.T) {
	im := imageOf(t, sampledProfile(t, 1, "alloc_objects", "alloc_space", "inuse_objects", "inuse_space"))
	var sum recording.Counters
	im.EachStack(func(_ uint32, c *recording.Counters) { sum.Add(c) })
	// Of the sample with less than nothing, as many were made as live.
	if sum.Calls != 1000+50+3+1+4 || sum.Bytes != 1024_000+800+24+1+10 || sum.LiveBlocks() != 400+3+1+4 || sum.LiveBytes() != 409_600+24+1+10 {
		t.Errorf("%+v", sum)
	}
	if im.Executable != "/bin/prog" || im.Sampling != nil {
		t.Error(im.Executable, im.Sampling)
	}
}

func TestProfileOfWhatLives(t *testing.T) {
	im := imageOf(t, sampledProfile(t, 1, "inuse_objects", "inuse_space"))
	var sum recording.Counters
	im.EachStack(func(_ uint32, c *recording.Counters) { sum.Add(c) })
	if sum.Calls != 1056 || sum.LiveBlocks() != 1056 {
		t.Errorf("%+v", sum)
	}
}

// What is not known to live counts as freed, and the recording says so.
func TestProfileOfWhatWasAllocated(t *testing.T) {
	for _, test := range []struct {
		types []string
		says  bool
	}{
		{[]string{"alloc_objects", "alloc_space"}, true},
		{[]string{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}, false},
	} {
		result, _ := importText(t, sampledProfile(t, 1, test.types...))
		says := strings.Contains(strings.Join(result.Notes, "\n"), "what lives is not known, and all of it counts as freed")
		if says != test.says {
			t.Errorf("%q: %q", test.types, result.Notes)
		}
	}
}

// The estimates are those of the profile; of blocks of a kilobyte one in 512 was a sample.
func TestSampledProfile(t *testing.T) {
	im := imageOf(t, sampledProfile(t, 512<<10, "alloc_objects", "alloc_space", "inuse_objects", "inuse_space"))
	if im.Sampling == nil || im.Sampling.MeanBytes != 512<<10 {
		t.Fatalf("%+v", im.Sampling)
	}
	seen := false
	im.EachStack(func(_ uint32, c *recording.Counters) {
		if c.Calls != 1000 {
			return
		}
		seen = true
		chance := 1 - math.Exp(-1024.0/(512<<10))
		want := 1000 * (1 - chance) / chance
		if c.Samples != 2 || c.SizeMin != 1024 || c.SizeMax != 1024 || c.LiveBlocks() != 400 || math.Abs(c.Variance.Calls-want) > 1e-6*want {
			t.Errorf("%+v, want a variance of %v", c, want)
		}
	})
	if !seen {
		t.Error("no stack has 1000 calls")
	}
}

func TestProfileOfSomethingElse(t *testing.T) {
	_, err := Import(t.Context(), bytes.NewReader(sampledProfile(t, 1, "samples", "cpu")), Options{Output: t.TempDir() + "/x.mallow"})
	if err == nil || err.Error() != "expected a heap profile, with alloc_objects and alloc_space or inuse_objects and inuse_space, and found one of samples, cpu" {
		t.Error(err)
	}
}

const jemallocProfile = `heap_v2/524288
  t*: 28: 560000 [40: 800000]
  t0: 20: 400000 [20: 400000]
@ 0x401010 0x401020
  t*: 8: 160000 [20: 400000]
  t0: 8: 160000 [20: 400000]
@ 0x401030
  t*: 20: 400000 [20: 400000]

MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 1 /nowhere/prog
`

// jemalloc's sums are of samples: blocks of 20,000 bytes are one in 26.7.
func TestJemallocProfile(t *testing.T) {
	im := imageOf(t, []byte(jemallocProfile))
	var sum recording.Counters
	stacks := 0
	im.EachStack(func(_ uint32, c *recording.Counters) {
		stacks++
		sum.Add(c)
	})
	times := 1 / (1 - math.Exp(-20_000.0/(512<<10)))
	if got := float64(sum.Calls) / 40; stacks != 2 || math.Abs(got-times) > 0.1 || im.Sampling == nil {
		t.Errorf("%d stacks, each sample stands for %v, not %v: %+v", stacks, got, times, sum)
	}
	if live := float64(sum.LiveBlocks()) / 28; math.Abs(live-times) > 0.1 {
		t.Errorf("of what lives each sample stands for %v, not %v", live, times)
	}
	if len(im.Modules()) != 1 || im.Modules()[0].Path != "/nowhere/prog" {
		t.Errorf("%+v", im.Modules())
	}
	_, err := Import(t.Context(), bytes.NewReader([]byte("heap_v2/524288\n  t*: 1: 2 [0: 0]\nwhat is this\n")), Options{Output: t.TempDir() + "/x.mallow"})
	if err == nil || !strings.Contains(err.Error(), `line 3: expected @ and addresses, or t and sums, of a profile of jemalloc, and found "what is this"`) {
		t.Error(err)
	}
}

// What a server has allocated in a year at one place is no size of a block.
func TestProfileOfManyBytes(t *testing.T) {
	const head = "heap profile: 1: 10 [ 5000000: 5000000000000] @ heapprofile\n"
	result, folder := importText(t, []byte(head+"1: 10 [ 5000000: 5000000000000] @ 0x401010\n"))
	rec, err := recording.Open(folder)
	if err != nil || len(rec.Images[0].Warnings) > 0 {
		t.Fatal(err, rec.Images[0].Warnings)
	}
	rec.Images[0].EachStack(func(_ uint32, c *recording.Counters) {
		if c.Calls != 5_000_000 || c.Bytes != 5_000_000_000_000 || c.LiveBytes() != 10 {
			t.Errorf("%+v", c)
		}
	})
	if result.LiveBytes != 10 {
		t.Errorf("%+v", result)
	}
	line := "1: 10 [ 1: 4000000000000000000] @ 0x401010\n"
	_, err = Import(t.Context(), strings.NewReader(head+line+line), Options{Output: t.TempDir() + "/x.mallow"})
	if err == nil || !strings.Contains(err.Error(), "expected figures that add up to no more than 4611686018427387904") {
		t.Error(err)
	}
}

// A sample of jemalloc's or gperftools' is of blocks of many sizes: small ones
// that died make nothing surer of the great one that lives.
func TestErrorsOfWhatLives(t *testing.T) {
	im := imageOf(t, []byte("heap profile: 1: 100000 [ 1001: 116000] @ heap_v2/524288\n1: 100000 [ 1001: 116000] @ 0x401010\n"))
	im.EachStack(func(_ uint32, c *recording.Counters) {
		chance := 1 - math.Exp(-100_000.0/(512<<10))
		blocks := float64(c.LiveBlocks())
		want := blocks * (1 - chance) / chance
		if blocks == 0 || math.Abs(c.Variance.LiveBlocks-want) > 0.2*want || c.Variance.LiveBytes < 0.8*want*100_000*100_000 {
			t.Errorf("%+v, want a variance of %v", c, want)
		}
	})
}

// A text that ends too early is told from a whole one by its first line, which
// has the sums.
func TestProfileThatIsCut(t *testing.T) {
	gperftools := "heap profile: 28: 560000 [ 40: 800000] @ heapprofile\n" +
		"8: 160000 [ 20: 400000] @ 0x401010 0x401020\n" +
		"20: 400000 [ 20: 400000] @ 0x401030\n\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 1 /nowhere/prog\n"
	for _, whole := range []string{jemallocProfile, gperftools, "heap_v2/1\n  t*: 0: 0 [0: 0]\n\nMAPPED_LIBRARIES:\n"} {
		if result, _ := importText(t, []byte(whole)); len(result.Notes) != 1 {
			t.Errorf("%q", result.Notes)
		}
	}
	for _, cut := range []string{
		jemallocProfile[:strings.Index(jemallocProfile, "@ 0x401030")], jemallocProfile[:strings.Index(jemallocProfile, "@ 0x401010")],
		gperftools[:strings.Index(gperftools, "20: 400000 [ 20: 400000] @")],
	} {
		result, _ := importText(t, []byte(cut))
		const want = "the profile is cut off, or was written without all stacks: its first line tells of 28 blocks in use, "
		if notes := strings.Join(result.Notes, "\n"); !strings.Contains(notes, want) {
			t.Errorf("%q", result.Notes)
		}
	}
}

// What a file says in two bytes takes a hundred in memory: there may be only so
// many parts.
func TestProfileOfTooManyParts(t *testing.T) {
	sample, location := []byte{2<<3 | 2, 0}, []byte{4<<3 | 2, 0x80, 0x80, 0x80, 9} // of 9 << 21 bytes
	lines := bytes.Repeat([]byte{4<<3 | 2, 0}, 9<<20)
	for name, text := range map[string][]byte{
		"samples": bytes.Repeat(sample, mostParts+1), "lines": append(location, lines...), "empty": {2<<3 | 2, 1}, "long": {2<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
	} {
		_, err := Import(t.Context(), bytes.NewReader(text), Options{Output: t.TempDir() + "/x.mallow"})
		if many := strings.Contains(fmt.Sprint(err), "no more than 8388608 samples, places, names and labels in all"); err == nil || many != (len(text) > 100) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if parts := countParts(sampledProfile(t, 1, "alloc_objects", "alloc_space", "inuse_objects", "inuse_space"), true); parts < 20 || parts > 100 {
		t.Errorf("%d parts", parts)
	}
}
