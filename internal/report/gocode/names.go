package gocode

import (
	"mallow/internal/gocode"
	"mallow/internal/term"
)

// names are what benchmarks are called in a text: with their package where
// another package has one of the same name.
type names map[string]map[string]bool // packages, by the name of a benchmark

func (n names) add(importPath, benchmark string) {
	if n[benchmark] == nil {
		n[benchmark] = make(map[string]bool)
	}
	n[benchmark][importPath] = true
}

func (n names) of(importPath, benchmark string) string {
	if len(n[benchmark]) > 1 {
		return term.Safe("Benchmark" + benchmark + " of " + importPath)
	}
	return term.Safe("Benchmark" + benchmark)
}

func namesOfChecks(checks []gocode.Check) names {
	n := make(names)
	for i := range checks {
		n.add(checks[i].Now.Package, checks[i].Now.Benchmark)
	}
	return n
}

func namesOfBenchmarks(all []*gocode.Benchmark) names {
	n := make(names)
	for _, b := range all {
		n.add(b.Package, b.Name)
	}
	return n
}
