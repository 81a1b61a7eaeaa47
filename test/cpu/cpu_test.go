// Package cpu holds the CPU samples of programs whose shares are known by construction against the report.
package cpu

import (
	"math"
	"os/exec"
	"testing"

	"mallow/test/harness"
)

// sampled records a program with samples and returns how it ended and the report.
func sampled(t *testing.T, arguments ...string) (harness.Result, harness.Report) {
	t.Helper()
	return recorded(t, []string{"--cpu=1000"}, arguments...)
}

func recorded(t *testing.T, flags []string, arguments ...string) (harness.Result, harness.Report) {
	t.Helper()
	result, recording := harness.Record(t, harness.Command{Arguments: arguments, Flags: flags})
	if result.Status != 0 {
		t.Fatalf("%s\n%s", result.Ending(), result.Errors)
	}
	report := harness.ReadReport(t, recording)
	if report.CPU == nil {
		t.Fatal("no CPU samples in the report")
	}
	return result, report
}

// near fails unless the share is what it must be, to four times its standard error.
func near(t *testing.T, what string, part, whole, want float64, samples uint64) {
	t.Helper()
	if samples < 20 {
		t.Fatalf("%d samples", samples)
	}
	got := part / whole
	if allowed := 4 * math.Sqrt(want*(1-want)/float64(samples)); math.Abs(got-want) > allowed {
		t.Errorf("%s has %.3f of the time, want %.3f +- %.3f", what, got, want, allowed)
	}
}

// sampledTime fails unless the samples of so many threads stand for the time. What a thread uses after its last sample is in
// nobody's figures: a millisecond, but where the machine is busy and its clock ticks rarely, many.
func sampledTime(t *testing.T, what string, got, want float64, threads int) {
	t.Helper()
	if got > 1.1*want || got < 0.9*want-0.06*float64(threads) {
		t.Errorf("%s has %.3f s sampled, want %.3f s", what, got, want)
	}
}

func TestShares(t *testing.T) {
	_, report := sampled(t, harness.Program(t, "programs/cpu_shares"))
	cpu := report.CPU
	near(t, "heavy", cpu.In("heavy"), cpu.TotalS, 0.75, cpu.Samples)
	near(t, "light", cpu.In("light"), cpu.TotalS, 0.25, cpu.Samples)
	if cpu.In("main") < 0.98*cpu.TotalS || cpu.TruncatedShare != 0 {
		t.Errorf("main has %.3f s of %.3f s, %.3f truncated", cpu.In("main"), cpu.TotalS, cpu.TruncatedShare)
	}
	sampledTime(t, "the program", cpu.TotalS, 1.2, 1)
	if math.Abs(cpu.ProcessS-1.2) > 0.12 {
		t.Errorf("%.3f s used, want 1.2 s", cpu.ProcessS)
	}
	if cpu.Lost != 0 || cpu.Unsampled != 0 || cpu.SignalTaken != 0 {
		t.Errorf("%d lost, %d threads without a timer, signal taken %d", cpu.Lost, cpu.Unsampled, cpu.SignalTaken)
	}
}

// What libmallow uses to record is in nobody's figures, and what it uses as a malloc belongs to who called it.
func TestShareOfMalloc(t *testing.T) {
	_, report := sampled(t, harness.Program(t, "programs/cpu_lists"))
	cpu := report.CPU
	if math.Abs(cpu.In("work")-0.6) > 0.1 { // on a busy machine each of thirty pieces ends late
		t.Errorf("work has %.3f s, want 0.6 s", cpu.In("work"))
	}
	all := cpu.In("churn") + cpu.RecorderS
	near(t, "churn with the recorder", all, cpu.TotalS+cpu.RecorderS, 0.5, cpu.Samples)
	if cpu.RecorderS < 0.1 {
		t.Errorf("%.3f s to record 20 ms of every 40, want more", cpu.RecorderS)
	}
	malloc := cpu.In("malloc") + cpu.In("free")
	if got := cpu.MallocShare * cpu.TotalS; got < 0.03 || math.Abs(got-malloc) > 0.001 {
		t.Errorf("malloc and free have %.3f s by their share, %.3f s by function", got, malloc)
	}
	if len(cpu.Callers) != 1 || cpu.Callers[0].Function != "churn" || math.Abs(cpu.Callers[0].CPUS-malloc) > 0.001 {
		t.Errorf("called by %+v, want churn for %.3f s", cpu.Callers, malloc)
	}
}

