// Package kill ends recorded programs at random moments and in every way, and compares what the recording knows with
// what the program had published before: no returned call may be missing, and at most one call in flight per
// thread may be counted besides.
//
// MALLOW_KILLS sets the number of kill -9 (default 120); other endings are as many as that by variant. MALLOW_KILL_PROOF
// names a file for the results.
package kill

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"mallow/test/harness"
)

// variant is a way to end. The program has `processes` fork children at work (0: itself), of `threads` threads each.
type variant struct {
	name               string
	processes, threads int
	ending             string // the program's own; "none": it is killed from outside
	kill               func(t *testing.T, run *harness.Background, slots []slot)
	under              bool // under `mallow record` instead of a bare preload
}

var variants = []variant{
	{name: "process", threads: 1, ending: "none", kill: killStarted},
	{name: "process of 4 threads", threads: 4, ending: "none", kill: killStarted},
	{name: "group of 3 fork children", processes: 3, threads: 1, ending: "none", kill: killGroup},
	{name: "fork child", processes: 1, threads: 1, ending: "none", kill: killWorkers},
	{name: "2 fork children of 4 threads", processes: 2, threads: 4, ending: "none", kill: killWorkers},
	{name: "program under mallow", threads: 1, ending: "none", kill: killWorkers, under: true},
	{name: "group with mallow in it", threads: 4, ending: "none", kill: killGroup, under: true},
	{name: "terminated", threads: 1, ending: "none", kill: terminate},
	{name: "segmentation fault", threads: 1, ending: "segv"},
	{name: "segmentation fault with 4 threads", threads: 4, ending: "segv"},
	{name: "abort", threads: 1, ending: "abort"},
	{name: "abort in fork children", processes: 2, threads: 1, ending: "abort"},
	{name: "_exit", threads: 1, ending: "_exit"},
	{name: "_exit with 4 threads", threads: 4, ending: "_exit"},
	{name: "exit with 4 threads", threads: 4, ending: "exit"},
	{name: "return", threads: 1, ending: "return"},
	{name: "exec", threads: 1, ending: "exec"},
	{name: "exec with 4 threads", threads: 4, ending: "exec"},
	{name: "exec in fork children", processes: 2, threads: 1, ending: "exec"},
}

// isKilled tells whether kill -9 ends it.
func (v variant) isKilled() bool { return v.ending == "none" && v.name != "terminated" }

func killStarted(_ *testing.T, run *harness.Background, _ []slot) {
	run.Process.Process.Kill()
}

func killGroup(_ *testing.T, run *harness.Background, _ []slot) {
	syscall.Kill(-run.Process.Process.Pid, syscall.SIGKILL)
}

func terminate(_ *testing.T, run *harness.Background, _ []slot) {
	run.Process.Process.Signal(syscall.SIGTERM)
}

// killWorkers kills the processes that work, which have published their ids. One that has not come so far is killed
// with its group.
func killWorkers(t *testing.T, run *harness.Background, slots []slot) {
	for _, slot := range slots {
		if slot.Pid == 0 {
			killGroup(t, run, slots)
			return
		}
		syscall.Kill(int(slot.Pid), syscall.SIGKILL)
	}
}

// slot mirrors struct Slot of test/programs/victim.c.
type slot struct {
	Allocations, Frees, Pid uint64
	Unused                  [5]uint64
}

func TestNoReturnedCallIsLost(t *testing.T) {
	rounds := rounds(t)
	for index, variant := range variants {
		t.Run(variant.name, func(t *testing.T) {
			sum := tally{name: variant.name, killed: variant.isKilled()}
			defer func() { sum.publish() }()
			for round := range rounds {
				sum.add(endOnce(t, variant, uint64(round*len(variants)+index)))
			}
		})
	}
}

// endOnce starts the program, ends it at a random moment and checks its recording.
func endOnce(t *testing.T, variant variant, seed uint64) ending {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	folder := harness.TempDir(t)
	page := filepath.Join(folder, "page")
	workers := max(variant.processes, 1) * variant.threads
	if err := os.WriteFile(page, make([]byte, workers*binary.Size(slot{})), 0o600); err != nil {
		t.Fatal(err)
	}
	recording := filepath.Join(folder, "run.mallow")
	command := harness.Command{Arguments: []string{
		harness.Program(t, "programs/victim"), page, strconv.Itoa(variant.processes), strconv.Itoa(variant.threads),
		variant.ending, strconv.FormatUint(1+random.Uint64N(20000), 10), strconv.FormatUint(seed+1, 10),
	}}
	if variant.under {
		command.Arguments = append([]string{harness.CLI(t), "record", "-o", recording, "--"}, command.Arguments...)
	} else {
		if err := os.Mkdir(recording, 0o700); err != nil {
			t.Fatal(err)
		}
		command.Settings = harness.PreloadSettings(t, recording)
	}
	run := harness.Start(t, command)
	if variant.kill != nil {
		// Every other one by what has been done: on a busy machine a moment soon after the start is before the first call.
		if calls := random.Uint64N(20000); seed/uint64(len(variants))%2 == 1 {
			for deadline := time.Now().Add(harness.Patience); sum(readSlots(t, page)) < calls && time.Now().Before(deadline) && !run.Ended(); {
				time.Sleep(100 * time.Microsecond)
			}
		}
		time.Sleep(time.Duration(random.Int64N(int64(30 * time.Millisecond))))
		variant.kill(t, run, readSlots(t, page))
	}
	run.Wait(t)
	return check(t, variant, fmt.Sprintf("seed %d", seed), recording, readSlots(t, page))
}

