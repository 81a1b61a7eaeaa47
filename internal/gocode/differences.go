package gocode

import "slices"

// Side is one of two that are compared.
type Side struct {
	Name    string // as the user said it
	Commit  string // hash, "" for the files as they are
	Version string // of Go
}

// Differences are those between two commits or two versions of Go.
type Differences struct {
	Old, New   Side
	Escapes    []EscapeChange // what functions of both sides newly put on the heap first
	Benchmarks []Check
	Gone       []BudgetEntry // benchmarks that only the old side has
	Notes      []string      // why there are no benchmarks
}

// Worse tells whether a function of both sides newly puts a value on the heap,
// or an operation allocates more.
func (d *Differences) Worse() bool {
	return slices.ContainsFunc(d.Escapes, func(c EscapeChange) bool { return c.New && c.Kept }) ||
		slices.ContainsFunc(d.Benchmarks, func(c Check) bool { return c.Verdict == More })
}
