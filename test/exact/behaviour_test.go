package exact

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mallow/test/harness"
)

// An operator new that throws is one failed call, however often its new_handler was asked.
func TestThrowingNewIsOneFailure(t *testing.T) {
	result, recording := harness.Record(t, harness.Command{Arguments: []string{harness.Program(t, "programs/thrown_cxx")}})
	if result.Output != "41 3\n" || result.Status != 0 {
		t.Fatalf("%s, printed %q\n%s", result.Ending(), result.Output, result.Errors)
	}
	report := harness.ReadReport(t, recording)
	if program := report.Origins.Program; program.Failed != 41 || program.News != 0 {
		t.Errorf("%d failed, %d news, want 41 and 0", program.Failed, program.News)
	}
}

func TestTemporaryAndShortLived(t *testing.T) {
	report := recordProgram(t, "temporary")
	for _, want := range readExpectation(t, "temporary.c").sites {
		site := report.SiteAt("temporary.c", want.line)
		if site == nil {
			t.Errorf("temporary.c:%d: not in the report", want.line)
			continue
		}
		got := map[string]uint64{
			"calls": site.Allocations, "bytes": site.Bytes, "temporary": site.Temporary, "short_lived": site.ShortLived,
		}
		for key, value := range want.values {
			if got[key] != value {
				t.Errorf("temporary.c:%d (%s): %s is %d, want %d", want.line, site.Function, key, got[key], value)
			}
		}
	}
}

// Which caller made how many at one line.
func TestStacksAreAttributed(t *testing.T) {
	site := recordProgram(t, "stacks").SiteIn("allocate")
	if site.Allocations != 143 {
		t.Errorf("%d allocations, want 143", site.Allocations)
	}
	for function, want := range map[string]uint64{"by_first": 100, "by_second": 12, "by_inlined": 30, "inlined": 30, "by_callback": 1, "compare": 1, "main": 143} {
		if got := through(site, function); got != want {
			t.Errorf("%d allocations through %s, want %d", got, function, want)
		}
	}
}

// through sums the stacks that a function is on.
func through(site harness.Site, function string) uint64 {
	var sum uint64
	for _, stack := range site.Stacks {
		for _, frame := range stack.Frames {
			if harness.PlainName(frame.Function) == function {
				sum += stack.Allocations
				break
			}
		}
	}
	return sum
}

// No depth limit: the whole stack of 100,000 calls is there.
func TestDeepRecursion(t *testing.T) {
	report := recordProgram(t, "recursion")
	site := report.SiteIn("descend")
	if site.Allocations != 64 || report.Quality.TruncatedStacks != 0 {
		t.Fatalf("%d allocations, %d truncated stacks, want 64 and 0", site.Allocations, report.Quality.TruncatedStacks)
	}
	for _, stack := range site.Stacks {
		depth := 0
		for _, frame := range stack.Frames {
			if frame.Function == "descend" {
				depth++
			}
		}
		if depth != 100001 {
			t.Errorf("%d frames of descend, want 100001", depth)
		}
	}
}

func TestLibrariesThatComeAndGo(t *testing.T) {
	plugins := []string{harness.Program(t, "programs/plugin_a.so"), harness.Program(t, "programs/plugin_b.so")}
	report := recordProgram(t, "unload", plugins...)
	for function, want := range map[string]uint64{"plugin_a": 500, "plugin_b": 350} {
		site := report.SiteIn(function)
		if site.Allocations != want {
			t.Errorf("%s: %d allocations, want %d", function, site.Allocations, want)
		}
		if got := through(site, "main"); got != want {
			t.Errorf("%s: %d allocations on stacks that reach main, want %d", function, got, want)
		}
	}
}

