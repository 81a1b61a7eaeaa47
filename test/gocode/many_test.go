package gocode

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// Hundreds of benchmarks are counted by a handful of processes, each exactly,
// and what takes too long is named.
func TestManyBenchmarks(t *testing.T) {
	log := filepath.Join(harness.TempDir(t), "log")
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "test", "--json", "--benchtime", "10x", "--within", "4s"},
		Settings:  append(settings(t), "MANY_LOG="+log, "GOMAXPROCS=1"), Directory: source(t, "many"), Timeout: fixTimeout,
	})
	var r struct {
		Benchmarks []struct {
			Name        string
			AllocsPerOp *float64 `json:"allocs_per_op"`
			Operations  uint64
			Checked     bool
			Uncounted   *string
			NoCPU       *string `json:"no_cpu"`
		}
	}
	if err := json.Unmarshal([]byte(result.Output), &r); err != nil || result.Status != 0 {
		t.Fatalf("status %d: %v %s", result.Status, err, result.Errors)
	}
	if len(r.Benchmarks) != 501 {
		t.Errorf("%d benchmarks", len(r.Benchmarks))
	}
	expected := 0 // operations of the counting runs
	for _, b := range r.Benchmarks {
		if b.NoCPU == nil || !strings.Contains(*b.NoCPU, "each of 501 benchmarks") {
			t.Fatalf("%s: %v", b.Name, b.NoCPU)
		}
		if b.Name == "Slow" {
			if b.AllocsPerOp != nil || b.Uncounted == nil || !strings.Contains(*b.Uncounted, "together (--within)") {
				t.Errorf("%+v", b)
			}
			continue
		}
		n, err := strconv.Atoi(strings.TrimPrefix(b.Name, "Many/n="))
		if err != nil || b.AllocsPerOp == nil || *b.AllocsPerOp != float64(n%10) || !b.Checked || b.Operations == 0 {
			t.Errorf("%+v", b)
		}
		expected += 2*11 + int(b.Operations)
	}
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	operations, processes := 0, strings.Fields(string(content))
	for _, text := range processes {
		n, _ := strconv.Atoi(text)
		operations += n
	}
	// One process tells which there are, one the time; three pairs count, or more where some must be short.
	timed := 501 * (1 + 11)
	if len(processes) > 2+2*8 || operations > expected+timed {
		t.Errorf("%d processes, %d operations, want at most %d", len(processes), operations, expected+timed)
	}
}

// What one benchmark makes before its first operation is no time that others need: they are counted in full.
func TestOneBenchmarkIsSlowToStart(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "go.mod"), "module example.org/start\n\ngo 1.26\n")
	put(t, filepath.Join(folder, "start_test.go"), `package start

import (
	"syscall"
	"testing"
)

var sink *int

// used is the CPU time of the process: on a busy machine less than passes.
func used() (milliseconds int64) {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1e6
}

func BenchmarkBefore(b *testing.B) {
	for b.Loop() {
		sink = new(int)
	}
}

func BenchmarkPrepares(b *testing.B) {
	for began := used(); used()-began < 1500; {
	}
	b.ResetTimer()
	for range b.N {
		sink = new(int)
	}
}

func BenchmarkBehind(b *testing.B) {
	for range b.N {
		sink = new(int)
		sink = new(int)
	}
}
`)
	for within, want := range map[string]string{"2s": "1 1000,? 0,2 1000", "20s": "1 1000,1 1000,2 1000"} {
		result := harness.Run(t, harness.Command{
			Arguments: []string{harness.CLI(t), "go", "test", "--json", "--benchtime", "10x", "--within", within}, Settings: settings(t), Directory: folder, Timeout: fixTimeout,
		})
		var r struct {
			Benchmarks []struct {
				AllocsPerOp *float64 `json:"allocs_per_op"`
				Operations  uint64
			}
		}
		if err := json.Unmarshal([]byte(result.Output), &r); err != nil || result.Status != 0 {
			t.Fatalf("status %d: %v %s", result.Status, err, result.Errors)
		}
		var got []string
		for _, b := range r.Benchmarks {
			figure := "?"
			if b.AllocsPerOp != nil {
				figure = strconv.FormatFloat(*b.AllocsPerOp, 'g', 3, 64)
			}
			got = append(got, fmt.Sprint(figure, " ", b.Operations))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("within %s: %v, want %s", within, got, want)
		}
	}
}

