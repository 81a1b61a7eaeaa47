package gocode

import (
	"bytes"
	"flag"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/internal/gocode"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile is a name as nobody should give one.
const hostile = "<script>\x1b[31m\u202e\n=1+1"

func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got.Bytes(), want)
	}
}

func benchmarks() []*gocode.Benchmark {
	itoa := gocode.Frame{Function: "strconv.Itoa", File: "/go/src/strconv/itoa.go", Line: 37, Origin: gocode.OriginStandard}
	word := gocode.Frame{Function: "example.org/p.Word", File: "/src/p/word.go", Line: 15, Origin: gocode.OriginOwn}
	nasty := gocode.Frame{Function: "example.org/p." + hostile, File: "/src/p/" + hostile + ".go", Line: 3, Origin: gocode.OriginOwn}
	return []*gocode.Benchmark{
		{
			Package: "example.org/p", Name: "Word", NsPerOp: 71600, Operations: 1000, AllocsPerOp: 2001.25, BytesPerOp: 10020, GCPerOp: 0.01,
			RuntimePerOp: 0.5, Checked: true, Mallocs: 2053826,
			Lines: []*gocode.Line{
				{
					Frame: word, Callee: itoa.Function, Allocs: 2000, Bytes: 10000,
					Stacks: []gocode.Stack{{Frames: []gocode.Frame{itoa, word}, Size: 5, Allocs: 2000, Bytes: 10000}},
					Reason: gocode.Reason{Why: "always the same", Remedy: "call it once", Rule: "hoist-call", Flow: []string{"flow: x ← y"}},
				},
				{Frame: nasty, Type: hostile, Allocs: 1.25, Bytes: 20, Stacks: []gocode.Stack{{Frames: []gocode.Frame{nasty}, Size: 16, Allocs: 1.25, Bytes: 20}}},
			},
			CPU: &gocode.CPU{
				Samples: 169, Rate: 100, Malloc: 0.33, Collector: 0.003,
				Functions: []gocode.CPUFunction{
					{Frame: gocode.Frame{Function: "runtime.memmove", Origin: gocode.OriginStandard}, Flat: 0.17, Cumulated: 0.17},
					{Frame: gocode.Frame{Function: nasty.Function}, Flat: 0, Cumulated: 0.998},
				},
			},
		},
		{Package: "example.org/p", Name: "Nothing", NsPerOp: 3, Operations: 1000, Checked: true},
		{Package: "example.org/p", Name: "Log", NsPerOp: 3, Operations: 1000, Checked: true, Mallocs: 8083, RuntimePerOp: 8, UntimedPerOp: 2},
		{Package: "example.org/p", Name: "Hour", NsPerOp: 3.6e12, Uncounted: "it takes " + hostile, NoCPU: "too many " + hostile},
	}
}

func TestBenchmarks(t *testing.T) {
	golden(t, "benchmarks.txt", func(w io.Writer) error {
		return WriteBenchmarks(w, benchmarks(), nil, Options{Top: 10, Verbose: true, Folder: "/src"})
	})
	golden(t, "benchmarks.benchfmt", func(w io.Writer) error { return WriteBenchfmt(w, benchmarks()) })
	golden(t, "benchmarks.json", func(w io.Writer) error {
		return WriteBenchmarksJSON(w, "go1.26.8", benchmarks(), nil)
	})
}

func checks() []gocode.Check {
	all := benchmarks()
	entry := gocode.NewEntry(all[:1])
	less := gocode.BudgetEntry{Package: "example.org/p", Benchmark: "Word", Operations: 1000, Least: big.NewRat(1, 4), Most: big.NewRat(1, 2)}
	more := less
	more.Least, more.Most = big.NewRat(3000, 1), big.NewRat(3000, 1)
	nothing := gocode.NewEntry(all[1:])
	two, close := less, less // what differs by less than the digits usually shown
	two.Least, two.Most = big.NewRat(2, 1), big.NewRat(2, 1)
	close.Least, close.Most = big.NewRat(2001, 1000), big.NewRat(2003, 1000)
	return []gocode.Check{
		gocode.Compare(&less, entry), gocode.Compare(&more, entry), gocode.Compare(nil, entry), gocode.Compare(&nothing, nothing),
		gocode.Compare(&two, close), gocode.Compare(&close, close),
	}
}

