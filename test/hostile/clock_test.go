package hostile

import (
	"os/exec"
	"testing"

	"mallow/test/harness"
)

// What test/programs/clocked.c makes.
const clockedCalls = 3000 + 2*100

// A clock of the program's own: nothing of libmallow looks at it.
func TestProgramWithItsOwnClock(t *testing.T) {
	command := harness.Command{Arguments: []string{harness.Program(t, "programs/clocked")}}
	alone := harness.Run(t, command)
	for _, flags := range [][]string{nil, {"--cpu"}, {"--log"}} {
		command.Flags = flags
		recorded, recording := harness.Record(t, command)
		sameEnding(t, alone, recorded)
		report := harness.ReadReport(t, recording)
		if got := report.Origins.Program.Allocations; got != clockedCalls {
			t.Errorf("%q: %d allocations, want %d", flags, got, clockedCalls)
		}
		inTime(t, report)
	}
	command.Flags = []string{"--sample", "1K"}
	recorded, _ := harness.Record(t, command)
	sameEnding(t, alone, recorded)

	command.Flags, command.Settings = nil, []string{"LD_PRELOAD=" + harness.Library(t)}
	sameEnding(t, alone, harness.Run(t, command))
}

// inTime checks that a program of a moment is not told to have run for an hour.
func inTime(t *testing.T, report harness.Report) {
	t.Helper()
	const longest = 60
	for _, moment := range report.Timeline {
		if moment.AtS < 0 || moment.AtS > longest {
			t.Errorf("a moment after %g s", moment.AtS)
		}
	}
	for _, site := range report.Sites {
		if site.FirstS != nil && (*site.FirstS < 0 || *site.FirstS > longest) || site.LastS != nil && (*site.LastS < 0 || *site.LastS > longest) {
			t.Errorf("%s: from %g s to %g s", site.Function, *site.FirstS, *site.LastS)
		}
	}
}

// The monotonic clock is another one in a child that begins a time namespace: a day behind its parent's, or before.
func TestTimeNamespace(t *testing.T) {
	needsRoot(t, "make a time namespace")
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip(err)
	}
	for _, offset := range []string{"86400", "-1000"} {
		command := harness.Command{Arguments: []string{
			"/bin/sh", "-c", `"$0" nothing; exec "$@"`, harness.Program(t, "programs/guest"),
			unshare, "--time", "--monotonic", offset, "--fork", harness.Program(t, "programs/guest"), "nothing",
		}}
		alone := harness.Run(t, command)
		if alone.Status != 5 {
			t.Skipf("no time namespace here: %s %s", alone.Ending(), alone.Errors)
		}
		recorded, recording := harness.Record(t, command)
		sameEnding(t, alone, recorded)
		report := harness.ReadReport(t, recording)
		if got := report.SiteIn("allocate").Allocations; got != 2*(guestCalls+childCalls) {
			t.Errorf("%d allocations, want %d", got, 2*(guestCalls+childCalls))
		}
		inTime(t, report)
		roots := 0
		for _, process := range report.Processes {
			if process.Parent == nil {
				roots++
			}
		}
		if roots != 1 {
			t.Errorf("%d processes without a parent: %+v", roots, report.Processes)
		}
	}
}
