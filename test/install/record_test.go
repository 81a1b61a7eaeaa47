package install

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// A program that libmallow is linked into records itself; a library that is preloaded beside it keeps still.
func TestRecordLinkedProgram(t *testing.T) {
	header := headers("mallow", "tc.h", "tc_extension.h")
	registrations := 0
	for _, linked := range []struct {
		name      string
		arguments []string
	}{
		{"shared", pkgConfig(t, "mallow")},
		{"archive", append(pkgConfig(t, "mallow-static"), "-lstdc++")},
		{"static-pie", append(pkgConfig(t, "--static", "mallow"), "-lstdc++", "-static-pie")},
		{"static", append(pkgConfig(t, "--static", "mallow"), "-lstdc++", "-static")},
		{"stripped", append(pkgConfig(t, "--static", "mallow"), "-lstdc++", "-static", "-s")},
	} {
		t.Run(linked.name, func(t *testing.T) {
			program := compiled(t, "tc.c", append(append(header, "-g"), linked.arguments...)...)
			result, recording := harness.Record(t, harness.Command{Arguments: []string{program}, Settings: []string{libraryPath(t)}})
			if result.Status != 0 || result.Output != "mallow\n" {
				t.Fatalf("%s\n%s%s", result.Ending(), result.Output, result.Errors)
			}
			report := harness.ReadReport(t, recording)
			if len(report.Processes) != 1 || report.Totals.Mallocs < 100_000 || report.Totals.Mallocs > 101_000 {
				t.Errorf("%d processes, %d mallocs", len(report.Processes), report.Totals.Mallocs)
			}
			// The same program as before, but for the names.
			if linked.name != "stripped" {
				registrations = count(report, registersTables)
			}
			if report.Quality.TruncatedStacks != uint64(registrations) {
				t.Errorf("%d stacks are not whole, %d register unwind tables", report.Quality.TruncatedStacks, registrations)
			}
			if linked.name != "stripped" && report.SiteIn("Mismatched").Allocations < 100_000 {
				t.Errorf("%d allocations in the function that makes 100,000", report.SiteIn("Mismatched").Allocations)
			}
		})
	}
}

// registersTables tells of a stack of a static program's frame_dummy, of which no unwind table tells: it registers the
// tables of the program, and libgcc allocates for that since 13.
func registersTables(stack harness.Stack) bool {
	return stack.Truncated && slices.ContainsFunc(stack.Frames, func(f harness.Frame) bool { return f.Function == "btree_insert" })
}

func count(report harness.Report, is func(harness.Stack) bool) (n int) {
	for _, site := range report.Sites {
		for _, stack := range site.Stacks {
			if is(stack) {
				n++
			}
		}
	}
	return n
}

func TestLinkedWithMinimalIsRefused(t *testing.T) {
	program := compiled(t, "served.c", pkgConfig(t, "mallow-minimal-static")...)
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "-o", filepath.Join(t.TempDir(), "x.mallow"), "--", program}})
	const reason = "is linked with libmallow's minimal library, which has no recorder; link it with libmallow.a in its place"
	if result.Status != 125 || !strings.Contains(result.Errors, reason) {
		t.Errorf("%s\n%s", result.Ending(), result.Errors)
	}
}
