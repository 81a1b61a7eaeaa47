// Package budget reads and writes mallow.toml: which benchmarks a repository
// has, and what each of them may cost.
package budget

import "time"

// FileName is what the budget of a repository is called.
const FileName = "mallow.toml"

// File is a budget.
type File struct {
	Path       string // "" of one that was not read from a file
	Benchmarks []Benchmark
}

// Benchmark is a command whose cost is kept.
type Benchmark struct {
	Name    string
	Command []string // program and arguments, or
	Shell   string   // a line for sh
	Folder  string   // working folder, from that of the budget; "" for that one
	Env     []string // NAME=VALUE, beside those that mallow has
	Stdin   string   // file, from the folder of the budget; "" for none
	Limit   time.Duration
	Build   string // line for sh that builds what Command runs; "" where there is nothing to do
	Unit    string // unit of work that figures are divided by; "" for the whole run
	Figures []Figure
	Targets []Target
}

// Figure is the budget of one metric: from Least to Most was seen; the same
// number twice where all runs agreed.
type Figure struct {
	Metric      string
	Least, Most float64
}

// Target is a figure to stop at.
type Target struct {
	Metric string
	Value  float64
}
