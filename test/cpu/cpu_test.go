// Package cpu holds the CPU samples of programs whose shares are known by construction against the report.
package cpu

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"testing"

	"mallow/test/harness"
)

// mostRuns are taken before what is measured is held to be wrong.
const mostRuns = 6

// settles records a program until what all runs together say is right. Timers of CPU time are looked at when the clock ticks,
// 250 times a second or, on a busy machine, much rarer: one run may say little, but several come closer to the truth, or
// stay away from it where something is wrong.
func settles(t *testing.T, flags []string, arguments []string, right func(all *together) error) {
	t.Helper()
	var all together
	var wrong error
	for range mostRuns {
		result, recording := harness.Record(t, harness.Command{Arguments: arguments, Flags: flags})
		if result.Status != 0 {
			t.Fatalf("%s\n%s", result.Ending(), result.Errors)
		}
		report := harness.ReadReport(t, recording)
		if report.CPU == nil {
			t.Fatal("no CPU samples in the report")
		}
		all.add(result.Output, report.CPU)
		if wrong = right(&all); wrong == nil {
			return
		}
		t.Logf("not yet: %v", wrong)
	}
	t.Error(wrong)
}

// together is what several runs say, as if they were one. Times are per run.
type together struct {
	harness.CPU
	runs    float64
	outputs []string
	malloc  float64 // s, by its share
}

func (all *together) add(output string, one *harness.CPU) {
	all.runs++
	all.outputs = append(all.outputs, output)
	all.malloc += one.MallocShare * one.TotalS
	all.Samples += one.Samples
	all.Lost += one.Lost
	all.Unsampled += one.Unsampled
	all.SignalTaken += one.SignalTaken
	all.TotalS += one.TotalS
	all.ProcessS += one.ProcessS
	all.RecorderS += one.RecorderS
	all.TruncatedShare = max(all.TruncatedShare, one.TruncatedShare)
	all.Functions = append(all.Functions, one.Functions...)
	all.Callers = append(all.Callers, one.Callers...)
}

// near holds when the share is what it must be, to four times its standard error.
func (all *together) near(what string, part, whole, want float64) error {
	if all.Samples < 100 {
		return fmt.Errorf("%d samples", all.Samples)
	}
	got := part / whole
	if allowed := 4 * math.Sqrt(want*(1-want)/float64(all.Samples)); math.Abs(got-want) > allowed {
		return fmt.Errorf("%s has %.3f of the time, want %.3f +- %.3f", what, got, want, allowed)
	}
	return nil
}

// lasts holds when the time is what it must be in each run.
func (all *together) lasts(what string, got, want, allowed float64) error {
	if got /= all.runs; math.Abs(got-want) > allowed {
		return fmt.Errorf("%s has %.3f s, want %.3f s +- %.3f", what, got, want, allowed)
	}
	return nil
}

// sampled holds when the samples of so many threads stand for the time. What a thread uses after its last sample is in
// nobody's figures: half of what lies between two of them.
func (all *together) sampled(what string, got, want float64, threads int) error {
	got /= all.runs
	lost := float64(threads) * 2 * all.TotalS / float64(max(all.Samples, 1))
	if got > 1.1*want || got < 0.9*want-lost {
		return fmt.Errorf("%s has %.3f s sampled, want %.3f s less %.3f at the most", what, got, want, lost)
	}
	return nil
}

var often = []string{"--cpu=1000"}

func TestShares(t *testing.T) {
	settles(t, often, []string{harness.Program(t, "programs/cpu_shares")}, func(cpu *together) error {
		if cpu.Lost != 0 || cpu.Unsampled != 0 || cpu.SignalTaken != 0 || cpu.TruncatedShare != 0 {
			t.Errorf("%d lost, %d threads without a timer, signal taken %d, %.3f truncated", cpu.Lost, cpu.Unsampled, cpu.SignalTaken, cpu.TruncatedShare)
		}
		var main error
		if cpu.In("main") < 0.98*cpu.TotalS {
			main = fmt.Errorf("main has %.3f s of %.3f s", cpu.In("main"), cpu.TotalS)
		}
		return errors.Join(main,
			cpu.near("heavy", cpu.In("heavy"), cpu.TotalS, 0.75),
			cpu.near("light", cpu.In("light"), cpu.TotalS, 0.25),
			cpu.sampled("the program", cpu.TotalS, 1.2, 1),
			cpu.lasts("the process", cpu.ProcessS, 1.2, 0.12))
	})
}

// What libmallow uses to record is in nobody's figures, and what it uses as a malloc belongs to who called it.
func TestShareOfMalloc(t *testing.T) {
	settles(t, often, []string{harness.Program(t, "programs/cpu_lists")}, func(cpu *together) error {
		malloc, called := cpu.In("malloc")+cpu.In("free"), 0.0
		for _, caller := range cpu.Callers {
			if caller.Function != "churn" {
				t.Errorf("called by %+v, want churn alone", cpu.Callers)
			}
			called += caller.CPUS
		}
		if math.Abs(cpu.malloc-malloc) > 0.001*cpu.runs || math.Abs(called-malloc) > 0.001*cpu.runs {
			t.Errorf("malloc and free have %.3f s by their share, %.3f s by function, %.3f s by caller", cpu.malloc, malloc, called)
		}
		var little error
		if malloc < 0.03*cpu.runs || cpu.RecorderS < 0.1*cpu.runs {
			little = fmt.Errorf("%.3f s in malloc and free, %.3f s to record in %v runs, want more of half a second each", malloc, cpu.RecorderS, cpu.runs)
		}
		return errors.Join(little,
			cpu.lasts("work", cpu.In("work"), 0.6, 0.1),
			cpu.near("churn with the recorder", cpu.In("churn")+cpu.RecorderS, cpu.TotalS+cpu.RecorderS, 0.5))
	})
}

