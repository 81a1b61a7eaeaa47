package gocode

import (
	"bytes"
	"strings"
	"time"
)

// setups are what processes take beside the operations of benchmarks.
type setups struct {
	start time.Duration // of every process
	// each function of benchmarks adds its own, by its name without "Benchmark".
	each map[string]time.Duration
}

// functionOf names the one that a benchmark, or a part of one, is of.
func functionOf(benchmark string) string {
	name, _, _ := strings.Cut(benchmark, "/")
	return name
}

// process is what one takes that runs these benchmarks.
func (s setups) process(benchmarks ...*Benchmark) time.Duration {
	sum := s.start
	known := make(map[string]bool)
	for _, b := range benchmarks {
		if name := functionOf(b.Name); !known[name] {
			known[name] = true
			sum += s.each[name]
		}
	}
	return sum
}

// share tells which functions took the time of a process that ran one operation
// of each benchmark, without the operations: what passed until each said that it
// was done, as a part of all. first is the function that has the start of the process.
func (r *ran) share(beside time.Duration, found []*Benchmark) (each map[string]time.Duration, first string) {
	each = make(map[string]time.Duration)
	var last, sum time.Duration
	out := r.printed.text
	for _, name := range named.FindAllIndex(out, -1) {
		text := strings.TrimPrefix(string(bytes.TrimSpace(out[name[0]:name[1]])), "Benchmark")
		function, at := functionOf(withoutProcessors(text)), r.printed.when(name[0])
		each[function] += at - last
		last = at
		if first == "" {
			first = function
		}
	}
	for _, b := range found {
		each[functionOf(b.Name)] -= time.Duration(b.NsPerOp)
	}
	for name := range each {
		each[name] = max(0, each[name])
		sum += each[name]
	}
	for name, part := range each {
		if sum > 0 {
			each[name] = time.Duration(float64(beside) * float64(part) / float64(sum))
		}
	}
	return each, first
}

// clocked keeps what a process prints, and when.
type clocked struct {
	began time.Time
	text  []byte
	parts []printedPart
}

type printedPart struct {
	end  int // of what was printed until then
	when time.Duration
}

func (c *clocked) Write(p []byte) (int, error) {
	c.text = append(c.text, p...)
	c.parts = append(c.parts, printedPart{len(c.text), time.Since(c.began)})
	return len(p), nil
}

// when tells how long the process had run when it printed the byte at an offset.
func (c *clocked) when(offset int) time.Duration {
	for _, part := range c.parts {
		if offset < part.end {
			return part.when
		}
	}
	return 0
}
