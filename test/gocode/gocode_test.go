// Package gocode counts the allocations of Go programs that are known by construction.
package gocode

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mallow/test/harness"
)

type report struct {
	Schema     string
	Benchmarks []struct {
		Package     string
		Name        string
		AllocsPerOp float64 `json:"allocs_per_op"`
		BytesPerOp  float64 `json:"bytes_per_op"`
		Untimed     float64 `json:"untimed_allocs_per_op"`
		NsPerOp     float64 `json:"ns_per_op"`
		Operations  uint64
		Checked     bool
	}
	Processes []struct {
		PID         uint64
		Allocations uint64
		Checked     bool
	}
	Lines   []line
	Unsound []struct {
		File    string
		Line    int
		Rule    string
		Message string
	}
}

type line struct {
	Benchmark   string
	PID         uint64
	File        string
	Line        int
	Function    string
	Callee      string
	Type        string
	AllocsPerOp float64 `json:"allocs_per_op"`
	Objects     float64
	Bytes       float64
	Why         string
	Remedy      string
	Rule        string
}

// at returns the allocations of a line, which is found by words that it has.
func (r *report) at(t *testing.T, file, words string, accept func(line) bool) float64 {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	number := 1 + strings.Count(string(content)[:strings.Index(string(content), words)], "\n")
	var sum float64
	for _, l := range r.Lines {
		if l.File == file && l.Line == number && accept(l) {
			sum += l.Objects
		}
	}
	return sum
}

// inFolder runs mallow in a folder of testdata and returns what it prints, and the JSON in that.
func inFolder(t *testing.T, folder string, arguments ...string) (harness.Result, report) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the Go runtime is known on amd64 only")
	}
	result := harness.Run(t, harness.Command{
		Arguments: append([]string{harness.CLI(t), "go"}, arguments...), Settings: settings(t), Directory: source(t, folder), Timeout: fixTimeout,
	})
	var r report
	if strings.HasPrefix(result.Output, "{") {
		if err := json.Unmarshal([]byte(result.Output), &r); err != nil || r.Schema != "mallow.go/1" {
			t.Fatalf("%v in %s", err, result.Output)
		}
	}
	return result, r
}

// home is of all tests: what mallow finds out about a version of Go, and the changed runtime, are made once.
var home string

func TestMain(m *testing.M) { os.Exit(harness.RunWithHome(m, &home)) }

// settings let the go command work as it does in the test itself.
func settings(t *testing.T) []string {
	return append(harness.GoSettings(t), "PATH="+os.Getenv("PATH"), "HOME="+home)
}

func source(t *testing.T, folder string) string {
	return filepath.Join(harness.Root(), "test", "gocode", "testdata", folder)
}

// built runs the program of testdata/exits, built once as it is.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exits")
	result := harness.Run(t, harness.Command{Arguments: []string{"go", "build", "-o", path, "."}, Settings: settings(t), Directory: source(t, "exits")})
	if result.Status != 0 {
		t.Fatal(result.Errors)
	}
	return path
}

func TestEveryExit(t *testing.T) {
	plain := built(t)
	file := filepath.Join(source(t, "exits"), "main.go")
	for _, how := range []string{
		"return", "exit", "fatal", "panic", "panic-elsewhere", "nil", "deadlock", "goexit", "maps",
		"interrupt", "terminate", "kill", "raw-exit", "execute", "threads", "stacks", "again",
	} {
		t.Run(how, func(t *testing.T) {
			want := harness.Run(t, harness.Command{Arguments: []string{plain, how}, Settings: settings(t)})
			got, r := inFolder(t, "exits", "run", "--json", ".", how)
			if got.Ending() != want.Ending() {
				t.Errorf("ended by %s, as it is by %s: %s", got.Ending(), want.Ending(), got.Errors)
			}
			// Its output went to stderr. Numbers of goroutines, addresses and lines of the runtime differ.
			for _, text := range strings.Split(strings.TrimSpace(want.Output+want.Errors), "\n") {
				differs := strings.Contains(text, "0x") || strings.Contains(text, "/proc.go:") || strings.HasPrefix(text, "goroutine ")
				if !differs && !strings.Contains(got.Errors, text) {
					t.Errorf("%q is missing in\n%s", text, got.Errors)
				}
			}
			processes := 1.0
			if how == "again" {
				processes = 2
			}
			if n := r.at(t, file, "// the line", func(l line) bool { return l.Type == "main.node" }); n != 1000*processes {
				t.Errorf("%g objects of %g", n, 1000*processes)
			}
			if n := r.at(t, file, "// in eight goroutines", func(l line) bool { return l.Type == "main.node" }); how == "threads" && n != 80_000 {
				t.Errorf("%g objects of 80000 in goroutines", n)
			}
			if n := r.at(t, file, "// by many stacks", func(l line) bool { return l.Type == "main.node" }); how == "stacks" && n != 1<<14 {
				t.Errorf("%g objects of %d by many stacks", n, 1<<14)
			}
			switch how {
			case "return", "exit", "fatal", "threads", "stacks":
				if len(r.Processes) != 1 || !r.Processes[0].Checked {
					t.Errorf("not compared with runtime.MemStats: %+v", r.Processes)
				}
			}
		})
	}
}

