package gocode

import (
	"math/big"
	"strings"
	"testing"
)

func benchmarkOf(allocs float64, operations uint64, lines ...*Line) *Benchmark {
	return &Benchmark{Package: "example.org/a", Name: "Parse/n=1", AllocsPerOp: allocs, Operations: operations, Lines: lines}
}

func lineOf(function, callee string, allocs float64) *Line {
	return &Line{Frame: Frame{Function: function}, Callee: callee, Allocs: allocs}
}

func TestBudgetIsExact(t *testing.T) {
	e := NewEntry([]*Benchmark{
		benchmarkOf(3.25, 1000, lineOf("a.F", "strconv.Itoa", 3), lineOf("a.G", "", 0.25), lineOf("a.H", "", 0.001)),
		benchmarkOf(3.251, 1000),
	})
	b := Budget{Entries: []BudgetEntry{e}}
	text := string(b.Format())
	want := `
BenchmarkParse/n=1 example.org/a: 13/4 to 3251/1000 over 1000
	3 a.F calls strconv.Itoa
	1/4 a.G
`
	if !strings.HasSuffix(text, want) {
		t.Errorf("%s", text)
	}
	again, err := ParseBudget([]byte(text))
	if err != nil || string(again.Format()) != text {
		t.Errorf("%v: %s", err, again.Format())
	}
}

func TestChecks(t *testing.T) {
	was := NewEntry([]*Benchmark{benchmarkOf(3, 100, lineOf("a.F", "", 2), lineOf("a.G", "", 1)), benchmarkOf(3.01, 100)})
	for _, test := range []struct {
		now     []float64
		verdict Verdict
	}{
		{[]float64{3}, Kept},
		{[]float64{3.5, 3}, Kept}, // once a pool was emptied
		{[]float64{3.02, 3.5}, More},
		{[]float64{2.99}, Fewer},
		{[]float64{2.5, 3}, Kept},
	} {
		var runs []*Benchmark
		for _, n := range test.now {
			runs = append(runs, benchmarkOf(n, 100, lineOf("a.F", "", n-1), lineOf("a.G", "", 1)))
		}
		if c := Compare(&was, NewEntry(runs)); c.Verdict != test.verdict {
			t.Errorf("%v: %s, want %s", test.now, c.Verdict, test.verdict)
		}
	}
	c := Compare(&was, NewEntry([]*Benchmark{benchmarkOf(9, 100, lineOf("a.F", "", 3), lineOf("a.New", "fmt.Sprint", 5), lineOf("a.G", "", 1))}))
	if len(c.Grown) != 2 || c.Grown[0].Function != "a.New" || c.Grown[1].Now.Cmp(big.NewRat(3, 1)) != 0 {
		t.Errorf("%+v", c.Grown)
	}
	made := func(line int, what string) *Line {
		l := lineOf("a.F", "runtime.newobject", 1)
		l.Frame.Line, l.Type = line, what
		return l
	}
	before := NewEntry([]*Benchmark{benchmarkOf(2, 100, made(9, "a.T"), made(12, "a.U"))})
	c = Compare(&before, NewEntry([]*Benchmark{benchmarkOf(3, 100, made(10, "a.T"), made(13, "a.U"), made(11, "int"))}))
	if len(c.Grown) != 1 || c.Grown[0].Line.Frame.Line != 11 {
		t.Errorf("the line that is new is not named: %+v", c.Grown)
	}
	if c := Compare(nil, was); c.Verdict != Unknown {
		t.Errorf("%s", c.Verdict)
	}
}

// A new budget waits for further runs where a few allocations of each whole run are missing, and only there.
func TestNewBudgetThatMayBeChance(t *testing.T) {
	for _, test := range []struct {
		runs []float64
		may  bool
	}{
		{[]float64{2}, false},
		{[]float64{0.25}, false},
		{[]float64{1.999}, true},
		{[]float64{1.99, 1.997}, true},
		{[]float64{1.98}, false},
		{[]float64{1.999, 2}, false},
		{[]float64{2.001}, false},
	} {
		var runs []*Benchmark
		for _, n := range test.runs {
			runs = append(runs, benchmarkOf(n, 1000))
		}
		if c := Compare(nil, NewEntry(runs)); c.MayBeChance() != test.may {
			t.Errorf("%v: %v", test.runs, c.MayBeChance())
		}
	}
	if c := Compare(nil, NewEntry([]*Benchmark{benchmarkOf(1.5, 10)})); c.MayBeChance() {
		t.Error("five of ten operations are taken for chance")
	}
}

func TestBudgetsWithErrors(t *testing.T) {
	for _, text := range []string{
		"sing", "\t3 a.F", "BenchmarkX a: 3", "BenchmarkX a: x over 10", "BenchmarkX a: 1/0 over 10", "BenchmarkX a: -1 over 10",
		"BenchmarkX a: 1 over 0", "BenchmarkX a: 1 over 99999999", "BenchmarkX a: 1 over 10\n\tmany a.F",
		"BenchmarkX a: 2 to 1 over 10", "BenchmarkX a: 1 over 10\nBenchmarkX b: 1 over 10\nBenchmarkX a: 9 over 10",
	} {
		if b, err := ParseBudget([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: %+v, %v", text, b, err)
		}
	}
}

func FuzzBudget(f *testing.F) {
	f.Add([]byte("BenchmarkX a: 1/4 to 1/2 over 10\n\t1/4 a.F calls b.G\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		b, err := ParseBudget(content)
		if err != nil {
			return
		}
		if _, err := ParseBudget(b.Format()); err != nil {
			t.Errorf("%v in %s", err, b.Format())
		}
	})
}

// Of an operation that allocates nothing the longer run may have less, by what
// a pool lost in the shorter one: its budget is none, and can be read.
func TestBudgetOfLessThanNothing(t *testing.T) {
	of := func(calls float64) *measured {
		return &measured{stacks: []Stack{{Frames: []Frame{{Function: "example.org/a.f"}}, Allocs: calls, Bytes: 16 * calls, Size: 16}}}
	}
	var runs []*Benchmark
	for _, long := range []float64{7, 17} {
		b := &Benchmark{Package: "example.org/a", Name: "F"}
		new(Tests).compute(b, of(long), of(12), 1000)
		runs = append(runs, b)
	}
	budget := Budget{Entries: []BudgetEntry{NewEntry(runs)}}
	if read, err := ParseBudget(budget.Format()); err != nil || read.Entries[0].figure() != "0 to 1/200" || runs[0].BytesPerOp != 0 {
		t.Errorf("%v: %s", err, budget.Format())
	}
}
