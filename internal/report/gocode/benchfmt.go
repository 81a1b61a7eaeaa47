package gocode

import (
	"io"

	"golang.org/x/perf/benchfmt"

	"mallow/internal/gocode"
	"mallow/internal/term"
)

// WriteBenchfmt writes benchmarks as the text that Go's own print and that
// benchstat reads, one line for each. Allocations and bytes of an operation are
// exact, and unlike Go's no whole numbers.
func WriteBenchfmt(w io.Writer, all []*gocode.Benchmark) error {
	return writeBenchfmt(w, len(all), func(i int) *benchfmt.Result {
		b := all[i]
		time := benchfmt.Value{Value: b.NsPerOp, Unit: "ns/op"}
		if b.Uncounted != "" {
			return benchfmtResult(b.Package, b.Name, 1, time)
		}
		return benchfmtResult(b.Package, b.Name, b.Operations, time,
			benchfmt.Value{Value: b.BytesPerOp, Unit: "B/op"},
			benchfmt.Value{Value: b.AllocsPerOp, Unit: "allocs/op"})
	})
}

// WriteChecksBenchfmt writes what the benchmarks of a gate allocate now in the
// same way: of their runs the least, which is what the gate compares.
func WriteChecksBenchfmt(w io.Writer, checks []gocode.Check) error {
	return writeBenchfmt(w, len(checks), func(i int) *benchfmt.Result {
		now := &checks[i].Now
		allocs, _ := now.Least.Float64()
		return benchfmtResult(now.Package, now.Benchmark, now.Operations, benchfmt.Value{Value: allocs, Unit: "allocs/op"})
	})
}

func benchfmtResult(pkg, name string, operations uint64, values ...benchfmt.Value) *benchfmt.Result {
	return &benchfmt.Result{
		Config: []benchfmt.Config{{Key: "pkg", Value: []byte(term.Safe(pkg)), File: true}},
		Name:   benchfmt.Name(term.Safe(name)), Iters: int(max(1, operations)), Values: values,
	}
}

func writeBenchfmt(w io.Writer, n int, result func(i int) *benchfmt.Result) error {
	out := benchfmt.NewWriter(w)
	for _, unit := range []string{"allocs/op", "B/op"} {
		exact := &benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "assume"}, OrigUnit: unit, Value: "exact"}
		if err := out.Write(exact); err != nil {
			return err
		}
	}
	for i := range n {
		if err := out.Write(result(i)); err != nil {
			return err
		}
	}
	return nil
}