// A library that is built anew and loaded again from the same path lies at the same addresses. Where it has no build id, as
// lld makes them, the two are told apart by their segments: what is in the file now has names, and the other's calls are
// not counted for it.
func TestLibraryThatIsReplaced(t *testing.T) {
	folder := harness.TempDir(t)
	build := func(name, source string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path+".c", []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.Command("cc", "-O1", "-g", "-fno-builtin", "-fPIC", "-shared", "-Wl,--build-id=none", "-o", path+".so", path+".c")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		return path + ".so"
	}
	const plugin = "#include <stdlib.h>\nvoid plugin(int calls) { while (calls--) free(malloc(48)); }\n"
	first := build("first", "int sum(int n) { int s = 0; while (n--) s += n * s; return s; }\n"+plugin)
	second := build("second", "int before(void) { return 1; }\n"+plugin)
	report := recordProgram(t, "replaced", filepath.Join(folder, "plugin.so"), first, second)
	if got := report.SiteIn("plugin").Allocations; got != 350 {
		t.Errorf("%d allocations of the second file, want 350", got)
	}
	if got := report.Origins.Libraries.Allocations; got != 850 {
		t.Errorf("%d allocations, want 850", got)
	}
}

// Processes and threads: all calls of the program itself, whoever made them.
func TestProcessesAndThreads(t *testing.T) {
	for _, test := range []struct {
		program              string
		status               int
		processes            int
		allocations, frees   uint64 // of the program itself
		liveBlocks           int64
		site                 string
		siteCalls, siteBytes uint64
	}{
		{program: "children", processes: 21, allocations: 21001, frees: 19021, liveBlocks: 2000, site: "in_child", siteCalls: 20000, siteBytes: 800000},
		{program: "grandchildren", processes: 8, allocations: 870, frees: 870, site: "allocate", siteCalls: 870, siteBytes: 13920},
		{program: "chain", status: 7, processes: 4, allocations: 2000, frees: 1996, liveBlocks: 4, site: "allocate", siteCalls: 2000, siteBytes: 200000},
		{program: "churn", processes: 1, allocations: 40000, frees: 40000, site: "work", siteCalls: 40000, siteBytes: 2560000},
		{program: "handed_over", processes: 1, allocations: 120000, frees: 120000, site: "produce", siteCalls: 120000, siteBytes: 13860000},
		{program: "interrupted", processes: 1, allocations: 400, frees: 400, site: "in_handler", siteCalls: 400, siteBytes: 22400},
		{program: "misaligned", processes: 1, allocations: 15000, frees: 12000, site: "call_off", siteCalls: 15000},
		// 64 x 150, 34 x 3 and the signal stack.
		{program: "narrow", processes: 1, allocations: 9703, frees: 6468, liveBlocks: 1, site: "allocate", siteCalls: 9702},
		// 4 x 160,000 in the threads, 60 x 80 in the children, and the inherited block.
		{program: "storm", processes: 61, allocations: 644801, frees: 644861, site: "in_child", siteCalls: 4800, siteBytes: 432000},
		// Four children of its own, two shells, and ten calls between vfork and exec.
		{program: "started", processes: 7, allocations: 410, frees: 410, site: "allocate", siteCalls: 410, siteBytes: 29520},
	} {
		t.Run(test.program, func(t *testing.T) {
			result, recording := harness.Record(t, harness.Command{Arguments: []string{harness.Program(t, "programs/"+test.program)}})
			if result.Status != test.status {
				t.Fatalf("%s, want status %d\n%s", result.Ending(), test.status, result.Errors)
			}
			report := harness.ReadReport(t, recording)
			if len(report.Processes) != test.processes {
				t.Errorf("%d processes, want %d", len(report.Processes), test.processes)
			}
			allocations, frees, live := callsOf(report, test.program)
			if allocations != test.allocations || frees != test.frees || live != test.liveBlocks {
				t.Errorf("%d allocations, %d frees, %d live blocks, want %d, %d, %d", allocations, frees, live,
					test.allocations, test.frees, test.liveBlocks)
			}
			site := report.SiteIn(test.site)
			if site.Allocations != test.siteCalls || test.siteBytes != 0 && site.Bytes != test.siteBytes {
				t.Errorf("%s: %d allocations of %d bytes, want %d of %d", test.site, site.Allocations, site.Bytes, test.siteCalls, test.siteBytes)
			}
			if report.Quality.Incomplete {
				t.Errorf("incomplete: %v", report.Quality.Warnings)
			}
		})
	}
}

