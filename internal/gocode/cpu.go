package gocode

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// CPU is where the CPU time of a run went, by samples of its stacks. Shares
// are 0..1.
type CPU struct {
	Samples   int64
	Rate      int64   // samples of a second of CPU time
	Malloc    float64 // within the allocator, what the collector made it do included
	Collector float64 // within the garbage collector
	C         float64 // within functions of C that Go called
	// Counting are further samples, within the counting of allocations itself:
	// they are in no other figure.
	Counting  int64
	Functions []CPUFunction // those with the most of their own first
	calls     map[callAt]int64
}

// CPUFunction is a function's part of the CPU time.
type CPUFunction struct {
	Frame             // its line is 0
	Flat      float64 // share of its own
	Cumulated float64 // and of what it calls
}

// callAt is a line and what it calls.
type callAt struct {
	file   string
	line   int
	callee string
}

// leastSamples of a profile tell something: with fewer a share is off by more
// than its tenth part of all.
const leastSamples = 25

// Line is the share of what a line calls, 0 where nothing is known.
func (c *CPU) Line(l *Line) float64 {
	if c == nil || l.File == "" {
		return 0
	}
	callee := l.Callee
	if callee == "" {
		callee = mallocgc
	}
	return float64(c.calls[callAt{l.File, l.Line, callee}]) / float64(c.Samples)
}

// rank puts of lines that allocate as often those first that take more time. The
// order is by allocations before: they are counted, and samples differ from run
// to run.
func (c *CPU) rank(lines []*Line) {
	if c == nil {
		return
	}
	slices.SortStableFunc(lines, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(b.Allocs, a.Allocs), cmp.Compare(c.Line(b), c.Line(a)))
	})
}

// cpuStack is a sampled stack, the innermost frame first.
type cpuStack struct {
	frames  []Frame
	samples int64
}

// newCPU returns nil where there are too few samples.
func newCPU(stacks []cpuStack, rate int64) *CPU {
	c := &CPU{Rate: rate, calls: make(map[callAt]int64)}
	type part struct {
		frame     Frame
		flat, cum int64
	}
	parts := make(map[string]*part)
	for _, s := range stacks {
		if slices.ContainsFunc(s.frames, ofCounting) {
			c.Counting += s.samples
			continue
		}
		c.Samples += s.samples
		s.frames = interrupted(s.frames)
		functions, calls := make(map[string]bool), make(map[callAt]bool)
		inMalloc, inCollector := false, false
		for i, f := range s.frames {
			inMalloc = inMalloc || allocates(f.Function)
			inCollector = inCollector || collects(f.Function)
			p := parts[f.Function]
			if p == nil {
				p = &part{frame: Frame{Function: f.Function, File: f.File, Origin: f.Origin}}
				parts[f.Function] = p
			}
			if i == 0 {
				p.flat += s.samples
			}
			if !functions[f.Function] {
				functions[f.Function] = true
				p.cum += s.samples
			}
			if i == 0 {
				continue
			}
			if at := (callAt{f.File, f.Line, s.frames[i-1].Function}); !calls[at] {
				calls[at] = true
				c.calls[at] += s.samples
			}
		}
		if inMalloc {
			c.Malloc += float64(s.samples)
		}
		if inCollector {
			c.Collector += float64(s.samples)
		}
		if len(s.frames) > 0 && s.frames[0].Function == "runtime.cgocall" { // where the stack that Go knows ends
			c.C += float64(s.samples)
		}
	}
	if c.Samples < leastSamples {
		return nil
	}
	all := float64(c.Samples)
	c.Malloc /= all
	c.Collector /= all
	c.C /= all
	for _, p := range parts {
		c.Functions = append(c.Functions, CPUFunction{p.frame, float64(p.flat) / all, float64(p.cum) / all})
	}
	slices.SortFunc(c.Functions, func(a, b CPUFunction) int {
		return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cumulated, a.Cumulated), cmp.Compare(a.Function, b.Function))
	})
	return c
}

// interrupted leaves out how the runtime stops a goroutine: the signal for that
// and the one that samples are delivered at one tick, and the time is that of
// the function which both interrupt.
func interrupted(frames []Frame) []Frame {
	if len(frames) > 1 && frames[0].Function == "runtime.asyncPreempt" {
		return frames[1:]
	}
	return frames
}

// ofCounting tells whether a function is what the overlay adds to the runtime.
func ofCounting(f Frame) bool { return strings.HasPrefix(f.Function, "runtime.mallow") }

// Top returns up to n functions with the most CPU time of their own, and as
// many of those with the most that is not theirs alone; what stands below every
// program, or test, is none of the latter.
func (c *CPU) Top(n int) []CPUFunction {
	if n <= 0 || n >= len(c.Functions) {
		return c.Functions
	}
	chosen := make(map[string]bool)
	for _, f := range c.Functions[:n] {
		chosen[f.Function] = true
	}
	byCumulated := slices.DeleteFunc(slices.Clone(c.Functions), func(f CPUFunction) bool { return beneath(f.Function) })
	slices.SortStableFunc(byCumulated, func(a, b CPUFunction) int { return cmp.Compare(b.Cumulated, a.Cumulated) })
	for _, f := range byCumulated[:min(n, len(byCumulated))] {
		chosen[f.Function] = true
	}
	return slices.DeleteFunc(slices.Clone(c.Functions), func(f CPUFunction) bool { return !chosen[f.Function] })
}

// beneath tells whether a function only starts what the program does.
func beneath(function string) bool {
	switch function {
	case "runtime.main", "runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.systemstack", "main.main":
		return true
	}
	return packageOf(function) == "testing"
}

// readCPU reads a profile of the runtime. It returns nil where there is none,
// or too few samples.
func readCPU(path string, o origins) *CPU {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil || len(p.SampleType) == 0 || p.Period <= 0 {
		return nil
	}
	var stacks []cpuStack
	for _, s := range p.Sample {
		stack := cpuStack{samples: s.Value[0]}
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function != nil {
					stack.frames = append(stack.frames, Frame{line.Function.Name, line.Function.Filename, int(line.Line), o.of(line.Function.Name)})
				}
			}
		}
		stacks = append(stacks, stack)
	}
	return newCPU(stacks, 1e9/p.Period)
}

// collects tells whether all below a function of the runtime is the garbage
// collector's work.
func collects(function string) bool {
	name, ok := strings.CutPrefix(function, "runtime.")
	if !ok {
		return false
	}
	switch name {
	case "gcBgMarkWorker", "gcAssistAlloc", "gcStart", "gcMarkDone", "bgsweep", "bgscavenge", "deductSweepCredit", "gcDrain":
		return true
	}
	return false
}