func readSlots(t *testing.T, page string) []slot {
	t.Helper()
	file, err := os.Open(page)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	slots := make([]slot, int(info.Size())/binary.Size(slot{}))
	if err := binary.Read(file, binary.LittleEndian, slots); err != nil {
		t.Fatal(err)
	}
	return slots
}

// check compares the recording with the published calls. A process that was killed before it called anything may have no
// recording at all.
func check(t *testing.T, variant variant, label, recording string, slots []slot) ending {
	t.Helper()
	var allocations, frees uint64
	for _, slot := range slots {
		allocations += slot.Allocations
		frees += slot.Frees
	}
	if allocations+frees == 0 {
		return ending{}
	}
	if variant.kill != nil {
		forgetKilledAtBirth(t, recording)
	}
	report := harness.ReadReport(t, recording)
	recorded, released := report.Origins.Program.Allocations, report.FreesBesideLibc()
	if variant.ending == "exec" {
		images := uint64(max(variant.processes, 1))
		if got := report.SiteIn("after_exec").Allocations; got != 10*images {
			t.Errorf("%s: %d allocations after exec, want %d", label, got, 10*images)
		}
		allocations += 10 * images
		frees += 10 * images
	}
	inFlight := int64(recorded-allocations) + int64(released-frees)
	if recorded < allocations || released < frees || inFlight > int64(len(slots)) {
		t.Errorf("%s: recorded %d allocations and %d frees, returned before the end %d and %d, by %d threads", label,
			recorded, released, allocations, frees, len(slots))
	}
	exact := variant.threads == 1 && variant.ending != "none"
	if exact && inFlight != 0 {
		t.Errorf("%s: %d calls in flight at an ending between calls", label, inFlight)
	}
	if report.Quality.Incomplete {
		t.Errorf("%s: incomplete: %q", label, report.Quality.Warnings)
	}
	return ending{returned: allocations + frees, lost: missing(recorded, allocations) + missing(released, frees), inFlight: max(inFlight, 0)}
}

func missing(recorded, returned uint64) uint64 {
	if recorded >= returned {
		return 0
	}
	return returned - recorded
}

// forgetKilledAtBirth removes the empty image files. A process that is killed while it makes its file leaves one like that
// of a process that cannot be recorded, and the report calls the recording incomplete; no call of it had returned.
func forgetKilledAtBirth(t *testing.T, recording string) {
	t.Helper()
	images, err := filepath.Glob(filepath.Join(recording, "image-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range images {
		if info, err := os.Stat(image); err != nil || info.Size() > 0 {
			continue
		}
		if err := os.Remove(image); err != nil {
			t.Fatal(err)
		}
	}
}

// A recording that is read while the program runs knows what had returned before, and nothing that comes after.
func TestReadWhileRunning(t *testing.T) {
	for _, threads := range []int{1, 4} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			folder := harness.TempDir(t)
			page, recording := filepath.Join(folder, "page"), filepath.Join(folder, "run.mallow")
			if err := os.WriteFile(page, make([]byte, threads*binary.Size(slot{})), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(recording, 0o700); err != nil {
				t.Fatal(err)
			}
			run := harness.Start(t, harness.Command{
				Arguments: []string{harness.Program(t, "programs/victim"), page, "0", strconv.Itoa(threads), "none", "1", "7"},
				Settings:  harness.PreloadSettings(t, recording),
			})
			for sum(readSlots(t, page)) == 0 && !run.Ended() {
				time.Sleep(time.Millisecond)
			}
			for range 5 {
				before := sum(readSlots(t, page))
				report := harness.ReadReport(t, recording)
				recorded := report.Origins.Program.Allocations + report.FreesBesideLibc()
				after := sum(readSlots(t, page))
				if recorded < before || recorded > after+uint64(threads) {
					t.Errorf("%d calls recorded, %d had returned before reading and %d after", recorded, before, after)
				}
			}
			run.Stop(t, syscall.SIGKILL)
		})
	}
}

func sum(slots []slot) (calls uint64) {
	for _, slot := range slots {
		calls += slot.Allocations + slot.Frees
	}
	return calls
}
