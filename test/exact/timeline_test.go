package exact

import (
	"strings"
	"testing"

	"mallow/test/harness"
)

// The phases are those of the source, to the distance of two samples, also when the samples were halved many times.
func TestPhases(t *testing.T) {
	lines := markedLines(t, "phases.c", "site")
	for _, test := range []struct {
		name, threads, rounds string
		kept, served          uint64
	}{
		{"one thread", "1", "30000", 20000, 30000},
		{"four threads", "4", "20000", 80000, 80000},
		{"long", "1", "2000000", 20000, 2000000},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := recordProgram(t, "phases", test.threads, test.rounds)
			checkMoments(t, report.Timeline)
			// The peak of several threads is exact to 64 KiB of each.
			if blocks := report.SiteAt("phases.c", lines["keep"]).PeakBlocks; blocks == nil || apart(*blocks, test.kept) > report.Quality.PeakErrorBytes/64 {
				t.Errorf("%v blocks at the peak, want %d", blocks, test.kept)
			}
			all := test.kept + test.served
			// Two moments, and what a thread is ahead of another for.
			distance := 2*2*all/uint64(len(report.Timeline)) + 4*512
			var got []string
			for _, phase := range report.Phases {
				got = append(got, phase.Name)
			}
			if len(got) != 3 || got[0] != "start-up" || got[1] != "steady state" || got[2] != "shutdown" {
				t.Fatalf("phases %q of %d moments", got, len(report.Timeline))
			}
			for i, want := range []struct{ allocations, releases uint64 }{{test.kept, 0}, {test.served, test.served}, {0, test.kept}} {
				phase := report.Phases[i]
				if apart(phase.Allocations, want.allocations) > distance || apart(phase.Releases, want.releases) > distance {
					t.Errorf("%s: %d allocations and %d releases, want %d and %d, to %d", phase.Name, phase.Allocations,
						phase.Releases, want.allocations, want.releases, distance)
				}
			}
			if live := report.Phases[1].LiveBlocks; apart(uint64(live), test.kept) > distance {
				t.Errorf("%d live blocks at the end of the steady state, want %d", live, test.kept)
			}
			var kept, released int64
			for _, moment := range report.Timeline {
				for _, change := range moment.Changed {
					if change.Line == lines["keep"] {
						kept, released = kept+max(0, change.Bytes), released+min(0, change.Bytes)
					}
				}
			}
			const size = 64
			for what, bytes := range map[string]int64{"kept": kept, "released": -released} {
				if least := int64(test.kept) * size / 2; bytes < least || bytes > 4*least {
					t.Errorf("changes by what was %s: %d bytes, want about %d", what, bytes, 2*least)
				}
			}
		})
	}
}

// What libc makes is in the phases and not in the head line, which has to be said where it shows.
func TestPhasesWithLibc(t *testing.T) {
	for _, test := range []struct {
		opened string
		said   bool
	}{{"0", false}, {"3000", true}} {
		recording := recordOnly(t, "phases", "1", "30000", test.opened)
		report := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", recording}}).Output
		if !strings.Contains(report, "steady state") || strings.Contains(report, "; libc's with them\n") != test.said {
			t.Errorf("%s files opened:\n%s", test.opened, report)
		}
	}
}

func apart(a, b uint64) uint64 { return max(a, b) - min(a, b) }

func checkMoments(t *testing.T, moments []harness.Moment) {
	t.Helper()
	if len(moments) < 8 || len(moments) > 1025 {
		t.Fatalf("%d moments", len(moments))
	}
	for i := range moments[1:] {
		before, after := moments[i], moments[i+1]
		if after.AtS < before.AtS || after.Allocations < before.Allocations || after.Releases < before.Releases {
			t.Fatalf("moment %d goes back: %+v, %+v", i+1, before, after)
		}
	}
}

// Each process has a course of its own; those of a family are added up.
func TestTimelineOfAFamily(t *testing.T) {
	report := recordProgram(t, "children")
	last := report.Timeline[len(report.Timeline)-1]
	checkMoments(t, report.Timeline)
	if last.Allocations > report.Totals.Allocations || last.Allocations < report.Totals.Allocations/2 {
		t.Errorf("%d allocations at the end of the timeline, %d in all", last.Allocations, report.Totals.Allocations)
	}
}
