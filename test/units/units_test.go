// Package units tests what a recording knows of regions and units of work, on programs whose figures are known by
// construction: linked with libmallow, not linked, at a fixed address or not, in C and C++.
package units

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"mallow/test/harness"
)

// compiled builds a program of testdata and returns its path.
func compiled(t testing.TB, compiler string, flags ...string) string {
	t.Helper()
	program := filepath.Join(harness.TempDir(t), "program")
	arguments := []string{compiler, "-g", "-fno-builtin", "-I" + filepath.Join(harness.Root(), "include"), "-o", program}
	for _, flag := range flags {
		if strings.HasSuffix(flag, ".c") || strings.HasSuffix(flag, ".cc") {
			flag = filepath.Join(harness.Root(), "test", "units", "testdata", flag)
		}
		arguments = append(arguments, flag)
	}
	if result := harness.Run(t, harness.Command{Arguments: append(arguments, "-pthread")}); result.Status != 0 {
		t.Fatalf("%v: %s", arguments, result.Errors)
	}
	return program
}

func recorded(t testing.TB, arguments ...string) harness.Report {
	t.Helper()
	result, recording := harness.Record(t, harness.Command{Arguments: arguments})
	if result.Status != 0 || result.Output != "done\n" {
		t.Fatalf("%v: %s: %s%s", arguments, result.Ending(), result.Output, result.Errors)
	}
	return harness.ReadReport(t, recording)
}

// work is what the report must say of work.c.
var work = []harness.Region{
	{Name: "request", Entries: 27, Allocations: 81, Bytes: 27 * 64, Frees: 27, LiveBytes: 27 * 32, LiveChangeBytes: 27 * 32},
	{Name: "parse", Entries: 27, Allocations: 54, Bytes: 27 * 32, LiveBytes: 27 * 32, LiveChangeBytes: 27 * 32},
	{Name: "left open", Entries: 4, Allocations: 4, Bytes: 32, LiveBytes: 32, LiveChangeBytes: 32},
	{Name: "walk", Entries: 5, Allocations: 5, Bytes: 120, LiveBytes: 120, LiveChangeBytes: 120},
	{Name: "jump", Entries: 3, Allocations: 3, Bytes: 120, LiveBytes: 120, LiveChangeBytes: 120},
	{Name: "inner", Entries: 3, Allocations: 3, Bytes: 120, LiveBytes: 120, LiveChangeBytes: 120},
	{Name: "handler", Entries: 3, Allocations: 3, Bytes: 168, LiveBytes: 168, LiveChangeBytes: 168},
	{Name: "forked", Entries: 1, Allocations: 3, Bytes: 192, LiveBytes: 192, LiveChangeBytes: 192},
	{Name: "child", Entries: 1, Allocations: 1, Bytes: 64, LiveBytes: 64, LiveChangeBytes: 64},
	{Name: "first", Entries: 1, Inside: 1},
	{Name: "second", Entries: 1, Inside: 1, Allocations: 1, Bytes: 88, LiveBytes: 88},
}