// Flags that leave symbols out are for what is installed; here nothing would have a name.
func TestWithoutSymbols(t *testing.T) {
	file := filepath.Join(source(t, "exits"), "main.go")
	for name, test := range map[string]struct {
		settings  []string
		arguments []string
	}{
		"flag":    {nil, []string{"-ldflags", "-s -w"}},
		"GOFLAGS": {[]string{"GOFLAGS=-ldflags=-s"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			result := harness.Run(t, harness.Command{
				Arguments: append(append([]string{harness.CLI(t), "go", "run", "--json"}, test.arguments...), ".", "return"),
				Settings:  append(settings(t), test.settings...), Directory: source(t, "exits"),
			})
			var r report
			if err := json.Unmarshal([]byte(result.Output), &r); err != nil || result.Status != 0 {
				t.Fatal(result.Status, err, result.Errors)
			}
			if n := r.at(t, file, "// the line", func(l line) bool { return l.Type == "main.node" }); n != 1000 {
				t.Errorf("%g objects of 1000", n)
			}
		})
	}
}

func TestBenchmarks(t *testing.T) {
	_, r := inFolder(t, "digest", "test", "--json", "--benchtime", "10x", ".")
	want := map[string]float64{
		"Word": 2000 + 20 + 1 + 1 + 9, "Loop": 1, "Kinds/n=1/tiny": 1, "Kinds/n=10/tiny": 10, "Now_and_then": 0.25,
		"Paused": 1, "Prepared": 2, // and ten that the timer leaves out; and two
		"Pool": 2, // and one more when a collection has emptied it
	}
	for _, b := range r.Benchmarks {
		if !b.Checked || b.Operations == 0 || b.NsPerOp <= 0 {
			t.Errorf("%+v", b)
		}
		tolerance := 0.02
		if b.Name == "Pool" {
			tolerance = 0.1
		}
		if b.Name != "Word" && math.Abs(b.AllocsPerOp-want[b.Name]) > tolerance {
			t.Errorf("%s: %g allocations per operation, want %g", b.Name, b.AllocsPerOp, want[b.Name])
		}
		if untimed := map[string]float64{"Paused": 10, "Prepared": 2}[b.Name]; math.Abs(b.Untimed-untimed) > 0.02 {
			t.Errorf("%s: %g allocations per operation that the timer leaves out, want %g", b.Name, b.Untimed, untimed)
		}
		delete(want, b.Name)
	}
	if len(want) > 0 {
		t.Errorf("not measured: %v", want)
	}
	file := filepath.Join(source(t, "digest"), "digest.go")
	for words, callee := range map[string]string{"// 2000 tiny strings": "strconv.Itoa", "// 20 alphabets": "strings.Repeat"} {
		var number float64 = 2000
		if callee == "strings.Repeat" {
			number = 20
		}
		if n := r.at(t, file, words, func(l line) bool { return l.Callee == callee }); n != number {
			t.Errorf("%s: %g per operation, want %g", callee, n, number)
		}
	}
}

// A package is measured and fixed from the folder of another.
func TestPackagesBelow(t *testing.T) {
	_, r := inFolder(t, "nested", "test", "--json", "--benchtime", "10x", "./...")
	of := make(map[string]string)
	for _, b := range r.Benchmarks {
		of[b.Name] = b.Package
	}
	if len(of) != 2 || of["Outer"] != "example.org/nested" || of["Inner"] != "example.org/nested/inner" {
		t.Errorf("%v", of)
	}
	result, l := fix(t, source(t, "nested"), "./inner")
	if len(l.Ladder) < 2 || l.Ladder[0].AllocsPerOp < 30 {
		t.Errorf("%+v %s", l, result.Errors)
	}
}

