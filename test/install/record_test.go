package install

import (
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

// A program that libmallow is linked into records itself; a library that is preloaded beside it keeps still.
func TestRecordLinkedProgram(t *testing.T) {
	header := headers("mallow", "tc.h", "tc_extension.h")
	for name, arguments := range map[string][]string{
		"shared":     pkgConfig(t, "mallow"),
		"archive":    append(pkgConfig(t, "mallow-static"), "-lstdc++"),
		"static":     append(pkgConfig(t, "--static", "mallow"), "-lstdc++", "-static"),
		"static-pie": append(pkgConfig(t, "--static", "mallow"), "-lstdc++", "-static-pie"),
		"stripped":   append(pkgConfig(t, "--static", "mallow"), "-lstdc++", "-static", "-s"),
	} {
		t.Run(name, func(t *testing.T) {
			program := compiled(t, "tc.c", append(append(header, "-g"), arguments...)...)
			result, recording := harness.Record(t, harness.Command{Arguments: []string{program}, Settings: []string{libraryPath(t)}})
			if result.Status != 0 || result.Output != "mallow\n" {
				t.Fatalf("%s\n%s%s", result.Ending(), result.Output, result.Errors)
			}
			report := harness.ReadReport(t, recording)
			if len(report.Processes) != 1 || report.Totals.Mallocs < 100_000 || report.Totals.Mallocs > 101_000 {
				t.Errorf("%d processes, %d mallocs", len(report.Processes), report.Totals.Mallocs)
			}
			if report.Quality.TruncatedStacks != 0 {
				t.Errorf("%d stacks are not whole", report.Quality.TruncatedStacks)
			}
			if name != "stripped" && report.SiteIn("Mismatched").Allocations < 100_000 {
				t.Errorf("%d allocations in the function that makes 100,000", report.SiteIn("Mismatched").Allocations)
			}
		})
	}
}

func TestLinkedWithMinimalIsRefused(t *testing.T) {
	program := compiled(t, "served.c", pkgConfig(t, "mallow-minimal-static")...)
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "-o", filepath.Join(t.TempDir(), "x.mallow"), "--", program}})
	const reason = "is linked with libmallow's minimal library, which has no recorder; link it with libmallow.a in its place"
	if result.Status != 125 || !strings.Contains(result.Errors, reason) {
		t.Errorf("%s\n%s", result.Ending(), result.Errors)
	}
}
