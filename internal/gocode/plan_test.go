package gocode

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// taking returns benchmarks that take so long for an operation.
func taking(times ...time.Duration) []*Benchmark {
	var all []*Benchmark
	for i, d := range times {
		all = append(all, &Benchmark{Name: fmt.Sprintf("B%d", i), NsPerOp: float64(d)})
	}
	return all
}

// planned is the plan in words: operations apart, and how many benchmarks.
func planned(all []sitting) string {
	var words []string
	for _, s := range all {
		words = append(words, fmt.Sprintf("%d:%d", s.apart, len(s.benchmarks)))
	}
	return strings.Join(words, " ")
}

func TestPlans(t *testing.T) {
	const second = time.Second
	many := make([]time.Duration, 500)
	for i := range many {
		many[i] = 10 * time.Microsecond
	}
	slow := make([]time.Duration, 500)
	for i := range slow {
		slow[i] = time.Millisecond
	}
	for name, test := range map[string]struct {
		p         planner
		times     []time.Duration
		want      string
		uncounted int
	}{
		"one":               {planner{exact: second, within: 20 * second}, []time.Duration{time.Microsecond}, "1000:1", 0},
		"no time known":     {planner{exact: second, within: 20 * second}, []time.Duration{0}, "10:1", 0},
		"one that is slow":  {planner{exact: second, within: 20 * second}, []time.Duration{40 * time.Millisecond}, "10:1", 0},
		"one of a second":   {planner{exact: second, within: 20 * second}, []time.Duration{second}, "2:1", 0},
		"of a ns":           {planner{exact: second, within: 20 * second}, []time.Duration{1}, "1000:1", 0},
		"one of an hour":    {planner{exact: second, within: 20 * second}, []time.Duration{time.Hour}, "", 1},
		"an hour, no limit": {planner{exact: second}, []time.Duration{time.Hour}, "2:1", 0},
		"fast and slow":     {planner{exact: second, within: 20 * second}, []time.Duration{second, time.Microsecond, time.Hour}, "1000:1 2:1", 1},
		"many":              {planner{exact: second, within: 20 * second}, many, "1000:200 1000:200 1000:100", 0},
		"many, alone":       {planner{exact: second, within: 20 * second, alone: true, setup: setups{start: 5 * time.Millisecond}}, many[:3], "1000:1 1000:1 1000:1", 0},
		"too many, alone":   {planner{exact: second, within: 20 * second, alone: true, setup: setups{start: second}}, many, "", 491},
		"many slow":         {planner{exact: second, within: 40 * second}, slow, "100:44 10:200 10:200 10:56", 0},
		"too many slow":     {planner{exact: second, within: 4 * second}, slow, "2:200 2:50", 250},
		"one slow to start": {planner{exact: second, within: 20 * second, setup: setups{start: second, each: map[string]time.Duration{"B1": 9 * second}}}, []time.Duration{second / 2, time.Microsecond, time.Microsecond}, "1000:1 2:1", 1},
		"slow to start":     {planner{exact: second, within: 20 * second, setup: setups{start: 11 * second}}, many, "", 500},
	} {
		all := taking(test.times...)
		sittings := test.p.plan(all)
		got := planned(sittings)
		if test.want != "" && got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		uncounted := 0
		counted := make(map[*Benchmark]bool)
		var takes time.Duration
		for _, s := range sittings {
			takes += 2 * test.p.setup.process(s.benchmarks...)
			for _, b := range s.benchmarks {
				counted[b] = true
				takes += operationTime(b) * time.Duration(s.operations())
			}
		}
		for _, b := range all {
			if b.Uncounted != "" {
				uncounted++
			}
			if counted[b] == (b.Uncounted != "") {
				t.Errorf("%s: %s is counted: %v, and not: %q", name, b.Name, counted[b], b.Uncounted)
			}
		}
		if uncounted != test.uncounted {
			t.Errorf("%s: %d are not counted, want %d", name, uncounted, test.uncounted)
		}
		if test.p.within > 0 && takes > test.p.within {
			t.Errorf("%s: it takes %v", name, takes)
		}
	}
}