// Function literals of other packages that the compiler puts into a function of the module are called as if they were
// parts of it: their allocations are those of the module's line all the same.
func TestLiteralsOfOthers(t *testing.T) {
	folder := harness.TempDir(t)
	for name, content := range map[string]string{
		"go.mod":     "module example.org/keys\n\ngo 1.24\n\nrequire example.org/dep v0.0.0\n\nreplace example.org/dep => ./dep\n",
		"dep/go.mod": "module example.org/dep\n\ngo 1.24\n",
		"dep/dep.go": "package dep\n\nfunc Each(n int) func(func(*[3]int) bool) {\n\treturn func(yield func(*[3]int) bool) {\n\t\tfor range n {\n" +
			"\t\t\tif !yield(new([3]int)) {\n\t\t\t\treturn\n\t\t\t}\n\t\t}\n\t}\n}\n",
		"keys.go": "package keys\n\nimport (\n\t\"maps\"\n\t\"slices\"\n\n\t\"example.org/dep\"\n)\n\nfunc Keys(m map[string]int) []string {\n" +
			"\treturn slices.Collect(maps.Keys(m))\n}\n\nvar Last *[3]int\n\nfunc All() {\n\tfor p := range dep.Each(4) {\n\t\tLast = p\n\t}\n}\n",
		"keys_test.go": "package keys\n\nimport \"testing\"\n\nvar kept []string\n\nfunc BenchmarkKeys(b *testing.B) {\n\tm := map[string]int{\"a\": 1, \"b\": 2, \"c\": 3}\n" +
			"\tfor b.Loop() {\n\t\tkept = Keys(m)\n\t}\n}\n\nfunc BenchmarkAll(b *testing.B) {\n\tfor b.Loop() {\n\t\tAll()\n\t}\n}\n",
	} {
		put(t, filepath.Join(folder, name), content)
	}
	for _, flags := range [][]string{nil, {"-trimpath"}} {
		arguments := append([]string{harness.CLI(t), "go", "test", "--json", "--benchtime", "10x"}, flags...)
		result := harness.Run(t, harness.Command{Arguments: arguments, Settings: settings(t), Directory: folder, Timeout: fixTimeout})
		var r report
		if err := json.Unmarshal([]byte(result.Output), &r); err != nil {
			t.Fatalf("%v in %s%s", err, result.Output, result.Errors)
		}
		found := make(map[string]float64)
		for _, l := range r.Lines {
			found[l.Benchmark+" "+l.Function+" "+filepath.Base(l.File)] += l.Objects
		}
		if found["Keys example.org/keys.Keys keys.go"] != 3 || found["All example.org/keys.All keys.go"] != 4 || len(found) != 2 {
			t.Errorf("%v: %v", flags, found)
		}
	}
}

// Every line that is marked with a rule is found by that rule and by no other, with the words of the remedy that stand
// beside it, and no line without one has any.
func TestReasons(t *testing.T) {
	_, r := inFolder(t, "reasons", "test", "--json", "--benchtime", "10x", ".")
	file := filepath.Join(source(t, "reasons"), "reasons.go")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	marked, remedies := make(map[int]string), make(map[int]string)
	for i, text := range strings.Split(string(content), "\n") {
		if _, rule, ok := strings.Cut(text, "// rule: "); ok {
			marked[i+1], remedies[i+1], _ = strings.Cut(rule, "; do: ")
		}
	}
	found := make(map[int]bool)
	for _, l := range r.Lines {
		if l.File != file || l.AllocsPerOp < 0.5 {
			continue
		}
		if strings.HasPrefix(l.Type, "runtime.") || strings.Contains(l.Type, "F uintptr") {
			t.Errorf("line %d makes %s, which is no word of the source", l.Line, l.Type)
		}
		if strings.Contains(", "+marked[l.Line]+",", ", "+l.Rule+",") && l.Why != "" && l.Remedy != "" && strings.Contains(l.Remedy, remedies[l.Line]) {
			found[l.Line] = true
		} else {
			t.Errorf("line %d (%s, %s): rule %q, want %q (%s): %s; %s", l.Line, l.Callee, l.Type, l.Rule, marked[l.Line], remedies[l.Line], l.Why, l.Remedy)
		}
	}
	for number, rule := range marked {
		if !found[number] {
			t.Errorf("line %d: %s is not found", number, rule)
		}
	}
}

