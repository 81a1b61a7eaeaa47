package gocode

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

func gate(t *testing.T, folder string, flags ...string) harness.Result {
	t.Helper()
	return harness.Run(t, harness.Command{
		Arguments: append([]string{harness.CLI(t), "go", "gate"}, flags...), Settings: settings(t), Directory: folder, Timeout: fixTimeout,
	})
}

func TestGate(t *testing.T) {
	folder := copied(t, "digest")
	if r := gate(t, folder); r.Status != 1 || !strings.Contains(r.Errors, "--update writes it") {
		t.Errorf("without a budget: status %d: %s", r.Status, r.Errors)
	}
	if r := gate(t, folder, "--update"); r.Status != 0 || !strings.Contains(r.Output, "new    BenchmarkWord: 2,031 allocations/op") {
		t.Fatalf("--update: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
	budget, err := os.ReadFile(filepath.Join(folder, "mallow.go.budget"))
	if err != nil || !strings.Contains(string(budget), "\t2000 example.org/digest.Word calls strconv.Itoa\n") ||
		!strings.Contains(string(budget), "\nBenchmarkNow_and_then example.org/digest: 1/4 over 1000\n") {
		t.Errorf("%v: %s", err, budget)
	}
	// How often a collection empties the pool is chance: the runs for the budget may have been the worst of all.
	if r := gate(t, folder); r.Status != 0 || strings.Count(r.Output, "kept ")+strings.Count(r.Output, "fewer  BenchmarkPool: ") != 8 {
		t.Errorf("of what did not change: status %d: %s%s", r.Status, r.Output, r.Errors)
	}

	change(t, folder, "return string(word)", "return string(word) + strconv.Itoa(1000 + len(word))[:0]")
	r := gate(t, folder, "--bench", "Word")
	if r.Status != 2 || !strings.Contains(r.Output, "more   BenchmarkWord: 2,032 allocations/op, the budget has 2,031\n         2,000 -> 2,001  digest.Word calls strconv.Itoa") {
		t.Errorf("of one more: status %d: %s%s", r.Status, r.Output, r.Errors)
	}

	change(t, folder, "return string(word) + strconv.Itoa(1000 + len(word))[:0]", "return string(word)")
	change(t, folder, "range 2000", "range 1999")
	if r := gate(t, folder, "--bench", "Word"); r.Status != 0 || !strings.Contains(r.Output, "fewer  BenchmarkWord") {
		t.Errorf("of fewer: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
	r = gate(t, folder, "--bench", "Word", "--strict", "--json")
	var report struct {
		Schema string
		Checks []struct {
			Benchmark, Class, Verdict string
			Was, Now                  float64
		}
	}
	if err := json.Unmarshal([]byte(r.Output), &report); err != nil || r.Status != 4 || report.Schema != "mallow.gate/1" || len(report.Checks) != 1 ||
		report.Checks[0].Verdict != "fewer" || report.Checks[0].Class != "exact" || report.Checks[0].Was != 2031 || report.Checks[0].Now != 2030 {
		t.Errorf("--strict: status %d: %v %s", r.Status, err, r.Output)
	}
}

// A budget that nothing was held to is said, and kept: what is skipped here may
// run elsewhere.
func TestGateOfWhatDoesNotRun(t *testing.T) {
	folder := copied(t, "chance")
	budget := "BenchmarkChance example.org/chance: 2 over 1000\n\nBenchmarkGone example.org/chance: 3 over 1000\n\nBenchmarkOther example.org/other: 3 over 1000\n"
	file := filepath.Join(folder, "mallow.go.budget")
	if err := errors.Join(os.WriteFile(file, []byte(budget), 0o644), os.WriteFile(filepath.Join(folder, "luckless"), []byte("0"), 0o644)); err != nil {
		t.Fatal(err)
	}
	const note = "BenchmarkGone of example.org/chance did not run, and mallow.go.budget has a budget for it"
	if r := gate(t, folder); r.Status != 0 || !strings.Contains(r.Output, "\nnote: "+note) || strings.Contains(r.Output, "Other") {
		t.Errorf("status %d: %s%s", r.Status, r.Output, r.Errors)
	}
	var report struct{ Notes []string }
	if r := gate(t, folder, "--json"); json.Unmarshal([]byte(r.Output), &report) != nil || len(report.Notes) != 1 || !strings.HasPrefix(report.Notes[0], note) {
		t.Errorf("--json: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
	if r := gate(t, folder, "--bench", "Chance"); r.Status != 0 || strings.Contains(r.Output, "note") {
		t.Errorf("of what was not asked for: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
	if r := gate(t, folder, "--update"); r.Status != 0 || !strings.Contains(r.Output, "note: "+note) {
		t.Errorf("--update: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
	if kept, err := os.ReadFile(file); err != nil || !strings.Contains(string(kept), "BenchmarkGone example.org/chance: 3 over 1000\n") {
		t.Errorf("%v: %s", err, kept)
	}
}

// Benchmarks that seed their random numbers with the time are alike within its unit, often a second: what has no
// budget yet is counted in several.
func TestGateInSeveralSeconds(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "go.mod"), "module example.org/seeded\n\ngo 1.26\n")
	put(t, filepath.Join(folder, "seeded_test.go"), `package seeded

import (
	"fmt"
	"os"
	"testing"
	"time"
)

var (
	sink *int
	seed = time.Now().Unix()
)

func BenchmarkSeeded(b *testing.B) {
	if b.N == 1010 {
		file, _ := os.OpenFile("seeds", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		fmt.Fprintln(file, seed)
		file.Close()
	}
	for range b.N {
		sink = new(int)
	}
}
`)
	r := gate(t, folder, "--update")
	content, err := os.ReadFile(filepath.Join(folder, "seeds"))
	seeds := strings.Fields(string(content))
	different := slices.Compact(slices.Clone(seeds))
	if r.Status != 0 || err != nil || len(seeds) != 3 || len(different) != 3 {
		t.Errorf("status %d: %v, seeds %v: %s%s", r.Status, err, seeds, r.Output, r.Errors)
	}
}

// What is more in some runs alone is no accusation; what is more in all of them
// is, with digits that tell it apart.
func TestGateOfChance(t *testing.T) {
	folder := copied(t, "chance")
	luckless := func(processes int) {
		if err := os.WriteFile(filepath.Join(folder, "luckless"), fmt.Append(nil, processes), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	luckless(0)
	if r := gate(t, folder, "--update"); r.Status != 0 || !strings.Contains(r.Output, "new    BenchmarkChance: 2 allocations/op") {
		t.Fatalf("--update: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
	luckless(11) // five counts of two processes each, at least four of them
	if r := gate(t, folder); r.Status != 0 || !strings.Contains(r.Output, "kept   BenchmarkChance: 2 to 2.001 allocations/op") {
		t.Errorf("of some luckless runs: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
	luckless(1000)
	if r := gate(t, folder); r.Status != 2 || !strings.Contains(r.Output, "more   BenchmarkChance: 2.001 allocations/op, the budget has 2\n") {
		t.Errorf("of luckless runs alone: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
}

// change replaces words of digest.go.
func change(t *testing.T, folder, from, to string) {
	t.Helper()
	path := filepath.Join(folder, "digest.go")
	content, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(content), from) {
		t.Fatalf("%v: no %q", err, from)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A benchmark that fails, in whichever round, and a package that cannot be
// measured keep nobody else from the verdict, and the budget is not written.
func TestGateWhereSomeFail(t *testing.T) {
	folder := copied(t, "nested")
	put(t, filepath.Join(folder, "broken/broken.go"), "package broken\n\nfunc Half() {\n")
	put(t, filepath.Join(folder, "broken/broken_test.go"), "package broken\n\nimport \"testing\"\n\nfunc BenchmarkBroken(b *testing.B) {}\n")
	put(t, filepath.Join(folder, "failing/failing_test.go"), `package failing

import "testing"

var sink *int

func allocates(b *testing.B) {
	for range b.N {
		sink = new(int)
	}
}

func BenchmarkFails(b *testing.B) { b.Fatal("no server") }

func BenchmarkFew(b *testing.B) {
	if b.N == 11 || b.N == 10 {
		b.Skip("not so few")
	}
	allocates(b)
}

func BenchmarkSkips(b *testing.B) {
	if b.N > 1 {
		b.Skip("not so many")
	}
}

func BenchmarkWorks(b *testing.B) { allocates(b) }
`)
	budget := filepath.Join(folder, "mallow.go.budget")
	written := "BenchmarkFails example.org/nested/failing: 3 over 10\n\nBenchmarkGone example.org/nested/failing: 3 over 10\n\n" +
		"BenchmarkInner example.org/nested/inner: 36 over 10\n\nBenchmarkWorks example.org/nested/failing: 1 over 10\n"
	put(t, budget, written)
	check := func(name string, r harness.Result, status int) {
		t.Helper()
		for _, words := range []string{"more   BenchmarkInner: 37 allocations/op", "kept   BenchmarkWorks: 1 allocations/op"} {
			if !strings.Contains(r.Output, words) {
				t.Errorf("%s: %q is missing in\n%s", name, words, r.Output)
			}
		}
		for _, words := range []string{
			"the tests of example.org/nested/broken do not build:\n", "a benchmark of example.org/nested/failing fails:\n", "no server",
			"BenchmarkFew of example.org/nested/failing did not come to its end: it was skipped after its first round (failing_test.go:17: not so few), panicked, or called runtime.Goexit",
			"BenchmarkSkips of example.org/nested/failing did not come to its end: it was skipped after its first round (failing_test.go:24: not so many), panicked, or called runtime.Goexit",
		} {
			if strings.Count(r.Errors, words) != 1 {
				t.Errorf("%s: %q stands %d times in\n%s", name, words, strings.Count(r.Errors, words), r.Errors)
			}
		}
		if r.Status != status || strings.Contains(r.Output, "note: ") || strings.Contains(r.Output, "BenchmarkFew") {
			t.Errorf("%s: status %d: %s", name, r.Status, r.Output)
		}
	}
	check("gate", gate(t, folder, "./..."), 2)
	r := gate(t, folder, "--update", "./...")
	check("--update", r, 1)
	if kept, err := os.ReadFile(budget); err != nil || string(kept) != written || !strings.Contains(r.Errors, "nothing was written") {
		t.Errorf("%v: %s%s", err, kept, r.Errors)
	}
	if r := gate(t, folder, "--bench", "Works|Skips", "./failing"); r.Status != 1 || !strings.Contains(r.Output, "kept   BenchmarkWorks") {
		t.Errorf("of what is kept beside one that fails: status %d: %s%s", r.Status, r.Output, r.Errors)
	}
}
