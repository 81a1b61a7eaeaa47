package gocode

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// length of two counting runs: the shorter one has short operations, the longer
// one apart more. short is enough for what is made at first use, and for what a
// second operation needs.
type length struct{ short, apart uint64 }

// lengths are those that are tried, the most exact first: of a thousand
// operations a part of an allocation shows to its third digit.
var lengths = []length{{shortRun, mostOperations}, {shortRun, 100}, {shortRun, 10}, {4, 4}, {2, 2}}

// operations are those of both runs: package testing begins each with one more.
func (l length) operations() uint64 { return 2*(1+l.short) + l.apart }

// slower is by how much, at most, counting slows ordinary code down.
const slower = 2

// unknownTime of an operation is taken where a benchmark hides its own.
const unknownTime = 10 * time.Millisecond

// operationTime is that of an operation while it is counted, about.
func operationTime(b *Benchmark) time.Duration {
	if b.NsPerOp <= 0 {
		return slower * unknownTime
	}
	return time.Duration(slower * b.NsPerOp)
}

// sitting is some benchmarks that are counted by the same two processes.
type sitting struct {
	length
	benchmarks []*Benchmark
}

// planner shares a time out among the benchmarks of a package.
type planner struct {
	exact  time.Duration // for the longer run of one benchmark, about
	within time.Duration // for all together; 0: whatever it takes
	setup  setups        // what each process takes beside the operations
	alone  bool          // each benchmark needs processes of its own
}

// plan chooses how long each benchmark runs, from its time for an operation.
// What does not fit even at its shortest is left out, and says so, what takes
// longest first. Of the others what takes longest is shortened first.
func (p planner) plan(all []*Benchmark) []sitting {
	counted, shortest, chosen := slices.Clone(all), make(map[*Benchmark]int), make(map[*Benchmark]int)
	for _, b := range all {
		shortest[b], chosen[b] = len(lengths)-1, p.longest(b)
	}
	for p.within > 0 && len(counted) > 0 && p.takes(counted, shortest) > p.within {
		worst := slices.MaxFunc(counted, func(a, b *Benchmark) int { return cmp.Compare(p.least(a), p.least(b)) })
		p.leaveOut(worst)
		counted = slices.DeleteFunc(counted, func(b *Benchmark) bool { return b == worst })
	}
	for p.within > 0 && p.takes(counted, chosen) > p.within {
		chosen[p.worst(counted, chosen)]++
	}
	return p.sittings(counted, chosen)
}

// least is the time of the shortest runs of a benchmark alone, about.
func (p planner) least(b *Benchmark) time.Duration {
	return p.operationsTake(b, len(lengths)-1) + 2*p.setup.process(b)
}

func (p planner) leaveOut(b *Benchmark) {
	b.Uncounted = fmt.Sprintf("counting it takes some %s, and all benchmarks of its package have %s together (--within)", p.least(b).Round(time.Second/10), p.within)
}

// longest is the index of the longest runs that one benchmark may have.
func (p planner) longest(b *Benchmark) int {
	for i, l := range lengths {
		if operationTime(b)*time.Duration(l.apart) <= p.exact {
			return i
		}
	}
	return len(lengths) - 1
}

func (p planner) operationsTake(b *Benchmark, chosen int) time.Duration {
	return operationTime(b) * time.Duration(lengths[chosen].operations())
}

// takes is the time of all, about.
func (p planner) takes(all []*Benchmark, chosen map[*Benchmark]int) time.Duration {
	var sum time.Duration
	for _, b := range all {
		sum += p.operationsTake(b, chosen[b])
	}
	for _, s := range p.sittings(all, chosen) {
		sum += 2 * p.setup.process(s.benchmarks...)
	}
	return sum
}

// worst returns the benchmark that takes longest of those that can be shortened.
func (p planner) worst(all []*Benchmark, chosen map[*Benchmark]int) *Benchmark {
	long := slices.DeleteFunc(slices.Clone(all), func(b *Benchmark) bool { return chosen[b] == len(lengths)-1 })
	return slices.MaxFunc(long, func(a, b *Benchmark) int {
		return cmp.Compare(p.operationsTake(a, chosen[a]), p.operationsTake(b, chosen[b]))
	})
}

// mostTogether benchmarks are counted by the same processes: their names make
// one argument, and the stacks of all must find room.
const mostTogether = 200

func (p planner) together() int {
	if p.alone {
		return 1
	}
	return mostTogether
}

func (p planner) sittings(all []*Benchmark, chosen map[*Benchmark]int) []sitting {
	var found []sitting
	for i, l := range lengths {
		of := slices.DeleteFunc(slices.Clone(all), func(b *Benchmark) bool { return chosen[b] != i })
		for chunk := range slices.Chunk(of, p.together()) {
			found = append(found, sitting{l, chunk})
		}
	}
	return found
}
