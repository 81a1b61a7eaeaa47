package gocode

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"mallow/internal/figure"
	"mallow/internal/launch"
)

// shortRun is the number of operations of the shorter exact run, unless the
// benchmark is slow.
const shortRun = 10

// mostOperations bounds by how many the longer one is longer.
const mostOperations = 1000

// measured is what a run of benchmarks, or one of them, allocated.
type measured struct {
	stacks      []Stack
	agrees      bool // with runtime.MemStats
	mallocs     uint64
	collections uint64
	c           bool // stacks of C are among them
	// each benchmark's part, by its name; nil where that is not known.
	each map[string]*measured
}

// countAll counts benchmarks, as many at a time as may be.
func (t *Tests) countAll(all []*Benchmark, setup setups, o BenchmarkOptions) error {
	var failed error
	all = slices.DeleteFunc(slices.Clone(all), func(b *Benchmark) bool { return b.failed })
	if o.Within == 0 {
		for _, b := range all {
			failed = errors.Join(failed, t.count(b, o))
		}
		return failed
	}
	p := planner{exact: o.Exact, within: o.Within, setup: setup, alone: !t.marks()}
	for _, s := range p.plan(all) {
		failed = errors.Join(failed, t.countSitting(s, o))
	}
	return failed
}

// marks tells whether a process counts for each of several benchmarks.
func (t *Tests) marks() bool { return t.why == nil && t.marked && !t.callsC }

// Again counts a benchmark anew, with as many operations.
func (t *Tests) Again(b *Benchmark, o BenchmarkOptions) (*Benchmark, error) {
	again := &Benchmark{Package: b.Package, Name: b.Name, NsPerOp: b.NsPerOp, CPU: b.CPU}
	o.Operations = func(string) uint64 { return b.Operations }
	return again, t.count(again, o)
}

// count counts a benchmark by processes of its own.
func (t *Tests) count(b *Benchmark, o BenchmarkOptions) error {
	apart := uint64(0)
	if o.Operations != nil {
		apart = o.Operations(b.Name)
	}
	if apart == 0 {
		apart = operations(b.NsPerOp, o.Exact)
	}
	return t.countSitting(sitting{length{shortRun, apart}, []*Benchmark{b}}, o)
}

// operations is how many fit into a time, when counting makes them some three
// times as slow.
func operations(ns float64, within time.Duration) uint64 {
	if ns <= 0 {
		return mostOperations
	}
	return uint64(max(1, min(mostOperations, math.Floor(float64(within)/(3*ns)))))
}

// countSitting runs benchmarks twice, counting. Where one fails with so many
// operations, or beside others, the others are counted without it.
func (t *Tests) countSitting(s sitting, o BenchmarkOptions) error {
	short, err := t.countRun(s, s.short, o)
	var long *measured
	if err == nil {
		long, err = t.countRun(s, s.short+s.apart, o)
	}
	if err != nil && len(s.benchmarks) == 1 {
		s.benchmarks[0].failed = true
		return err
	}
	if err != nil {
		half := len(s.benchmarks) / 2
		return errors.Join(t.countSitting(sitting{s.length, s.benchmarks[:half]}, o), t.countSitting(sitting{s.length, s.benchmarks[half:]}, o))
	}
	for _, b := range s.benchmarks {
		of, than := long.of(b), short.of(b)
		switch {
		case of != nil && than != nil:
			t.compute(b, of, than, s.apart)
		case len(s.benchmarks) == 1: // all of the process is its own
			t.compute(b, long, short, s.apart)
		default:
			b.Uncounted = "it did not run when it was counted"
		}
	}
	return nil
}

// of is the part of a benchmark; nil where that is not known.
func (m *measured) of(b *Benchmark) *measured { return m.each["Benchmark"+b.Name] }