func TestThreads(t *testing.T) {
	for _, flags := range [][]string{often, {"--cpu=1000", "--sample=1M"}} {
		settles(t, flags, []string{harness.Program(t, "programs/cpu_threads")}, func(cpu *together) error {
			wrong := cpu.sampled("the program", cpu.TotalS, 1, 4)
			for i := 1; i <= 4; i++ {
				worker := fmt.Sprintf("worker_%d", i)
				wrong = errors.Join(wrong, cpu.near(worker, cpu.In(worker), cpu.TotalS, 0.1*float64(i)))
			}
			return wrong
		})
	}
}

// Threads that never allocate are found by the one that does.
func TestThreadsThatNeverAllocate(t *testing.T) {
	settles(t, often, []string{harness.Program(t, "programs/cpu_silent_threads")}, func(cpu *together) error {
		wrong := cpu.sampled("main", cpu.In("main"), 0.4, 1)
		// Less what they used before they were found.
		for _, function := range []string{"silent_1", "silent_2"} {
			wrong = errors.Join(wrong, cpu.lasts(function, cpu.In(function), 0.35, 0.15))
		}
		return wrong
	})
}

// Those that allocate after they were found are not counted twice, or it would seem that there was nobody else to find.
func TestThreadsThatAllocateLate(t *testing.T) {
	for _, children := range []string{"0", "2000"} {
		settles(t, often, []string{harness.Program(t, "programs/cpu_late_threads"), children}, func(cpu *together) error {
			return errors.Join(cpu.sampled("main", cpu.In("main"), 0.4, 1),
				cpu.lasts("silent", cpu.In("silent"), 0.35, 0.15))
		})
	}
}

func TestChildren(t *testing.T) {
	settles(t, often, []string{harness.Program(t, "programs/cpu_children")}, func(cpu *together) error {
		// The child without an image of its own has not touched its parent's.
		wrong := cpu.lasts("the process", cpu.ProcessS, 0.8, 0.08)
		for function, want := range map[string]float64{"in_parent": 0.25, "in_child": 0.5, "after_exec": 0.25} {
			wrong = errors.Join(wrong, cpu.near(function, cpu.In(function), cpu.TotalS, want))
		}
		return wrong
	})
}

// Processes that end before the clock ticks again have their share on average, however rarely samples are taken.
func TestShortProcesses(t *testing.T) {
	for _, flags := range [][]string{often, {"--cpu"}} {
		settles(t, flags, []string{harness.Program(t, "programs/cpu_short")}, func(cpu *together) error {
			return cpu.lasts("briefly", cpu.In("briefly"), 0.5, 0.3) // the clock of a busy machine ticks rarely
		})
	}
}

// A program that profiles itself sees its own signals and no others.
func TestProgramWithItsOwnProfiler(t *testing.T) {
	settles(t, often, []string{harness.Program(t, "programs/cpu_own_timer")}, func(cpu *together) error {
		cpu.printed(t, "right ticks, 0 urgent, no strangers\n")
		if cpu.SignalTaken != 0 {
			t.Errorf("signal taken %d times", cpu.SignalTaken)
		}
		if cpu.In("main") < 0.3*cpu.runs {
			return fmt.Errorf("%.3f s in main of %v runs, want 0.4 s each", cpu.In("main"), cpu.runs)
		}
		return nil
	})
}

func (all *together) printed(t *testing.T, want string) {
	t.Helper()
	for _, output := range all.outputs {
		if output != want {
			t.Errorf("printed %q, want %q", output, want)
		}
	}
}

// One that takes the signal of the samples keeps it, and the report says so.
func TestProgramWithItsOwnSignal(t *testing.T) {
	settles(t, often, []string{harness.Program(t, "programs/cpu_own_timer"), "urgent"}, func(cpu *together) error {
		cpu.printed(t, "right ticks, 10 urgent, one strangers\n")
		if cpu.SignalTaken != 1 {
			t.Errorf("signal taken: %d, want 1", cpu.SignalTaken)
		}
		return nil
	})
}

func TestSleepIsNotDisturbed(t *testing.T) {
	settles(t, often, []string{harness.Program(t, "programs/cpu_sleeper")}, func(cpu *together) error {
		cpu.printed(t, "0 cut short, 0 reads\n")
		if cpu.Samples < 20 {
			return fmt.Errorf("%d samples", cpu.Samples)
		}
		return nil
	})
}

// Without room for signals there are no timers: the program runs as always, and the report says what it lacks.
func TestNoTimer(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip(err)
	}
	settles(t, often, []string{"/usr/bin/prlimit", "--sigpending=0", harness.Program(t, "programs/cpu_shares")}, func(cpu *together) error {
		if cpu.Unsampled == 0 {
			t.Error("no word of the thread that got no timer")
		}
		return nil
	})
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
