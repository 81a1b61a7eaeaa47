package exact

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"mallow/test/harness"
)

var knownPrograms = []struct{ program, source string }{
	{"known", "known.c"},
	{"known_cxx", "known.cc"},
}

func forEachKnown(t *testing.T, check func(t *testing.T, program string, threads uint64, expected expectation)) {
	for _, known := range knownPrograms {
		for _, threads := range []uint64{1, 4} {
			t.Run(fmt.Sprintf("%s/%d", known.source, threads), func(t *testing.T) {
				check(t, known.program, threads, readExpectation(t, known.source))
			})
		}
	}
}

// The independent counter agrees with what the sources say: on the kinds that nobody else in the process uses, to the
// last digit; libc and libstdc++ add a few of the other kinds at start and for each thread.
func TestCounterAgreesWithConstruction(t *testing.T) {
	forEachKnown(t, func(t *testing.T, program string, threads uint64, expected expectation) {
		result, processes := harness.Count(t, harness.Command{
			Arguments: []string{harness.Program(t, "programs/"+program), strconv.FormatUint(threads, 10)},
		}, harness.RecordedEnvironment(t))
		if result.Status != 0 || len(processes) != 1 {
			t.Fatalf("%s, %d processes\n%s", result.Ending(), len(processes), result.Errors)
		}
		got, want := processes[0].Counts, times(expected.sum, threads)
		got.Callocs, want.Callocs = 0, 0 // pthread_create
		got.FreeNulls, want.FreeNulls = 0, 0
		if program == "known_cxx" {
			got.Mallocs, want.Mallocs = 0, 0 // the emergency pool of libstdc++
			got.Bytes, want.Bytes = 0, 0
		}
		if threads > 1 {
			got.Bytes, want.Bytes = 0, 0
		}
		if got != want {
			t.Errorf("counted %+v\nwant    %+v", got, want)
		}
	})
}

// Every function, to the last digit: totals, and each line that allocates.
func TestKnownCounts(t *testing.T) {
	forEachKnown(t, func(t *testing.T, program string, threads uint64, expected expectation) {
		report := recordProgram(t, program, strconv.FormatUint(threads, 10))
		want := times(expected.sum, threads)
		got := report.Origins.Program.Counts()
		got.Frees = report.FreesBesideLibc()
		if got != want {
			t.Errorf("origin program: %+v\nwant            %+v", got, want)
		}
		checkSites(t, report, program, threads, expected)
		checkLive(t, report, threads, expected)
		if report.Quality.Incomplete || report.Quality.TruncatedStacks != 0 {
			t.Errorf("quality %+v", report.Quality)
		}
	})
}

// valgrindsOwn are lines that valgrind itself writes, with -q too: 3.22 cannot read the debug information of a library whose
// code lies in two places, and goes on without.
var valgrindsOwn = regexp.MustCompile(`(?m)^--[0-9]+-- .*\n`)

// Valgrind executes what it made of the code when it first came by, and recording changes code: the program must not die,
// and every call be recorded.
func TestKnownCountsUnderValgrind(t *testing.T) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Skip(err)
	}
	for _, known := range knownPrograms {
		t.Run(known.source, func(t *testing.T) {
			result, folder := harness.Preload(t, harness.Command{
				Arguments: []string{valgrind, "-q", "--tool=none", harness.Program(t, "programs/"+known.program), "1"},
			})
			if result.Status != 0 || valgrindsOwn.ReplaceAllString(result.Errors, "") != "" {
				t.Fatalf("%s\n%s", result.Ending(), result.Errors)
			}
			// Valgrind is started by a shell.
			checkLines(t, harness.ReadReport(t, folder), known.program, 1, readExpectation(t, known.source))
		})
	}
}

func checkSites(t *testing.T, report harness.Report, program string, threads uint64, expected expectation) {
	t.Helper()
	checkLines(t, report, program, threads, expected)
	for _, site := range report.Sites {
		if site.Origin == "program" && site.Allocations > 0 && !expected.has(site.Line) {
			t.Errorf("a site that the source does not have: %s %s:%d, %d allocations", site.Function, site.File, site.Line, site.Allocations)
		}
	}
}

func checkLines(t *testing.T, report harness.Report, program string, threads uint64, expected expectation) {
	t.Helper()
	source := map[string]string{"known": "known.c", "known_cxx": "known.cc"}[program]
	for _, want := range expected.sites {
		site := report.SiteAt(source, want.line)
		if site == nil {
			t.Errorf("%s:%d: not in the report", source, want.line)
			continue
		}
		if site.Allocations != threads*want.values["calls"] || site.Bytes != threads*want.values["bytes"] {
			t.Errorf("%s:%d: %d allocations of %d bytes, want %d of %d", source, want.line, site.Allocations, site.Bytes,
				threads*want.values["calls"], threads*want.values["bytes"])
		}
		if uint64(site.LiveBlocks) != threads*want.values["live"] {
			t.Errorf("%s:%d: %d live blocks, want %d", source, want.line, site.LiveBlocks, threads*want.values["live"])
		}
		if site.Origin != "program" {
			t.Errorf("%s:%d: origin %q", source, want.line, site.Origin)
		}
	}
}

func (e expectation) has(line int) bool {
	for _, site := range e.sites {
		if site.line == line {
			return true
		}
	}
	return false
}

func checkLive(t *testing.T, report harness.Report, threads uint64, expected expectation) {
	t.Helper()
	program := report.Origins.Program
	if uint64(program.LiveBlocks) != threads*expected.live.blocks || uint64(program.LiveBytes) != threads*expected.live.bytes {
		t.Errorf("%d blocks of %d bytes never freed, want %d of %d", program.LiveBlocks, program.LiveBytes,
			threads*expected.live.blocks, threads*expected.live.bytes)
	}
	peak := threads * expected.peak
	if difference(program.PeakBytes, peak) > report.Quality.PeakErrorBytes {
		t.Errorf("peak %d bytes, want %d, error stated as %d", program.PeakBytes, peak, report.Quality.PeakErrorBytes)
	}
	if threads == 1 && report.Quality.PeakErrorBytes != 0 {
		t.Errorf("peak of one thread with an error of %d bytes", report.Quality.PeakErrorBytes)
	}
}

func difference(left, right uint64) uint64 {
	if left > right {
		return left - right
	}
	return right - left
}

// recordProgram records a program of test/programs that must end with status 0 and returns its report.
func recordProgram(t *testing.T, program string, arguments ...string) harness.Report {
	t.Helper()
	result, recording := harness.Record(t, harness.Command{
		Arguments: append([]string{harness.Program(t, "programs/"+program)}, arguments...),
	})
	if result.Status != 0 {
		t.Fatalf("%s: %s\n%s", program, result.Ending(), result.Errors)
	}
	return harness.ReadReport(t, recording)
}
