package price_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"mallow/internal/advise/price"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

const measured = `hot malloc 16 6.97
hot calloc 16 10.90
hot realloc 16 12.08
mixed malloc 16 6.49
hot malloc 1024 20.58
hot calloc 1024 25.42
hot realloc 1024 28.35
mixed malloc 1024 96.36
hot malloc 65536 24.17
hot calloc 65536 1161.66
mixed malloc 65536 663.20
stay realloc 64 6.07
fresh malloc 64 5.18
few malloc 64 7
many malloc 64 7.5
`

func TestRead(t *testing.T) {
	table, err := price.Read(strings.NewReader(measured))
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Hot) != 3 || table.Mixed[1] != (price.Point{Size: 1024, Nanoseconds: 96.36}) || table.Few != 7 {
		t.Errorf("%+v", table)
	}
}

func TestWhatWasNotMeasuredIsRefused(t *testing.T) {
	for name, output := range map[string]string{
		"nothing":      "",
		"text":         "ld.so: cannot open shared object file\n",
		"cut":          measured[:60],
		"negative":     strings.Replace(measured, "663.20", "-663.20", 1),
		"not a number": strings.Replace(measured, "663.20", "NaN", 1),
		"endless":      strings.Replace(measured, "663.20", "+Inf", 1),
		"free malloc":  strings.Replace(measured, "6.97", "0", 1),
		"out of order": strings.Replace(measured, "hot malloc 16 ", "hot malloc 9999999 ", 1),
		"no size":      strings.Replace(measured, "hot malloc 16 ", "hot malloc 0 ", 1),
	} {
		if _, err := price.Read(strings.NewReader(output)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (&price.Costs{}).Check(); err == nil {
		t.Error("costs without tables pass")
	}
}

// program records a program that allocates with so many stacks, so many
// times each, and uses CPU time.
func program(t *testing.T, stacks, calls int, used time.Duration, change func(*recordingtest.Image)) *profile.Profile {
	t.Helper()
	im := recordingtest.NewImage(1, "/bin/program")
	process := recordingtest.NewProcess(im)
	thread := process.Thread()
	for i := range stacks {
		stack := im.Stack(recording.Malloc, im.Symbolic("main", "main.c", "/bin/program", 1), im.Symbolic("work", "work.c", "/bin/program", uint32(i+1)))
		for range calls {
			thread.Free(thread.Alloc(stack, 64))
		}
	}
	im = process.Finish()
	if change != nil {
		change(im)
	}
	return open(t, im, used)
}

// open reads a recording of a program that used so much CPU time.
func open(t *testing.T, im *recordingtest.Image, used time.Duration) *profile.Profile {
	t.Helper()
	folder := t.TempDir()
	if err := im.Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if used > 0 {
		rec.Meta = &recording.Meta{UserSeconds: used.Seconds()}
	}
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.01*math.Abs(want) }

func TestWhatRecordingCostsIsNotTheProgramsTime(t *testing.T) {
	p := program(t, 1, 1000, time.Millisecond, nil)
	run := price.For(p, price.Fixed(20, 80)(price.Glibc))
	// A millisecond, less 1000 calls that cost 100 ns, more 1000 that cost 20.
	if want := 1e6 - 1000*100 + 1000*20; !near(run.Nanoseconds(), float64(want)) {
		t.Errorf("the run took %v ns, want %v", run.Nanoseconds(), want)
	}
	if got := run.Site(p.Sites[0]); !near(got, 20) {
		t.Errorf("an allocation costs %v ns, want 20", got)
	}
	if basis := run.Basis(20); basis != "glibc's malloc at 20 ns a pair, measured on this machine (± 6 %)" {
		t.Error(basis)
	}
}

func TestNeverMoreThanTheProgramUsed(t *testing.T) {
	p := program(t, 1, 1000, 50*time.Microsecond, nil)
	run := price.For(p, price.Fixed(20, 8000)(price.Glibc))
	if run.Nanoseconds() < 20*1000 || run.Nanoseconds() > 50_000 {
		t.Errorf("the run took %v ns", run.Nanoseconds())
	}
	if all := 1000 * run.Site(p.Sites[0]) / run.Nanoseconds(); all > 1 {
		t.Errorf("malloc takes %v of the time", all)
	}
}

func TestSamplesTellTheProgramsTime(t *testing.T) {
	p := program(t, 1, 1000, time.Hour, func(im *recordingtest.Image) {
		im.SampledCPU(1_000_000, 5_000_000_000)
		main := im.Symbolic("main", "main.c", "/bin/program", 1)
		im.CPU(recording.CPUProgram, 4_000_000_000, 4000, main)
		im.CPU(recording.CPURecorder, 1_000_000_000, 1000, main)
	})
	run := price.For(p, price.Fixed(20, 80)(price.Glibc))
	if !near(run.Nanoseconds(), 4e9+20_000) {
		t.Errorf("the run took %v ns, want 4 s", run.Nanoseconds())
	}
	if basis := run.Basis(20); !strings.Contains(basis, ", and CPU samples (± 2 %)") {
		t.Error(basis)
	}
}

func TestUnknownTimeIsNoTime(t *testing.T) {
	costs := price.Fixed(20, 80)(price.Glibc)
	for name, change := range map[string]func(p *profile.Profile){
		"no meta.json": func(p *profile.Profile) { p.Recordings[0].Meta = nil },
		"joined":       func(p *profile.Profile) { p.Recordings[0].Meta.Joined = true },
		"unwaited":     func(p *profile.Profile) { p.Recordings[0].Meta.Unwaited = []uint64{1} },
		"no time":      func(p *profile.Profile) { p.Recordings[0].Meta.UserSeconds = 0 },
		"nonsense":     func(p *profile.Profile) { p.Recordings[0].Meta.UserSeconds = math.NaN() },
		"too much":     func(p *profile.Profile) { p.Recordings[0].Meta.UserSeconds = 1e300 },
		"negative":     func(p *profile.Profile) { p.Recordings[0].Meta.SystemSeconds = -1e6 },
	} {
		p := program(t, 1, 10, time.Second, nil)
		change(p)
		if price.Known(p) {
			t.Errorf("%s: the time is known", name)
		}
		if run := price.For(p, costs); run != nil {
			t.Errorf("%s: the run took %v ns", name, run.Nanoseconds())
		}
	}
	if price.For(program(t, 1, 10, time.Second, nil), nil) != nil {
		t.Error("a run without costs")
	}
}

// Each stack more makes recording dearer, so the program's own time less.
func TestManyStacksAreDearToRecord(t *testing.T) {
	costs := price.Fixed(20, 80)(price.Glibc)
	costs.Recorded.Fresh, costs.Recorded.Few, costs.Recorded.Many = 1000, 120, 600
	last := math.Inf(1)
	for _, stacks := range []int{1, 10, 64, 500} {
		run := price.For(program(t, stacks, 1000/stacks, time.Millisecond*10, nil), costs)
		if run.Nanoseconds() >= last {
			t.Errorf("with %d stacks the run took %v ns, with fewer %v", stacks, run.Nanoseconds(), last)
		}
		last = run.Nanoseconds()
	}
}

// What a realloc costs is a matter of what it has to do: the block grows where it
// is, or goes to another place and is copied.
func TestReallocsAreWhatTheyWereSeenToDo(t *testing.T) {
	const start, step, steps = 1 << 20, 100, 1000
	grow := func(moved bool) float64 {
		im := recordingtest.NewImage(1, "/bin/program")
		process := recordingtest.NewProcess(im)
		process.Detailed = true
		thread := process.Thread()
		main := im.Symbolic("main", "main.c", "/bin/program", 1)
		grows := im.Stack(recording.Realloc, main, im.Symbolic("grow", "main.c", "/bin/program", 2))
		block := thread.Alloc(im.Stack(recording.Malloc, main), start)
		for i := range steps {
			block = thread.ReallocFrom(block, grows, start+step*uint64(i+1), moved, 0)
		}
		thread.Free(block)
		costs := price.Fixed(20, 80)(price.Glibc)
		costs.Plain.Realloc = []price.Point{{Size: 1 << 10, Nanoseconds: 10}, {Size: 1 << 11, Nanoseconds: 20}}
		costs.Plain.Stay = 5
		p := open(t, process.Finish(), time.Second)
		for _, s := range p.Sites {
			if s.Line == 2 {
				return price.For(p, costs).Site(s)
			}
		}
		t.Fatal("no site")
		return 0
	}
	if ns := grow(false); ns > 5 {
		t.Errorf("a realloc in place costs %v ns, want 5 at the most", ns)
	}
	if ns, copying := grow(true), 20+10./1024*(1<<20-1<<11); ns < copying || ns > 1.1*copying+20 {
		t.Errorf("a realloc that copies a block of a megabyte costs %v ns, want about %v", ns, copying)
	}
}

func TestMallocOf(t *testing.T) {
	with := func(path string) price.Malloc {
		p := program(t, 1, 1, 0, func(im *recordingtest.Image) {
			im.Module(recordingtest.Module{Path: path, Kind: recording.ModuleLibrary, Start: 1 << 40, End: 1<<40 + 1<<20})
		})
		return price.MallocOf(p.Recordings)
	}
	for path, want := range map[string]string{
		"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2":         "jemalloc",
		"/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4": "tcmalloc",
		"/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0":       "mimalloc",
		"/usr/lib/x86_64-linux-gnu/libz.so.1":                "glibc's malloc",
		"":                                                   "glibc's malloc",
	} {
		if got := with(path); got.Name != want {
			t.Errorf("%s: %s, want %s", path, got.Name, want)
		}
	}
}
