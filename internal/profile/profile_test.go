package profile_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

func number(n uint64) *uint64 { return &n }

func TestTotals(t *testing.T) {
	p := load(t, "single-thread")
	want := profile.Totals{
		Mallocs: 1001, Callocs: 1, Reallocs: 4, Strdups: 40, Wcsdups: 1, Aligned: 1, News: 25,
		Allocations: 1073, Frees: number(1044), FreeNulls: 3, Bytes: 46927, PeakBytes: 18883,
		LiveBlocks: 25, LiveBytes: 1200, Temporary: 1006, ShortLived: 1004 + 2, Failed: 1,
	}
	if !reflect.DeepEqual(p.Totals, want) {
		t.Errorf("got  %+v %d\nwant %+v %d", p.Totals, *p.Totals.Frees, want, *want.Frees)
	}
	libc := p.Origins[profile.OriginLibc]
	if libc.Allocations != 1 || *libc.Frees != 1 || libc.Bytes != 472 {
		t.Errorf("libc: %+v", libc)
	}
	if p.Origins[profile.OriginProgram].Frees != nil {
		t.Error("nobody knows what the program alone released")
	}
	if libraries := p.Origins[profile.OriginLibraries]; libraries.Allocations != 65 || libraries.News != 25 {
		t.Errorf("libraries: %+v", libraries)
	}
}

func TestOriginsAddUp(t *testing.T) {
	for _, golden := range recordingtest.Goldens() {
		p := load(t, golden.Name)
		var sum, sites uint64
		for _, o := range p.Origins {
			sum += o.Allocations
		}
		for _, s := range p.Sites {
			sites += s.Counters.Calls
		}
		if sum != p.Totals.Allocations || sites != p.Totals.Allocations {
			t.Errorf("%s: %d allocations, %d by origin, %d by site", golden.Name, p.Totals.Allocations, sum, sites)
		}
	}
}

func TestSites(t *testing.T) {
	p := load(t, "single-thread")
	if s := site(t, p, "collect", 20); s.Counters.Calls != 1000 || s.File != "demo.c" || s.Origin != profile.OriginProgram {
		t.Errorf("an inlined function behind an inlined wrapper: %+v", s)
	}
	if s := site(t, p, "main", 10); s.Counters.Calls != 1 || s.Counters.Bytes != 800 {
		t.Errorf("behind the wrapper xcalloc: %+v", s)
	}
	if s := site(t, p, "main", 12); s.Counters.Calls != 2 {
		t.Errorf("two calls on one line are one site: %+v", s)
	}
	if s := site(t, p, "libc.so.6+0x7c39f", 0); s.Origin != profile.OriginLibc || s.Named() {
		t.Errorf("without a symbol: %+v", s)
	}
	if first := p.Sites[0]; first.Function != "collect" {
		t.Errorf("the first site is %s", first.Function)
	}
}

func TestMoreWrappers(t *testing.T) {
	p := profile.New(open(t, "single-thread"), profile.Options{
		Symbolizer: profiletest.Demo(), Wrappers: []*regexp.Regexp{regexp.MustCompile("_checked$")},
	})
	if s := site(t, p, "main", 12); s.Counters.Calls != 42 {
		t.Errorf("40 calls of strdup_checked are those of its caller: %+v", s.Counters)
	}
}

func TestEveryAddressIsAskedForOnce(t *testing.T) {
	symbols := profiletest.Demo()
	p := profile.New(open(t, "single-thread", "fork"), profile.Options{Symbolizer: symbols})
	p.Callers(p.Sites)
	p.NamedCallers(p.Sites)
	p.Stacks(p.Sites, 0)
	for address, n := range symbols.Asked {
		if n > 1 {
			t.Errorf("%s was asked for %d times", address, n)
		}
	}
}

func TestCallers(t *testing.T) {
	p := load(t, "single-thread")
	sites := []*profile.Site{site(t, p, "collect", 20), site(t, p, "strdup_checked", 4)}
	callers := p.Callers(sites)
	if len(callers[0]) != 1 || callers[0][0].Function != "run" || callers[0][0].Counters.Calls != 1000 {
		t.Errorf("the function that collect is inlined into: %+v", callers[0])
	}
	if len(callers[1]) != 1 || callers[1][0].Function != "main" || callers[1][0].Line != 12 {
		t.Errorf("%+v", callers[1])
	}
}

func TestNamedCallers(t *testing.T) {
	p := load(t, "fork")
	nameless := site(t, p, "libplugin.so+0x30f", 0)
	callers := p.NamedCallers([]*profile.Site{nameless})
	if len(callers[0]) != 1 || callers[0][0].Function != "main" {
		t.Errorf("%+v", callers[0])
	}
}

func TestWithoutLibc(t *testing.T) {
	p := load(t, "single-thread")
	if s := site(t, p, "libc.so.6+0x7c39f", 0).Without(profile.OriginLibc); s != nil {
		t.Errorf("%+v", s)
	}
	whole := site(t, p, "collect", 20)
	if s := whole.Without(profile.OriginLibc); s == nil || s.Counters != whole.Counters {
		t.Errorf("%+v", s)
	}
	if got := p.WithoutLibc(); got.Allocations != 1072 || *got.Frees != 1043 {
		t.Errorf("%+v", got)
	}
}