// A package that cannot be measured does not keep the others from it.
func TestOneOfSeveralPackagesFails(t *testing.T) {
	folder := copied(t, "nested")
	for name, content := range map[string]string{
		"broken/broken.go":            "package broken\n\nfunc Half() {\n",
		"broken/broken_test.go":       "package broken\n\nimport \"testing\"\n\nfunc BenchmarkBroken(b *testing.B) {}\n",
		"failing/failing_test.go":     "package failing\n\nimport \"testing\"\n\nfunc BenchmarkFails(b *testing.B) { b.Fatal(\"no server\") }\n\nfunc BenchmarkWorks(b *testing.B) {\n\tfor b.Loop() {\n\t\tsink = new(int)\n\t}\n}\n\nvar sink *int\n",
		"failing/sometimes_test.go":   "package failing\n\nimport \"testing\"\n\nfunc BenchmarkSometimes(b *testing.B) {\n\tfor range b.N {\n\t\tsink = new(int)\n\t}\n\tif b.N > 500 {\n\t\tb.Fatal(\"too much\")\n\t}\n}\n",
		"importing/importing.go":      "package importing\n\nimport _ \"example.org/nothing\"\n",
		"importing/some_test.go":      "package importing\n\nimport \"testing\"\n\nfunc BenchmarkNo(b *testing.B) {}\n",
		"mixed/one.go":                "package one\n",
		"mixed/two.go":                "package two\n",
		"panicking/panicking_test.go": "package panicking\n\nimport \"testing\"\n\nfunc TestMain(*testing.M) { panic(\"at the disco\") }\n\nfunc BenchmarkPanics(*testing.B) {}\n",
	} {
		put(t, filepath.Join(folder, name), content)
	}
	before := everything(t, folder)
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "test", "--benchtime", "10x", "./..."}, Settings: settings(t), Directory: folder, Timeout: fixTimeout,
	})
	for _, words := range []string{"BenchmarkInner  37 allocations/op", "BenchmarkOuter  ", "BenchmarkWorks  1 allocations/op"} {
		if !strings.Contains(result.Output, words) {
			t.Errorf("%q is missing in\n%s", words, result.Output)
		}
	}
	for _, words := range []string{
		"the tests of example.org/nested/broken do not build:\n", "syntax error", "a benchmark of example.org/nested/failing fails:\n", "no server", "too much",
		"the tests of example.org/nested/importing do not build", "example.org/nothing", "found packages one (one.go) and two (two.go)", "at the disco",
	} {
		if !strings.Contains(result.Errors, words) {
			t.Errorf("%q is missing in\n%s", words, result.Errors)
		}
	}
	if result.Status != 1 || strings.Contains(result.Output, "BenchmarkSometimes") {
		t.Errorf("status %d: %s", result.Status, result.Output)
	}
	if everything(t, folder) != before {
		t.Error("files were changed")
	}
}

// A benchmark that panics does so beside the goroutine that waits for it, which may print a result and end the process
// first, with status 0. It has not run, and those behind it are measured.
func TestBenchmarksThatPanic(t *testing.T) {
	folder := copied(t, "nested")
	put(t, filepath.Join(folder, "panicking/panicking_test.go"), `package panicking

import (
	"os"
	"testing"
	"time"
)

var sink *int

// slow panics are printed long after package testing has gone on.
type slow struct{ pause time.Duration }

func (s slow) Error() string { time.Sleep(s.pause); return "at the disco" }

func BenchmarkFirst(b *testing.B) {
	for range b.N {
		sink = new(int)
	}
}

func BenchmarkAtOnce(b *testing.B) { panic("at once") }

func BenchmarkInside(b *testing.B) {
	for _, name := range []string{"well", "ill"} {
		b.Run(name, func(b *testing.B) {
			sink = new(int)
			if name == "ill" {
				panic("inside")
			}
		})
	}
}

func BenchmarkBetween(b *testing.B) {
	for range b.N {
		sink = new(int)
	}
}

func BenchmarkLater(b *testing.B) {
	for range b.N {
		sink = new(int)
	}
	if b.N > 1 {
		panic(slow{time.Second})
	}
}

func BenchmarkExits(b *testing.B) { os.Exit(0) }

func BenchmarkBehind(b *testing.B) {
	for range b.N {
		sink = new(int)
	}
}

func BenchmarkLast(b *testing.B) {
	panic(slow{time.Minute})
}
`)
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "test", "--benchtime", "10x", "./panicking"}, Settings: settings(t), Directory: folder, Timeout: fixTimeout,
	})
	for _, words := range []string{"BenchmarkFirst  1 allocations/op", "BenchmarkInside/well  0 allocations/op", "BenchmarkBetween  1 allocations/op", "BenchmarkBehind  1 allocations/op"} {
		if !strings.Contains(result.Output, words) {
			t.Errorf("%q is missing in\n%s", words, result.Output)
		}
	}
	for _, words := range []string{"at once", "inside", "os.Exit(0)", "BenchmarkLater of example.org/nested/panicking did not come to its end", "BenchmarkLast of example.org/nested/panicking did not come to its end"} {
		if !strings.Contains(result.Errors, words) {
			t.Errorf("%q is missing in\n%s", words, result.Errors)
		}
	}
	for _, words := range []string{"BenchmarkAtOnce", "BenchmarkLater", "BenchmarkLast", "/ill", "BenchmarkExits"} {
		if strings.Contains(result.Output, words) {
			t.Errorf("%q has run in\n%s", words, result.Output)
		}
	}
	if result.Status != 1 {
		t.Errorf("status %d", result.Status)
	}
}

// There is room for some 200,000 call stacks in one process. Benchmarks that have more together are counted apart, and one
// that has more alone is named.
func TestManyStacks(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "go.mod"), "module example.org/stacks\n\ngo 1.26\n")
	put(t, filepath.Join(folder, "stacks_test.go"), `package stacks

import (
	"fmt"
	"testing"
)

var sink *int

func branch(depth int) {
	if depth == 0 {
		sink = new(int)
		return
	}
	branch(depth - 1)
	branch(depth - 1)
}

func BenchmarkTogether(b *testing.B) {
	for i := range 14 {
		b.Run(fmt.Sprint(i), func(b *testing.B) {
			for b.Loop() {
				branch(14)
			}
		})
	}
}

func BenchmarkTooMany(b *testing.B) {
	for b.Loop() {
		branch(18)
	}
}
`)
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "test", "--benchtime", "2x", "--exact-seconds", "0.01"}, Settings: settings(t), Directory: folder, Timeout: fixTimeout,
	})
	if n := strings.Count(result.Output, "  16,384 allocations/op,"); n != 14 || strings.Count(result.Output, "allocations/op,") != n {
		t.Errorf("%d benchmarks of 14 are counted:\n%s", n, result.Output)
	}
	if result.Status != 1 || !strings.Contains(result.Errors, "BenchmarkTooMany") || !strings.Contains(result.Errors, "too many different call stacks") {
		t.Errorf("status %d: %s", result.Status, result.Errors)
	}
}
