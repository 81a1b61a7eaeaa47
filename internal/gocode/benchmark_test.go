package gocode

import "testing"

// TestResultsOfBenchmarksThatPrint reads what benchmarks print in the midst of
// their results, and before their names.
func TestResultsOfBenchmarksThatPrint(t *testing.T) {
	const printed = "setting up\ngoos: linux\npkg: example.org/p\n" +
		"BenchmarkQuiet \t    1000\t       112.5 ns/op\n" +
		"BenchmarkLines      \t\n42\nhello 1\nhello 10\t\n    2000\t       761.5 ns/op\t 3.10 MB/s\n" +
		"no newlineBenchmarkOneLine  \tno newline    3000\t        50 ns/op\n" +
		"BenchmarkFails      \tfailing\n--- FAIL: BenchmarkFails\n    p_test.go:12: 4000 on purpose\n" +
		"BenchmarkOf/it=#01  \t2026/11/26 20:15:00 of a log\n    5000\t         0.00125 ns/op\n" +
		"--- BENCH: BenchmarkOf/it=#01\n    p_test.go:13: 6000\n" +
		"BenchmarkHidesTime  \tprinted\n       7\t         3.000 parts/op\n" +
		"PASS\ntearing down\n"
	all, err := (&Tests{Package: "example.org/p"}).results([]byte(printed))
	if err != nil {
		t.Fatal(err)
	}
	want := []Benchmark{{Name: "Quiet", NsPerOp: 112.5}, {Name: "Lines", NsPerOp: 761.5}, {Name: "OneLine", NsPerOp: 50}, {Name: "Of/it=#01", NsPerOp: 0.00125}, {Name: "HidesTime"}}
	for i, b := range all {
		if i >= len(want) || b.Name != want[i].Name || b.NsPerOp != want[i].NsPerOp {
			t.Errorf("%s takes %v", b.Name, b.NsPerOp)
		}
	}
	if len(all) != len(want) {
		t.Errorf("%d benchmarks instead of %d", len(all), len(want))
	}
}