func TestChecks(t *testing.T) {
	golden(t, "checks.txt", func(w io.Writer) error {
		return WriteChecks(w, checks(), []string{"BenchmarkGone of " + hostile + " did not run"})
	})
	golden(t, "checks.json", func(w io.Writer) error {
		return WriteChecksJSON(w, checks(), []string{"BenchmarkGone of " + hostile + " did not run"})
	})
	golden(t, "checks.benchfmt", func(w io.Writer) error { return WriteChecksBenchfmt(w, checks()) })
}

// Of benchmarks of one name it is said which package they are of.
func TestNamesOfSeveralPackages(t *testing.T) {
	var measured []*gocode.Benchmark
	var checks []gocode.Check
	for _, name := range [][2]string{{"example.org/a", "Parse"}, {"example.org/b", "Parse"}, {"example.org/b", "Write"}} {
		b := &gocode.Benchmark{Package: name[0], Name: name[1], Operations: 1000, Checked: true}
		measured, checks = append(measured, b), append(checks, gocode.Compare(nil, gocode.NewEntry([]*gocode.Benchmark{b})))
	}
	for what, write := range map[string]func(io.Writer) error{
		"gate": func(w io.Writer) error { return WriteChecks(w, checks, nil) },
		"diff": func(w io.Writer) error {
			return WriteDifferences(w, &gocode.Differences{Benchmarks: checks}, Options{})
		},
		"test": func(w io.Writer) error { return WriteBenchmarks(w, measured, nil, Options{}) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"BenchmarkParse of example.org/a", "BenchmarkParse of example.org/b", "BenchmarkWrite"} {
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "BenchmarkWrite of") {
				t.Errorf("%s: no %q in\n%s", what, want, out.String())
			}
		}
	}
}

func TestDifferences(t *testing.T) {
	d := &gocode.Differences{
		Old: gocode.Side{Name: "main" + hostile, Commit: "0123456789abcdef", Version: "go1.25.7"},
		New: gocode.Side{Name: "the files as they are", Version: "go1.26.8"},
		Escapes: []gocode.EscapeChange{
			{HeapValue: gocode.HeapValue{Package: "example.org/p", Function: "(*T).M", Value: "x", File: "p.go", Line: 3, Why: "x goes to the heap: it is returned", Flow: []string{"flow: ~r0 ← &x:"}}, New: true, Kept: true},
			{HeapValue: gocode.HeapValue{Package: "example.org/" + hostile, Function: hostile, Value: hostile, File: hostile, Line: 4, Why: hostile}, New: true},
			{HeapValue: gocode.HeapValue{Package: "example.org/p", Function: "F", Value: "new(int)", File: "p.go", Line: 5, Why: "new(int) goes to the heap"}, Kept: true},
			{HeapValue: gocode.HeapValue{Package: "example.org/p", Function: "G", Value: "y", File: "p.go", Line: 6, Why: "y goes to the heap"}},
		},
		Benchmarks: checks(), Gone: []gocode.BudgetEntry{{Package: "example.org/q", Benchmark: "Gone" + hostile, Operations: 10, Least: big.NewRat(1, 4), Most: big.NewRat(1, 2)}},
		Notes: []string{"go1.25.7: " + hostile},
	}
	golden(t, "differences.txt", func(w io.Writer) error { return WriteDifferences(w, d, Options{Verbose: true}) })
	golden(t, "differences.json", func(w io.Writer) error { return WriteDifferencesJSON(w, d) })
}

// One benchmark is the measure: who asked for several is told.
func TestOtherBenchmarks(t *testing.T) {
	fixed := &gocode.Fixed{Package: "example.org/p", Benchmark: "Parse", Others: []string{"Join", "Split"}, Ladder: []gocode.LadderStep{{AllocsPerOp: 3, NsPerOp: 100}}}
	var out strings.Builder
	if err := WriteFixed(&out, fixed, Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "example.org/p  BenchmarkParse\nthe first that allocates; --bench takes another: Join, Split\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s", out.String())
	}
}

// What is less than nothing by chance alone is nothing.
func TestPerOperation(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.001: "<0.01", -0.001: "0", -0.5: "-0.50", 2000: "2,000", 3.994: "3.99"} {
		if got := perOp(n); got != want {
			t.Errorf("%g: %s instead of %s", n, got, want)
		}
	}
}