func TestThreads(t *testing.T) {
	for _, flags := range [][]string{{"--cpu=1000"}, {"--cpu=1000", "--sample=1M"}} {
		_, report := recorded(t, flags, harness.Program(t, "programs/cpu_threads"))
		expectFourThreads(t, report)
	}
}

func expectFourThreads(t *testing.T, report harness.Report) {
	t.Helper()
	cpu := report.CPU
	for function, want := range map[string]float64{"worker_1": 0.1, "worker_2": 0.2, "worker_3": 0.3, "worker_4": 0.4} {
		near(t, function, cpu.In(function), cpu.TotalS, want, cpu.Samples)
	}
	sampledTime(t, "the program", cpu.TotalS, 1, 4)
}

// Threads that never allocate are found by the one that does.
func TestThreadsThatNeverAllocate(t *testing.T) {
	_, report := sampled(t, harness.Program(t, "programs/cpu_silent_threads"))
	cpu := report.CPU
	for _, function := range []string{"silent_1", "silent_2"} {
		if got := cpu.In(function); got < 0.2 || got > 0.5 {
			t.Errorf("%s has %.3f s, want 0.4 s less what it used before it was found", function, got)
		}
	}
	sampledTime(t, "main", cpu.In("main"), 0.4, 1)
}

func TestChildren(t *testing.T) {
	_, report := sampled(t, harness.Program(t, "programs/cpu_children"))
	cpu := report.CPU
	for function, want := range map[string]float64{"in_parent": 0.25, "in_child": 0.5, "after_exec": 0.25} {
		near(t, function, cpu.In(function), cpu.TotalS, want, cpu.Samples)
	}
	// The child without an image of its own has not touched its parent's.
	if math.Abs(cpu.ProcessS-0.8) > 0.08 {
		t.Errorf("%.3f s used, want 0.8 s", cpu.ProcessS)
	}
}

// A program that profiles itself sees its own signals and no others.
func TestProgramWithItsOwnProfiler(t *testing.T) {
	result, report := sampled(t, harness.Program(t, "programs/cpu_own_timer"))
	if want := "right ticks, 0 urgent, no strangers\n"; result.Output != want {
		t.Errorf("printed %q, want %q", result.Output, want)
	}
	if report.CPU.In("main") < 0.3 || report.CPU.SignalTaken != 0 {
		t.Errorf("%.3f s in main, want 0.4", report.CPU.In("main"))
	}
}

// One that takes the signal of the samples keeps it, and the report says so.
func TestProgramWithItsOwnSignal(t *testing.T) {
	result, report := sampled(t, harness.Program(t, "programs/cpu_own_timer"), "urgent")
	if want := "right ticks, 10 urgent, one strangers\n"; result.Output != want {
		t.Errorf("printed %q, want %q", result.Output, want)
	}
	if report.CPU.SignalTaken != 1 {
		t.Errorf("signal taken: %d, want 1", report.CPU.SignalTaken)
	}
}

func TestSleepIsNotDisturbed(t *testing.T) {
	result, report := sampled(t, harness.Program(t, "programs/cpu_sleeper"))
	if want := "0 cut short, 0 reads\n"; result.Output != want {
		t.Errorf("printed %q, want %q", result.Output, want)
	}
	if report.CPU.Samples < 20 {
		t.Errorf("%d samples", report.CPU.Samples)
	}
}

// Without room for signals there are no timers: the program runs as always, and the report says what it lacks.
func TestNoTimer(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip(err)
	}
	_, report := sampled(t, "/usr/bin/prlimit", "--sigpending=0", harness.Program(t, "programs/cpu_shares"))
	if report.CPU.Unsampled == 0 {
		t.Error("no word of the thread that got no timer")
	}
}

func TestWithoutSamples(t *testing.T) {
	_, recording := harness.Record(t, harness.Command{Arguments: []string{"/bin/true"}})
	if report := harness.ReadReport(t, recording); report.CPU != nil {
		t.Errorf("CPU samples that nobody asked for: %+v", report.CPU)
	}
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", "--cpu", recording}})
	if want := "mallow: there are no CPU samples in it: mallow record --cpu takes them\n"; result.Status != 1 || result.Errors != want || result.Output != "" {
		t.Errorf("%s, %q, %q, want %q", result.Ending(), result.Output, result.Errors, want)
	}
}