func checkWork(t *testing.T, report harness.Report) {
	t.Helper()
	for _, want := range work {
		got := report.Region(want.Name)
		got.Sites = nil
		if want.Inside > 0 { // stdout's buffer comes, and what exit makes of it goes, inside
			got = harness.Region{Name: got.Name, Entries: got.Entries, Inside: got.Inside}
			want = harness.Region{Name: want.Name, Entries: want.Entries, Inside: want.Inside}
		}
		if !slices.Equal([]any{got.Name, got.Entries, got.Inside, got.Allocations, got.Bytes, got.Frees, got.LiveBytes, got.LiveChangeBytes},
			[]any{want.Name, want.Entries, want.Inside, want.Allocations, want.Bytes, want.Frees, want.LiveBytes, want.LiveChangeBytes}) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	if len(report.Regions) != len(work) {
		t.Errorf("%d regions, want %d", len(report.Regions), len(work))
	}
	for name, want := range map[string]uint64{"request": 27, "sent bytes": 81000, "signals": 3, "children": 1} {
		if got := report.Unit(name).Count; got != want {
			t.Errorf("unit %q: %d, want %d", name, got, want)
		}
	}
	if report.Quality.Incomplete || report.Quality.TruncatedStacks != 0 {
		t.Errorf("quality %+v", report.Quality)
	}
}

func TestWork(t *testing.T) {
	archive := harness.Built(t, "libmallow.a", "libmallow/libmallow.a")
	for name, build := range map[string][]string{
		"position independent":                {"gcc", "-O2", "-fpie", "-pie", "work.c"},
		"at a fixed address":                  {"gcc", "-O2", "-fno-pie", "-no-pie", "work.c"},
		"at a fixed address, not optimized":   {"gcc", "-O0", "-fno-pie", "-no-pie", "work.c"},
		"linked by gold":                      {"gcc", "-O2", "-fno-pie", "-no-pie", "-fuse-ld=gold", "work.c"},
		"optimized when linked":               {"gcc", "-O2", "-flto", "-fno-pie", "-no-pie", "work.c"},
		"C++":                                 {"g++", "-O2", "-fno-pie", "-no-pie", "-x", "c++", "work.c"},
		"C++, not optimized":                  {"g++", "-O0", "-x", "c++", "work.c"},
		"linked with the archive":             {"gcc", "-O2", "work.c", "-Wl,-u,malloc", archive},
		"linked with the archive, fixed":      {"gcc", "-O2", "-fno-pie", "-no-pie", "work.c", "-Wl,-u,malloc", archive},
		"linked with the shared library":      {"gcc", "-O2", "work.c", harness.Library(t), "-Wl,-rpath," + filepath.Dir(harness.Library(t))},
		"bound at the first call, not before": {"gcc", "-O2", "-Wl,-z,lazy", "work.c"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("ld.gold"); err != nil && slices.Contains(build, "-fuse-ld=gold") {
				t.Skip("ld.gold is not installed; binutils has it up to Debian 12")
			}
			program := compiled(t, build[0], build[1:]...)
			if result := harness.Run(t, harness.Command{Arguments: []string{program}}); result.Status != 0 || result.Output != "done\n" {
				t.Fatalf("alone: %s: %s%s", result.Ending(), result.Output, result.Errors)
			}
			checkWork(t, recorded(t, program))
		})
	}
}

// Nothing is lost at a kill, and what is still open is known as far as it went.
func TestKilled(t *testing.T) {
	result, recording := harness.Record(t, harness.Command{Arguments: []string{compiled(t, "gcc", "-O2", "work.c"), "kill"}})
	if result.Signal != syscall.SIGKILL {
		t.Fatal(result.Ending())
	}
	report := harness.ReadReport(t, recording)
	checkWork(t, report)
	for name, want := range map[string]uint64{"first": 168, "second": 88} {
		if got := report.Region(name); got.Bytes != want || got.LiveChangeBytes != int64(want) {
			t.Errorf("%+v, want %d bytes", got, want)
		}
	}
}

// A static program runs without a word; it is recorded when libmallow is linked into it and told to.
func TestStatic(t *testing.T) {
	program := compiled(t, "gcc", "-O2", "-static", "work.c")
	if result := harness.Run(t, harness.Command{Arguments: []string{program}}); result.Status != 0 {
		t.Fatal(result.Ending())
	}
	archive := harness.Built(t, "libmallow.a", "libmallow/libmallow.a")
	program = compiled(t, "gcc", "-O2", "-static", "work.c", "-Wl,-u,malloc", "-Wl,--eh-frame-hdr", archive)
	folder := filepath.Join(harness.TempDir(t), "static.mallow")
	if result := harness.Run(t, harness.Command{Arguments: []string{"/bin/mkdir", folder}}); result.Status != 0 {
		t.Fatal(result.Ending())
	}
	result := harness.Run(t, harness.Command{Arguments: []string{program}, Settings: []string{"MALLOW_OPTIONS=record=" + folder}})
	if result.Status != 0 {
		t.Fatal(result.Ending())
	}
	report := harness.ReadReport(t, folder)
	if got := report.Region("request"); got.Entries != 27 || got.Frees != 27 {
		t.Errorf("%+v", got)
	}
	if got := report.Unit("sent bytes").Count; got != 81000 {
		t.Errorf("%d sent bytes", got)
	}
}

// The minimal library records nothing: a program that tells it of its work runs as before.
func TestMinimal(t *testing.T) {
	library := harness.Built(t, "libmallow/libmallow_minimal.so")
	program := compiled(t, "gcc", "-O2", "-fno-pie", "-no-pie", "work.c")
	result := harness.Run(t, harness.Command{Arguments: []string{program}, Settings: []string{"LD_PRELOAD=" + library}})
	if result.Status != 0 || result.Output != "done\n" {
		t.Errorf("%s: %s%s", result.Ending(), result.Output, result.Errors)
	}
}