// What the program hands to libc with free it releases itself, and so it does what libc made for it
// and left to it.
func TestFreesByLibc(t *testing.T) {
	report := recordProgram(t, "called_back")
	program, libc := report.Origins.Program, report.Origins.Libc
	if program.Allocations != 10 || program.LiveBlocks != 0 || libc.LiveBlocks != 0 {
		t.Fatalf("%d allocations, %d left, of libc %d", program.Allocations, program.LiveBlocks, libc.LiveBlocks)
	}
	// The last node may be released by a jump to free, which looks like a call of the program's.
	const line, last = 1, 1
	own := libc.Allocations - libc.Reallocs - line
	if frees := report.FreesBesideLibc(); frees+libc.Frees != program.Allocations+line+own || libc.Frees > own || libc.Frees < own-last {
		t.Errorf("%d frees, libc %d; want %d and %d", frees, libc.Frees, program.Allocations+line, own)
	}
}

// What bears a stack that is off by a word with another malloc bears it with this one.
func TestMisalignedStackUnrecorded(t *testing.T) {
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.Program(t, "programs/misaligned")}, Settings: []string{"LD_PRELOAD=" + harness.Library(t)},
	})
	if result.Status != 0 {
		t.Errorf("%s: %s", result.Ending(), result.Errors)
	}
}

// callsOf sums what the images of one program did themselves, without libc.
func callsOf(report harness.Report, program string) (allocations, frees uint64, live int64) {
	for _, process := range report.Processes {
		if filepath.Base(process.Executable) == program {
			allocations += process.Origins.Program.Allocations
			frees += process.Totals.Frees - process.Origins.Libc.Frees
			live += process.Origins.Program.LiveBlocks
		}
	}
	return allocations, frees, live
}

// What a finished thread leaves the next one takes over: the recording does not grow with the number of threads, and
// the stated error of the peak is that of the threads that ran at the same time.
func TestFinishedThreadsAreReused(t *testing.T) {
	report := recordProgram(t, "churn")
	if threads := report.Processes[0].Threads; threads > 9 {
		t.Errorf("%d threads at the same time, there were 9 at the most", threads)
	}
	if most := uint64(9 * 64 << 10); report.Quality.PeakErrorBytes > most {
		t.Errorf("peak exact to %d bytes, 9 threads at a time make it %d", report.Quality.PeakErrorBytes, most)
	}
}

func TestVforkChildrenAreNamed(t *testing.T) {
	if report := recordProgram(t, "started"); !report.Warned("vfork") {
		t.Errorf("no word of the vfork child that counted in its parent: %q", report.Quality.Warnings)
	}
}

// However many stacks there were before.
func TestLateVforkChildrenAreNamed(t *testing.T) {
	report := recordProgram(t, "late_vforks")
	if warning := "vfork children that are counted in this process: at least 8"; !report.Warned(warning) {
		t.Errorf("no %q in %q", warning, report.Quality.Warnings)
	}
}

// A daemon goes on recording after the program that was started, and the CLI with it, have ended.
func TestDaemonGoesOn(t *testing.T) {
	report := harness.RecordDaemon(t)
	if got := report.SiteIn("serve").Allocations; got != 2000 {
		t.Errorf("%d allocations of the daemon, want 2000", got)
	}
}

// Of a type are the blocks that hold it, and not what an object in them has allocated for itself.
func TestTypes(t *testing.T) {
	_, recording := harness.Record(t, harness.Command{Arguments: []string{harness.Program(t, "programs/typed_cxx")}})
	got := map[string]uint64{}
	for _, site := range harness.ReadReport(t, recording, "--by", "type").Sites {
		got[site.Type] += site.Allocations
	}
	for of, want := range map[string]uint64{
		"std::vector<std::any>":                                 8, // 1, 2, 4 ... 128
		"node of std::list<std::unique_ptr<std::string>>":       30,
		"node of std::map<int, std::shared_ptr<std::string>>":   20,
		"std::string with its shared_ptr":                       20,
		"std::vector<std::promise<int>>":                        7,
		"std::__future_base::_State_baseV2 with its shared_ptr": 50,
	} {
		if got[of] != want {
			t.Errorf("%s: %d blocks, want %d; all: %v", of, got[of], want, got)
		}
	}
}
