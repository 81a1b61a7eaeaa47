// Package budget reads and writes mallow.toml: which benchmarks a repository
// has, and what each of them may cost.
//
//	[benchmark.parse]
//	command = ["./parse", "data/big.json"]
//	build = "make"
//
//	[benchmark.parse.budget]
//	allocations = 33_961
//	peak = [1_048_576, 1_060_864]
//
// A figure that was the same in every run is a number; one that was not, the
// least and the most that was seen.
package budget

import (
	"slices"
	"time"
)

// FileName is what the budget of a repository is called.
const FileName = "mallow.toml"

// Metrics of a benchmark. Counts are those of the program and its libraries,
// what libc allocates for them apart; sizes are bytes, times seconds.
const (
	Allocations = "allocations"
	Bytes       = "bytes" // requested
	Peak        = "peak"  // bytes that lived at the same time
	Live        = "live"  // bytes never freed
	Libc        = "libc"  // allocations that libc makes on behalf of the program
	CPU         = "cpu"   // of the program that is not recorded
	Wall        = "wall"  // the same
)

// Metrics are all there are, in the order in which they are written.
var Metrics = []string{Allocations, Bytes, Peak, Live, Libc, CPU, Wall}

// Counted are those that a recording knows, and that every benchmark has
// unless it chooses others.
var Counted = Metrics[:5]

// IsPerUnit tells whether a metric is divided by the work that was done, if a
// benchmark has a unit of that.
func IsPerUnit(metric string) bool {
	return metric == Allocations || metric == Bytes || metric == Libc
}

// IsTime tells whether a metric depends on what else the machine does.
func IsTime(metric string) bool { return metric == CPU || metric == Wall }

// Defaults of what a budget need not say.
const (
	DefaultRuns  = 3
	DefaultLimit = 10 * time.Minute
)

// File is a budget.
type File struct {
	Path string
	Runs int    // of each benchmark
	Base string // branch that changes go to; "" for the one that git knows as such
	// Benchmarks are in the order of the text.
	Benchmarks []*Benchmark

	document *document
}

// Benchmark is a command whose cost is kept.
type Benchmark struct {
	Name    string
	Command []string // program and arguments, or
	Shell   string   // a line for sh
	Folder  string   // working folder, from that of the budget; "" for that one
	Env     []string // NAME=VALUE, instead of those that mallow has, by name
	// CleanEnv leaves out all others but those that programs are found by.
	CleanEnv bool
	Stdin    string // file, from the folder of the budget; "" for none
	Exit     int    // the status that it must end with
	Limit    time.Duration
	Build    string // line for sh, in the folder of the budget; "" where there is nothing to do
	Unit     string // unit of work that figures are divided by; "" for the whole run
	Per      []string
	// Processes are the programs of the family that count; none for all.
	Processes []string
	Wrappers  []string // regular expressions
	Metrics   []string // that are kept
	Runs      int
	Figures   []Figure // by metric
	Targets   []Target // by metric

	at int // offset of its name
}

// Figure is the budget of one metric: from Least to Most was seen; the same
// number twice where all runs agreed.
type Figure struct {
	Metric      string
	Least, Most float64
}

// Exact tells whether all runs agreed.
func (f *Figure) Exact() bool { return f.Least == f.Most }

// Target is a figure to stop at.
type Target struct {
	Metric string
	Value  float64
}

// Benchmark returns the one of that name, nil where there is none.
func (f *File) Benchmark(name string) *Benchmark {
	for _, b := range f.Benchmarks {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Figure returns the budget of a metric, nil where it has none.
func (b *Benchmark) Figure(metric string) *Figure {
	if i := slices.IndexFunc(b.Figures, func(f Figure) bool { return f.Metric == metric }); i >= 0 {
		return &b.Figures[i]
	}
	return nil
}

// Target returns that of a metric, nil where it has none.
func (b *Benchmark) Target(metric string) *Target {
	if i := slices.IndexFunc(b.Targets, func(t Target) bool { return t.Metric == metric }); i >= 0 {
		return &b.Targets[i]
	}
	return nil
}

// Place is where the benchmark stands: the line, from 1.
func (f *File) Place(b *Benchmark) (line int) {
	line, _ = f.document.position(b.at)
	return line
}