func TestLoadedLibrary(t *testing.T) {
	for _, flags := range [][]string{{"-fpie", "-pie"}, {"-fno-pie", "-no-pie"}} {
		host := compiled(t, "gcc", append([]string{"-O2", "host.c"}, flags...)...)
		plugin := compiled(t, "gcc", "-O2", "-shared", "-fPIC", "plugin.c")
		report := recorded(t, host, plugin)
		if got := report.Region("plugin"); got.Entries != 4 || got.Allocations != 4 || got.Bytes != 4*123 {
			t.Errorf("%v: %+v", flags, got)
		}
		if got := report.Unit("plugged").Count; got != 8 {
			t.Errorf("%v: %d", flags, got)
		}
	}
}

func TestHelperClass(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O2", "-std=c++98"}, {"-O2", "-fno-pie", "-no-pie"}} {
		report := recorded(t, compiled(t, "g++", append(flags, "helper.cc")...))
		for name, want := range map[string][3]uint64{
			"request": {10, 20, 480}, "parse": {10, 10, 160}, "forgotten": {10, 10, 160}, "failed": {5, 5, 40}, "by address": {1, 0, 0},
		} {
			of := report.Region(name)
			var news uint64
			for _, site := range of.Sites { // without what libstdc++ allocates for an exception
				if site.Function != "__cxa_allocate_exception" {
					news += site.Allocations
				}
			}
			if of.Entries != want[0] || name != "failed" && name != "request" && news < want[1] {
				t.Errorf("%v: %s: %+v", flags, name, of)
			}
		}
		if inside := report.Region("request").Inside; inside != 0 {
			t.Errorf("%v: %d still inside", flags, inside)
		}
	}
}

// A report of one region has only its sites, and the units divide what was allocated inside.
func TestReportOfARegion(t *testing.T) {
	_, recording := harness.Record(t, harness.Command{Arguments: []string{compiled(t, "gcc", "-O2", "work.c")}})
	report := harness.ReadReport(t, recording, "--region", "request")
	if report.Totals.Allocations != 81 || report.Totals.Frees != 27 || report.Totals.Bytes != 27*64 || report.Totals.LiveBytes != 27*32 {
		t.Errorf("%+v", report.Totals)
	}
	if per := report.Unit("request").AllocationsPerUnit; per == nil || *per != 3 {
		t.Errorf("allocations per request: %v", per)
	}
	names := []string{}
	for _, region := range report.Regions {
		names = append(names, region.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"parse", "request"}) {
		t.Errorf("regions %v", names)
	}
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", "--region", "request", recording}})
	if !strings.Contains(result.Output, "3.00 allocations per request, 64 B (27 of them)\n") ||
		!strings.Contains(result.Output, "one allocation per 1.00 kB sent (81.0 kB)\n") {
		t.Errorf("%s", result.Output)
	}
	result = harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", "--region", "nothing", recording}})
	if result.Status != 1 || !strings.Contains(result.Errors, "no region nothing") {
		t.Errorf("%s: %s", result.Ending(), result.Errors)
	}
}

// Whatever a name holds, the report stays a report.
func TestHostileNames(t *testing.T) {
	result, recording := harness.Record(t, harness.Command{Arguments: []string{compiled(t, "gcc", "-O2", "names.c")}})
	if result.Output != "done\n" || strings.ContainsAny(result.Errors, "\x1b\x07") || !utf8.ValidString(result.Errors) {
		t.Fatalf("%s: %q", result.Ending(), result.Errors)
	}
	report := harness.ReadReport(t, recording)
	for _, name := range []string{"", "\x1b[2J\x1b]0;title\x07", "two\nlines, \"quotes\" and \\", strings.Repeat("n", 120)} {
		if got := report.Region(name); got.Entries != 1 || got.Allocations != 1 {
			t.Errorf("%q: %+v", name, got)
		}
	}
	if got := report.Region("deep"); got.Entries != 200 || got.Allocations != 1 {
		t.Errorf("%+v", got)
	}
	if got := report.Unit(strings.Repeat("n", 224)).Count; got != 1 {
		t.Errorf("%d", got)
	}
	if got := report.Unit("far too many").Count; got != 1<<64-2 {
		t.Errorf("%d", got)
	}
	if !strings.Contains(strings.Join(report.Quality.Warnings, "\n"), "too many regions, or too many within each other") {
		t.Errorf("%q", report.Quality.Warnings)
	}
}