func TestSharesOfSetUp(t *testing.T) {
	r := ran{printed: new(clocked)}
	print := func(after time.Duration, text string) {
		r.printed.Write([]byte(text))
		r.printed.parts[len(r.printed.parts)-1].when = after
	}
	print(1*time.Second, "BenchmarkA/x  \t")
	print(1*time.Second, "       1\t 500000000 ns/op\n")
	print(2*time.Second, "BenchmarkA/y \t       1\t 500000000 ns/op\n")
	print(6*time.Second, "BenchmarkB \t       1\t 1000000000 ns/op\nPASS\n")
	each, first := r.share(8*time.Second, []*Benchmark{{Name: "A/x", NsPerOp: 0.5e9}, {Name: "A/y", NsPerOp: 0.5e9}, {Name: "B", NsPerOp: 1e9}})
	if first != "A" || len(each) != 2 || each["A"] != 2*time.Second || each["B"] != 6*time.Second {
		t.Error(each, first)
	}
	s := setups{start: time.Second, each: each}
	if got := s.process(&Benchmark{Name: "A/x"}, &Benchmark{Name: "A/y"}, &Benchmark{Name: "C"}); got != 3*time.Second {
		t.Error(got)
	}
}

// Package testing matches names part by part, and alternatives at the top.
func TestExpressionsOfSeveralBenchmarks(t *testing.T) {
	of := func(names ...string) []*Benchmark {
		var all []*Benchmark
		for _, name := range names {
			all = append(all, &Benchmark{Name: name})
		}
		return all
	}
	for _, test := range []struct {
		all  []*Benchmark
		want string
	}{
		{of("A"), "^BenchmarkA$"},
		{of("A/b(c"), `^BenchmarkA$/^b\(c$`},
		{of("A", "_B"), "^(BenchmarkA|Benchmark_B)$"},
		{of("A/x=1", "B", "A/x=2|3", "A/y/z"), `^BenchmarkA$/^(x=1|x=2\|3)$|^(BenchmarkB)$|^BenchmarkA$/^y$/^(z)$`},
	} {
		got := together(test.all)
		if got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
		if _, err := regexp.Compile(got); err != nil {
			t.Error(err)
		}
	}
}

func TestPartsOfBenchmarks(t *testing.T) {
	c, err := parseCounts(file(
		Record{Allocs: 7, Size: 8, PCs: []uint64{1}},
		Record{Allocs: 3, Size: markSize, Type: "BenchmarkA", benchmark: 1},
		Record{Allocs: 10, Size: 8, PCs: []uint64{1}, benchmark: 1},
		Record{Allocs: 4, Size: markSize},
		Record{Allocs: 4, Size: markSize, Type: "BenchmarkA/b", benchmark: 2},
		Record{Allocs: 20, Size: 8, PCs: []uint64{1}, benchmark: 2},
		Record{Allocs: 6, Size: markSize, Type: "BenchmarkA", benchmark: 3},
		Record{Allocs: 30, Size: 8, PCs: []uint64{2}, benchmark: 3},
		Record{Allocs: 11, Size: markSize},
	))
	if err != nil || len(c.Records) != 4 {
		t.Fatal(c, err)
	}
	stacks := make([]Stack, len(c.Records))
	for i := range stacks {
		stacks[i].Allocs = float64(c.Records[i].Allocs)
	}
	each := c.each(stacks)
	a, b := each["BenchmarkA"], each["BenchmarkA/b"]
	if len(each) != 2 || a.mallocs != 40 || len(a.stacks) != 2 || a.collections != 1+5 || b.mallocs != 20 || b.collections != 2 {
		t.Errorf("%+v %+v", a, b)
	}
}

// The runtime is told which benchmark runs where package testing is as known;
// otherwise each has processes of its own.
func TestTestingTellsTheBenchmark(t *testing.T) {
	chain := toolchainOf(t, runtimes["mallocgc alone"])
	if files, err := chain.runtimeFiles(); err != nil || files["testing/mallow_benchmark.go"] != "" || chain.marks() {
		t.Errorf("without a known package testing: %v", err)
	}
	const known = "package testing\n\nfunc (b *B) runN(n int) {\n\tbenchmarkLock.Lock()\n\tdefer benchmarkLock.Unlock()\n\trun()\n}\n"
	chain = toolchainOf(t, map[string]string{
		"malloc.go": runtimes["mallocgc alone"]["malloc.go"], "proc.go": procedures, "../testing/benchmark.go": known,
	})
	files, err := chain.runtimeFiles()
	if err != nil || !chain.marks() || files["testing/mallow_benchmark.go"] == "" || !strings.Contains(files["testing/benchmark.go"], "; mallowBenchmark(b.name); defer mallowBenchmark(\"\")\n\trun()") {
		t.Errorf("%v %v", files["testing/benchmark.go"], err)
	}
}
