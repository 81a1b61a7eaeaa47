package text

import (
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/term"
)

// WriteCPU prints where the CPU time went. The error says so where no process
// was sampled.
func WriteCPU(w io.Writer, p *profile.Profile, o Options) error {
	cpu := p.CPU()
	if cpu == nil {
		return fmt.Errorf("there are no CPU samples in it: mallow record --cpu takes them")
	}
	r := newReport(p, o)
	r.line("mallow: " + r.style.bold(seconds(cpu.Total)+" of CPU time") + " in " + counted(cpu.Samples, "sample", "samples") +
		", " + r.allocatorShare(cpu))
	r.line(r.style.dim("        " + ownCost(cpu)))
	r.cpuTable(cpu)
	r.cpuCallers(cpu)
	r.cpuEnding(cpu)
	return r.print(w)
}

// cpuLine is what the report of allocations says of the samples.
func (r *report) cpuLine() {
	if cpu := r.profile.CPU(); cpu != nil {
		r.line("")
		r.line("cpu: " + seconds(cpu.Total) + " in " + counted(cpu.Samples, "sample", "samples") + ", " + r.allocatorShare(cpu) +
			r.style.dim("; "+ownCost(cpu)+"     (mallow report --cpu)"))
	}
}

func (r *report) allocatorShare(cpu *profile.CPU) string {
	return "malloc and free " + percent(cpu.Allocator, cpu.Total) + errorOf(cpu)
}

// errorOf is twice the standard error of the allocator's share.
func errorOf(cpu *profile.CPU) string {
	if cpu.Samples == 0 || cpu.Total == 0 {
		return ""
	}
	// One more of each kind, so that none seen is not taken for none at all.
	share := (float64(cpu.Allocator)/float64(cpu.Total)*float64(cpu.Samples) + 1) / (float64(cpu.Samples) + 2)
	deviation := 2 * math.Sqrt(share*(1-share)/float64(cpu.Samples))
	return fmt.Sprintf(" (± %.1f)", 100*deviation)
}

func ownCost(cpu *profile.CPU) string {
	return "besides " + seconds(cpu.Recorder) + " to record, " + seconds(cpu.Sampler) + " to sample"
}

func (r *report) cpuTable(cpu *profile.CPU) {
	shown := cpu.Functions
	if r.options.Top > 0 && len(shown) > r.options.Top {
		shown = shown[:r.options.Top]
	}
	if len(shown) == 0 {
		return
	}
	r.line("")
	r.line(r.style.dim(cpuRow("flat", "flat %", "sum %", "cum", "cum %") + "function"))
	var sum uint64
	for i := range shown {
		f := &shown[i]
		sum += f.Flat
		r.line(r.cut(cpuRow(seconds(f.Flat), percent(f.Flat, cpu.Total), percent(sum, cpu.Total),
			seconds(f.Cum), percent(f.Cum, cpu.Total)) + r.cpuName(f)))
	}
	if rest := cpu.Functions[len(shown):]; len(rest) > 0 {
		r.line(r.style.dim(cpuRow(seconds(cpu.Total-min(sum, cpu.Total)), "", "", "", "") +
			counted(uint64(len(rest)), "more function", "more functions")))
	}
}

func (r *report) cpuCallers(cpu *profile.CPU) {
	const most = 5
	if len(cpu.Callers) == 0 {
		return
	}
	r.line("")
	r.line(r.style.dim(cpuRow("time", "of it", "sum %", "", "") + "who calls malloc and free"))
	var sum uint64
	for i := range cpu.Callers[:min(most, len(cpu.Callers))] {
		f := &cpu.Callers[i]
		sum += f.Flat
		r.line(r.cut(cpuRow(seconds(f.Flat), percent(f.Flat, cpu.Allocator), percent(sum, cpu.Allocator), "", "") + r.cpuName(f)))
	}
}

func (r *report) cpuName(f *profile.CPUFunction) string {
	if f.Function == "" && f.Module == "" {
		return r.style.bold("(code outside any file)")
	}
	name := r.style.bold(shortName(f.Function))
	if base := path.Base(f.Module); f.Module != "" && !strings.HasPrefix(f.Function, base+"+") {
		name += "  " + r.style.place("in "+term.Safe(base))
	}
	return name
}

func cpuRow(flat, share, sum, cum, cumShare string) string {
	return fmt.Sprintf("%10s %7s %7s %10s %7s  ", flat, share, sum, cum, cumShare)
}

func (r *report) cpuEnding(cpu *profile.CPU) {
	var notes []string
	sampled := cpu.Total + cpu.Recorder + cpu.Sampler + cpu.LostTime
	// Less than a twentieth is what is left over where threads end.
	if used := max(cpu.Used, cpu.Process); used > sampled+sampled/20+20*cpu.Interval {
		notes = append(notes, fmt.Sprintf("%s of the %s of CPU time that the processes used were not sampled: in the kernel and the loader as they began and ended, before the first allocation of a thread, in threads that allocate nothing while all others sleep, or with the signal (SIGURG) blocked",
			seconds(used-sampled), seconds(used)))
	}
	if cpu.Lost > 0 {
		notes = append(notes, counted(cpu.Lost, "sample", "samples")+" could not be stored")
	}
	if cpu.NoTimer > 0 {
		notes = append(notes, counted(cpu.NoTimer, "thread", "threads")+" got no timer and were not sampled")
	}
	if cpu.SignalTaken > 0 {
		notes = append(notes, counted(cpu.SignalTaken, "process handles", "processes handle")+" SIGURG, which the samples need, and from then on were not sampled")
	}
	if cpu.Truncated > 0 {
		notes = append(notes, percent(cpu.Truncated, cpu.Total)+" of the time has stacks that could not be followed to the start of their thread")
	}
	if len(notes) > 0 || r.options.Next != "" {
		r.line("")
	}
	for _, note := range notes {
		r.line(r.style.warn("note:") + " " + note)
	}
	if r.options.Next != "" {
		r.line(r.style.dim(term.Safe("next: " + r.options.Next)))
	}
}

// seconds writes a time with three digits: "312 us", "4.02 s".
func seconds(nanoseconds uint64) string {
	value := float64(nanoseconds)
	unit := "ns"
	for _, next := range []string{"us", "ms", "s"} {
		if value < 999.5 {
			break
		}
		value, unit = value/1000, next
	}
	switch {
	case nanoseconds == 0:
		return "0 s"
	case value < 9.995 && unit != "ns":
		return fmt.Sprintf("%.2f %s", value, unit)
	case value < 99.95 && unit != "ns":
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return count(uint64(math.Round(value))) + " " + unit
}
