package exact

import (
	"testing"

	"mallow/test/harness"
)

// What a thread did is told from what all did, also of stacks that several threads share.
func TestThreadFilter(t *testing.T) {
	lines := markedLines(t, "phases.c", "site")
	recording := recordOnly(t, "phases", "4", "20000")
	report := harness.ReadReport(t, recording, "--thread", "main", "--origin", "program")
	for what, want := range map[string]uint64{"keep": 20000, "serve": 20000} {
		site := report.SiteAt("phases.c", lines[what])
		if site == nil || site.Allocations != want || site.LiveBlocks != 0 || site.Threads == nil || *site.Threads != 1 {
			t.Errorf("%s by the first thread: %+v, want %d allocations and nothing live", what, site, want)
		}
	}
	if report.Totals.Allocations != 40000 {
		t.Errorf("%d allocations of the first thread, want 40000", report.Totals.Allocations)
	}
}

// A stack is within a phase when it allocated then.
func TestPhaseFilter(t *testing.T) {
	lines := markedLines(t, "phases.c", "site")
	recording := recordOnly(t, "phases", "1", "2000000")
	for phase, want := range map[string]string{"start-up": "keep", "steady": "serve"} {
		report := harness.ReadReport(t, recording, "--phase", phase)
		if site := report.SiteAt("phases.c", lines[want]); site == nil {
			t.Errorf("%s: it lacks %s", phase, want)
		}
	}
	report := harness.ReadReport(t, recording, "--phase", "shutdown", "--origin", "program")
	if site := report.SiteAt("phases.c", lines["keep"]); site != nil {
		t.Errorf("shutdown: %+v, which allocated at the start alone", site)
	}
}

// The small ones: stacks whose greatest block is no larger.
func TestSizeFilter(t *testing.T) {
	lines := markedLines(t, "phases.c", "site")
	recording := recordOnly(t, "phases", "1", "1000")
	report := harness.ReadReport(t, recording, "--max-size", "64", "--origin", "program")
	if report.SiteAt("phases.c", lines["keep"]) == nil || report.SiteAt("phases.c", lines["serve"]) != nil || report.Totals.Allocations != 20000 {
		t.Errorf("blocks of 64 bytes at the most: %+v", report.Totals)
	}
}

func recordOnly(t *testing.T, program string, arguments ...string) (recording string) {
	t.Helper()
	result, recording := harness.Record(t, harness.Command{Arguments: append([]string{harness.Program(t, "programs/"+program)}, arguments...)})
	if result.Status != 0 {
		t.Fatalf("%s: %s\n%s", program, result.Ending(), result.Errors)
	}
	return recording
}