// TestProcessesAddUp merges the stacks that parent and child share.
func TestProcessesAddUp(t *testing.T) {
	p := load(t, "fork")
	if len(p.Processes) != 2 || p.Processes[0].Totals.Allocations != 3 || p.Processes[1].Totals.Allocations != 11 {
		t.Fatalf("processes: %+v %+v", p.Processes[0].Totals, p.Processes[1].Totals)
	}
	if p.Totals.PeakBytes != 309+300 {
		t.Errorf("the processes' peaks added: %d", p.Totals.PeakBytes)
	}
	serve := site(t, p, "serve", 7)
	if serve.Counters.Calls != 12 {
		t.Errorf("both processes: %+v", serve.Counters)
	}
	stacks, total := p.Stacks([]*profile.Site{serve}, 0)
	if total[0] != 1 || len(stacks[0]) != 1 || stacks[0][0].Allocations != 12 {
		t.Fatalf("the same stack in two processes is one: %+v", stacks[0])
	}
	var names []string
	for _, f := range stacks[0][0].Frames {
		names = append(names, f.Function)
	}
	if got := strings.Join(names, " "); got != "serve main libc.so.6+0x29d8f _start" {
		t.Errorf("frames %s", got)
	}
	if stacks[0][0].Truncated || stacks[0][0].Function != recording.Malloc {
		t.Errorf("%+v", stacks[0][0])
	}
}

func TestTwoRecordingsAddUp(t *testing.T) {
	once, twice := load(t, "single-thread"), load(t, "single-thread", "single-thread")
	if twice.Totals.Allocations != 2*once.Totals.Allocations || *twice.Totals.Frees != 2**once.Totals.Frees {
		t.Errorf("%+v", twice.Totals)
	}
	if len(twice.Sites) != len(once.Sites) || twice.Sites[0].Counters.Calls != 2*once.Sites[0].Counters.Calls {
		t.Errorf("%d sites, %d in one", len(twice.Sites), len(once.Sites))
	}
}

func TestQuality(t *testing.T) {
	p := load(t, "truncated")
	q := p.Quality
	if q.TruncatedStacks != 2 || q.TruncatedCalls != 31 || q.UnplacedCalls != 7 || !q.Incomplete {
		t.Errorf("%+v", q)
	}
	for _, want := range []string{"disk was full", "stack table is full", "calls in flight"} {
		if !strings.Contains(strings.Join(p.Warnings(), "\n"), want) {
			t.Errorf("no warning about %q in %q", want, p.Warnings())
		}
	}
	if q := load(t, "two-threads").Quality; q.PeakErrorBytes != 2*65536 {
		t.Errorf("two threads: %+v", q)
	}
	if q := load(t, "single-thread").Quality; !reflect.DeepEqual(q, profile.Quality{}) {
		t.Errorf("a clean recording: %+v", q)
	}
}

func TestImportedFrames(t *testing.T) {
	p := load(t, "symbolic")
	if s := site(t, p, "Curl_dyn_addn", 96); s.Counters.Calls != 2 || s.Origin != profile.OriginLibraries {
		t.Errorf("%+v", s)
	}
	if s := site(t, p, "", 1813); s.File != "lib/url.c" || s.Origin != profile.OriginProgram || !s.Known() {
		t.Errorf("%+v", s)
	}
}

// TestTheLoadersStartIsNoCut: the first instructions of the dynamic loader
// have no unwind information, and nothing is outside of them.
func TestTheLoadersStartIsNoCut(t *testing.T) {
	im := recordingtest.NewImage(1, "program")
	loader := im.Module(recordingtest.Module{Path: "/lib64/ld-linux-x86-64.so.2", Kind: recording.ModuleLibc, End: 1 << 20})
	program := im.Module(recordingtest.Module{Path: "/bin/program", Start: 1 << 30, End: 1<<30 + 1<<20, Bias: 1 << 30})
	process := recordingtest.NewProcess(im)
	thread := process.Thread()
	thread.Alloc(im.Stack(recording.Malloc, recordingtest.Truncated(1), recordingtest.Call(loader, 0x1000),
		recordingtest.Call(program, 1<<30+0x10)), 1)
	thread.Alloc(im.Stack(recording.Malloc, recordingtest.Truncated(1), recordingtest.Call(program, 1<<30+0x20)), 1)
	thread.Alloc(im.Stack(recording.Malloc, recordingtest.Truncated(2), recordingtest.Call(loader, 0x1000)), 1)
	p := profileOf(t, process)
	if p.Quality.TruncatedStacks != 2 {
		t.Errorf("%d stacks are cut, want 2", p.Quality.TruncatedStacks)
	}
}

// Several threads may miss the peak; what lives at the end lived at once.
func TestThePeakIsAtLeastWhatLives(t *testing.T) {
	recordings := open(t, "single-thread")
	for _, im := range recordings[0].Images {
		im.SharedPeak, im.SharedPeakProgram = 0, 0
		for i := range im.Shards {
			im.Shards[i].PeakBytes, im.Shards[i].PeakBytesProgram = 0, 0
		}
	}
	p := profile.New(recordings, profile.Options{Symbolizer: profiletest.Demo()})
	if of := p.WithoutLibc(); of.LiveBytes == 0 || of.PeakBytes != of.LiveBytes || p.Totals.PeakBytes != p.Totals.LiveBytes {
		t.Errorf("without libc %+v, in all %+v", of, p.Totals)
	}
}