// compute makes the figures of a benchmark from two runs.
func (t *Tests) compute(b *Benchmark, long, short *measured, operations uint64) {
	b.Operations = operations
	b.Checked, b.Mallocs, b.Stock = short.agrees && long.agrees, long.mallocs, t.why
	b.GCPerOp = (float64(long.collections) - float64(short.collections)) / float64(operations)
	stacks := difference(long.stacks, short.stacks, float64(operations))
	stacks = slices.DeleteFunc(stacks, func(s Stack) bool {
		switch {
		case !s.C && (s.OfRuntime() || s.OfTesting()):
			b.RuntimePerOp += s.Allocs
		case s.Untimed:
			b.UntimedPerOp += s.Allocs
		default:
			return false
		}
		return true
	})
	if long.c {
		b.C = new(CPerOp)
	}
	for _, s := range stacks {
		if s.C {
			b.C.Allocs += s.Allocs
			b.C.Bytes += s.Bytes
			continue
		}
		b.AllocsPerOp += s.Allocs
		b.BytesPerOp += s.Bytes
	}
	// A pool that is emptied more often in the shorter run makes less than nothing.
	b.AllocsPerOp, b.BytesPerOp = max(0, b.AllocsPerOp), max(0, b.BytesPerOp)
	b.Lines = lines(stacks)
	b.CPU.rank(b.Lines)
	if t.sources != nil {
		explain(b.Lines, t.sources, t.escapes)
		announce(b.Lines, t.sources, leastSaved)
	}
	explainC(b.Lines)
}

func (t *Tests) countRun(s sitting, operations uint64, o BenchmarkOptions) (*measured, error) {
	args := append([]string{"-test.run=^$", "-test.bench=" + together(s.benchmarks), fmt.Sprintf("-test.benchtime=%dx", operations)}, o.TestFlags...)
	if t.why != nil {
		return t.stockRun(args)
	}
	var environment []string
	if o.Uncollected {
		environment = []string{"GOGC=off", "GOMEMLIMIT=1GiB"}
	}
	return t.counted(args, environment)
}

// counted runs the tests' executable, counting.
func (t *Tests) counted(args, environment []string) (*measured, error) {
	folder, err := launch.Scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	environment = append(environment, countsVariable+"="+folder)
	if t.callsC {
		inC, err := recordC(cFolder(folder))
		if err != nil {
			return nil, err
		}
		environment = append(environment, inC...)
	}
	ran, err := t.execute(t.counting, environment, args)
	if err != nil {
		return nil, err
	}
	all, err := readFolder(folder, ran.pid)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s %s: it left no counts", t.Package, strings.Join(args, " "))
	}
	first := all[0]
	if first.Lost > 0 {
		return nil, fmt.Errorf("%s %s: %s found no room: there are too many different call stacks", t.Package, strings.Join(args, " "), figure.Counted(first.Lost, "allocation", "allocations"))
	}
	stacks := t.names.stacks(first)
	m := &measured{stacks: stacks, agrees: first.Agrees(), mallocs: first.Mallocs, collections: first.Collections}
	if t.marks() {
		m.each = first.each(stacks)
	}
	if t.callsC {
		if side, err := t.names.cSide(cFolder(folder), first); err == nil {
			m.stacks, m.c = append(m.stacks, side.stacks...), true
		}
	}
	return m, nil
}

// each shares the stacks of all records out among the benchmarks that ran.
func (c *Counts) each(stacks []Stack) map[string]*measured {
	all := make(map[string]*measured)
	of := make(map[uint32]*measured)
	for i, began := range c.marks {
		if began.number == 0 {
			continue
		}
		m := all[began.name]
		if m == nil {
			m = &measured{agrees: c.Agrees()}
			all[began.name] = m
		}
		of[began.number] = m
		if i+1 < len(c.marks) && !began.discarded {
			m.collections += c.marks[i+1].collections - began.collections
		}
	}
	for i := range c.Records {
		if m := of[c.Records[i].benchmark]; m != nil {
			m.mallocs += c.Records[i].Allocs
			m.stacks = append(m.stacks, stacks[i])
		}
	}
	return all
}