// Where the runtime cannot be changed its own profile is used, and that is said.
func TestStockProfile(t *testing.T) {
	stock := append(settings(t), "MALLOW_GO_EXACT=off")
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "test", "--bench", "Word|Loop", "--benchtime", "10x"}, Settings: stock, Directory: source(t, "digest"), Timeout: fixTimeout,
	})
	for _, words := range []string{
		"misses tiny objects (go", "MALLOW_GO_EXACT=off)", "BenchmarkLoop  1 allocations/op", "digest.go:20  digest.Word  calls strings.Repeat",
	} {
		if !strings.Contains(result.Output, words) {
			t.Errorf("%q is missing in %s%s", words, result.Output, result.Errors)
		}
	}
	refused := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "gate", "--update"}, Settings: stock, Directory: copied(t, "digest"),
	})
	if refused.Status != 1 || !strings.Contains(refused.Errors, "cannot be counted exactly") {
		t.Errorf("status %d: %s", refused.Status, refused.Errors)
	}
}

// A package without benchmarks: what its tests allocate.
func TestTestsWithoutBenchmarks(t *testing.T) {
	folder := copied(t, "digest")
	for _, name := range []string{"digest_test.go", "pool_test.go"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "go", "test"}, Settings: settings(t), Directory: folder, Timeout: fixTimeout})
	for _, words := range []string{"tests of example.org/digest", "every allocation since main", "2,000", "digest.go:15  digest.Word  calls strconv.Itoa"} {
		if !strings.Contains(result.Output, words) {
			t.Errorf("%q is missing in %s%s", words, result.Output, result.Errors)
		}
	}
}

func TestWhatIsUnsoundIsNamed(t *testing.T) {
	_, r := inFolder(t, "unsound", "run", "--json", ".")
	if len(r.Unsound) != 2 || r.Unsound[0].Rule != "poolgrown" || r.Unsound[0].Line != 17 || r.Unsound[1].Rule != "pool-alias" || r.Unsound[1].Line != 22 ||
		!strings.Contains(r.Unsound[1].Message, "goes back to the pool in line 17") {
		t.Errorf("%+v", r.Unsound)
	}
}

func TestPprofReadsTheProfile(t *testing.T) {
	file := filepath.Join(harness.TempDir(t), "words.pb.gz")
	if result, _ := inFolder(t, "digest", "run", "--pprof", file, "./words"); result.Status != 0 {
		t.Fatal(result.Errors)
	}
	result := harness.Run(t, harness.Command{Arguments: []string{"go", "tool", "pprof", "-sample_index=alloc_objects", "-top", "-lines", file}, Settings: settings(t)})
	if !strings.Contains(result.Output, "6000 ") || !strings.Contains(result.Output, "digest.Word") || !strings.Contains(result.Output, "digest.go:15") {
		t.Errorf("%s%s", result.Output, result.Errors)
	}
}

func TestFlagsOfTheUserAreKept(t *testing.T) {
	result, _ := inFolder(t, "exits", "run", "-ldflags=-X main.unused=1 -s -w", "-trimpath", ".", "exit")
	if result.Status != 3 || !strings.Contains(result.Errors, "allocations") || !strings.Contains(result.Output, "built 2") {
		t.Errorf("%+v", result)
	}
}

func TestBadInput(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		status    int
		says      string
	}{
		{[]string{"run"}, 1, "no package given"},
		{[]string{"run", "./nowhere"}, 1, "nowhere"},
		{[]string{"test", "./nowhere"}, 1, "nowhere"},
		{[]string{"test", "."}, 1, "there are no tests and no benchmarks"},
		{[]string{"test", "--bench", "X", "."}, 1, "there is no benchmark that matches X"},
		{[]string{"build", "."}, 1, "-o FILE"},
		{[]string{"sing"}, 1, "there are test, run, build, fix, gate and diff"},
		{[]string{"test", "--html", "x.html", "--json"}, 1, "one of them"},
		{[]string{"test", "--html", "x.html", "--web"}, 1, "one of them"},
		{[]string{"run", "--sing", "."}, 1, "unknown flag: --sing"},
		{[]string{"run", "-tags"}, 1, "no package given"},
	} {
		result, _ := inFolder(t, "exits", test.arguments...)
		if result.Status != test.status || !strings.Contains(result.Errors, test.says) || strings.Contains(result.Errors, "goroutine") {
			t.Errorf("mallow go %v: status %d: %s", test.arguments, result.Status, result.Errors)
		}
	}
}
