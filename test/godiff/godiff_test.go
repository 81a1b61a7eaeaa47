// Package godiff compares commits of a Go module whose differences are known by construction.
package godiff

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mallow/test/harness"
)

const before = `package p

// Sum adds up what the fields of n are.
func Sum(n int) int {
	numbers := make([]int, 4)
	for i := range n {
		numbers[i%4] = i
	}
	return len(numbers)
}

func Fresh() *int {
	return new(int)
}
`

// Sum keeps its slice now; Fresh is as it was, further down.
const after = `package p

var kept []int

// Sum adds up what the fields of n are.
func Sum(n int) int {
	numbers := make([]int, 4)
	for i := range n {
		numbers[i%4] = i
	}
	kept = numbers
	return len(numbers)
}

func Another() *int { return new(int) }

func Fresh() *int {
	return new(int)
}
`

const benchmark = `package p

import "testing"

func BenchmarkSum(b *testing.B) {
	for b.Loop() {
		Sum(3)
	}
}
`

func git(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	identity := []string{"-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"}
	result := harness.Run(t, harness.Command{
		Arguments: append(append([]string{"git"}, identity...), arguments...), Settings: settings(t), Directory: folder,
	})
	if result.Status != 0 {
		t.Fatalf("git %v: %s", arguments, result.Errors)
	}
}

func settings(t *testing.T) []string {
	return append(harness.GoSettings(t), "PATH="+os.Getenv("PATH"), "HOME="+harness.TempDir(t))
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// repository has two commits of a module in a folder below its top.
func repository(t *testing.T) (top, module string) {
	top = harness.TempDir(t)
	module = filepath.Join(top, "go")
	write(t, module, "go.mod", "module example.org/p\n\ngo 1.24\n")
	write(t, module, "p.go", before)
	write(t, module, "p_test.go", benchmark)
	git(t, top, "init", "-q", ".")
	git(t, top, "add", ".")
	git(t, top, "commit", "-qm", "before")
	write(t, module, "p.go", after)
	git(t, top, "commit", "-qam", "after")
	return top, module
}

func diff(t *testing.T, folder string, arguments ...string) harness.Result {
	t.Helper()
	return harness.Run(t, harness.Command{
		Arguments: append([]string{harness.CLI(t), "go", "diff"}, arguments...), Settings: settings(t), Directory: folder,
	})
}

type report struct {
	Schema   string
	Old, New struct{ Name, Commit string }
	Escapes  []struct {
		Status, Function, Value, File, Why string
		FunctionStatus                     string `json:"function_status"`
		Line                               int
	}
	Benchmarks []struct {
		Benchmark, Verdict string
		Was, Now           float64
		Sites              []struct {
			Function, File string
			Line           int
		}
	}
	Notes []string
}

func TestCommits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the Go runtime is known on amd64 only")
	}
	top, module := repository(t)
	result := diff(t, module, "--fail", "--json", "HEAD~1", "HEAD")
	var r report
	if err := json.Unmarshal([]byte(result.Output), &r); err != nil || r.Schema != "mallow.go.diff/1" || result.Status != 2 {
		t.Fatalf("%v: status %d: %s%s", err, result.Status, result.Output, result.Errors)
	}
	if len(r.Old.Commit) != 40 || r.Old.Commit == r.New.Commit {
		t.Errorf("%+v, %+v", r.Old, r.New)
	}
	if len(r.Escapes) != 2 || r.Escapes[0].Function != "Sum" || r.Escapes[0].Value != "make([]int, 4)" || r.Escapes[0].Line != 7 ||
		r.Escapes[0].File != "p.go" || r.Escapes[0].FunctionStatus != "kept" || !strings.Contains(r.Escapes[0].Why, "stored") ||
		r.Escapes[1].Function != "Another" || r.Escapes[1].FunctionStatus != "new" {
		t.Errorf("%+v", r.Escapes)
	}
	if len(r.Benchmarks) != 1 || r.Benchmarks[0].Verdict != "more" || r.Benchmarks[0].Was != 0 || r.Benchmarks[0].Now != 1 ||
		len(r.Benchmarks[0].Sites) != 1 || r.Benchmarks[0].Sites[0].Function != "example.org/p.Sum" || r.Benchmarks[0].Sites[0].Line != 7 {
		t.Errorf("%+v %v", r.Benchmarks, r.Notes)
	}
	status := harness.Run(t, harness.Command{Arguments: []string{"git", "status", "--porcelain"}, Settings: settings(t), Directory: top})
	trees := harness.Run(t, harness.Command{Arguments: []string{"git", "worktree", "list"}, Settings: settings(t), Directory: top})
	if status.Output != "" || strings.Count(trees.Output, "\n") != 1 {
		t.Errorf("the repository is not as it was: %s%s", status.Output, trees.Output)
	}
}

func TestTheFilesAsTheyAre(t *testing.T) {
	_, module := repository(t)
	write(t, module, "p.go", strings.ReplaceAll(after, "kept = numbers", "_ = kept"))
	for _, arguments := range [][]string{{"HEAD"}, {"HEAD", "."}, {"HEAD", ".", "./..."}} {
		result := diff(t, module, append([]string{"--bench", "", "--fail"}, arguments...)...)
		want := "HEAD -> the files as they are: 0 values go newly to the heap, 1 no longer does\ngone  p.go:7  p.Sum  make([]int, 4)\n"
		if result.Status != 0 || !strings.HasPrefix(result.Output, want) {
			t.Errorf("%v: status %d: %s%s", arguments, result.Status, result.Output, result.Errors)
		}
	}
}

// A function that is called in one commit and inlined in the other has its
// values on the heap in both.
func TestInlinedOnOneSideAlone(t *testing.T) {
	_, module := repository(t)
	source := func(marks string) string {
		return "package p\n\nvar kept []string\n\nfunc Fill(b []byte) {\n\tkept = append(kept, text(b))\n}\n\n" + marks + "func text(b []byte) string {\n\treturn string(b)\n}\n"
	}
	write(t, module, "p.go", source("//go:noinline\n"))
	git(t, module, "commit", "-qam", "called")
	write(t, module, "p.go", source(""))
	git(t, module, "commit", "-qam", "inlined")
	for _, sides := range [][2]string{{"HEAD~1", "HEAD"}, {"HEAD", "HEAD~1"}} {
		result := diff(t, module, "--bench", "", "--fail", sides[0], sides[1])
		if result.Status != 0 || !strings.Contains(result.Output, ": 0 values go newly to the heap, 0 no longer do\n") {
			t.Errorf("%v: status %d: %s%s", sides, result.Status, result.Output, result.Errors)
		}
	}
}

// A module beside the repository, by replace and by a workspace above both, is
// the same for a commit as for the files as they are.
func TestNeighbours(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the Go runtime is known on amd64 only")
	}
	for _, by := range []string{"replace", "workspace"} {
		t.Run(by, func(t *testing.T) {
			above := harness.TempDir(t)
			module := filepath.Join(above, "p")
			write(t, filepath.Join(above, "dep"), "go.mod", "module example.org/dep\n\ngo 1.24\n")
			write(t, filepath.Join(above, "dep"), "dep.go", "package dep\n\n//go:noinline\nfunc Number() int { return 7 }\n")
			mod := "module example.org/p\n\ngo 1.24\n\nrequire example.org/dep v0.0.0\n"
			if by == "replace" {
				mod += "\nreplace example.org/dep => ../dep\n"
			} else {
				write(t, above, "go.work", "go 1.24\n\nuse ./p\n\nuse ./dep\n")
			}
			using := func(source string) string {
				return strings.ReplaceAll(source, "package p\n", "package p\n\nimport \"example.org/dep\"\n\nvar _ = dep.Number()\n")
			}
			write(t, module, "go.mod", mod)
			write(t, module, "p.go", using(before))
			write(t, module, "p_test.go", benchmark)
			git(t, module, "init", "-q", ".")
			git(t, module, "add", ".")
			git(t, module, "commit", "-qm", "before")
			write(t, module, "p.go", using(after))
			result := harness.Run(t, harness.Command{
				Arguments: []string{harness.CLI(t), "go", "diff", "--fail", "HEAD"}, Settings: append(settings(t), "GOWORK="), Directory: module,
			})
			if result.Status != 2 || !strings.HasPrefix(result.Output, "HEAD -> the files as they are: 2 values go newly to the heap, 0 no longer do\nnew   p.go:11  p.Sum  make([]int, 4)\n") ||
				!strings.Contains(result.Output, "more   BenchmarkSum: 0 -> 1 allocations/op") {
				t.Errorf("status %d: %s%s", result.Status, result.Output, result.Errors)
			}
			if _, err := os.Stat(filepath.Join(above, "dep", "dep.go")); err != nil {
				t.Errorf("the neighbour is gone: %v", err)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	top, module := repository(t)
	outside := harness.TempDir(t)
	broken := filepath.Join(top, "broken")
	write(t, broken, "go.mod", "module example.org/broken\n\ngo 1.24\n")
	write(t, broken, "b.go", "package b\n\nfunc F() { return 1 }\n")
	git(t, top, "add", ".")
	git(t, top, "commit", "-qm", "broken")
	for _, test := range []struct {
		folder    string
		arguments []string
		says      string
	}{
		{module, nil, "say which commit to compare with"},
		{module, []string{"", "HEAD"}, "an empty name is no commit: is a variable not set?"},
		{module, []string{"HEAD", ""}, "an empty name is no commit: is a variable not set?"},
		{module, []string{"HEAD", ".", "./nope"}, "HEAD: ./nope does not build: stat ./nope: directory not found\n"},
		{module, []string{"--bench", "(", "HEAD"}, "--bench: error parsing regexp"},
		{module, []string{"no-such-commit"}, "no-such-commit is no commit of this repository"},
		{module, []string{"--", "--output=x"}, "--output=x is no commit of this repository"},
		{module, []string{"a\x1b[31mb"}, `a\x1b[31mb is no commit of this repository`},
		{outside, []string{"HEAD"}, "not a git repository"},
		{broken, []string{"HEAD~1"}, "HEAD~1 has no folder broken/"},
		{broken, []string{"HEAD"}, "too many return values"},
		{module, []string{"--go", "1.26.0"}, "--go takes two versions"},
		{module, []string{"--go", "1.26.0,1.27.0,1.28.0"}, "--go takes two versions"},
	} {
		result := diff(t, test.folder, test.arguments...)
		if result.Status != 1 || result.Output != "" || !strings.Contains(result.Errors, test.says) || strings.Contains(result.Errors, "goroutine") {
			t.Errorf("%v: status %d: %s%s", test.arguments, result.Status, result.Output, result.Errors)
		}
	}
}

// A benchmark that was there and is not any more is said.
func TestBenchmarkThatIsGone(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the Go runtime is known on amd64 only")
	}
	_, module := repository(t)
	write(t, module, "p_test.go", strings.Replace(benchmark, "BenchmarkSum", "BenchmarkAll", 1))
	result := diff(t, module, "--fail", "HEAD")
	if result.Status != 0 || !strings.Contains(result.Output, "new    BenchmarkAll: ") || !strings.Contains(result.Output, "gone   BenchmarkSum: ") {
		t.Errorf("status %d: %s%s", result.Status, result.Output, result.Errors)
	}
}

// A benchmark that fails, on either side, is named, and its package's are left
// out; the others are compared nevertheless, and what goes to the heap is.
func TestBenchmarkThatFails(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the Go runtime is known on amd64 only")
	}
	top, module := repository(t)
	failing := "package q\n\nimport \"testing\"\n\nfunc BenchmarkWorks(b *testing.B) {\n\tfor b.Loop() {\n\t}\n}\n\nfunc BenchmarkFails(b *testing.B) { b.Fatal(\"no server\") }\n"
	write(t, module, "q/q_test.go", failing)
	git(t, top, "add", ".")
	git(t, top, "commit", "-qm", "one that fails")
	write(t, module, "q/q_test.go", strings.Replace(failing, `b.Fatal("no server")`, "", 1))
	write(t, module, "p.go", before)
	for _, test := range []struct {
		arguments []string
		status    int
		says      string
	}{
		{[]string{"HEAD"}, 1, "HEAD: a benchmark of example.org/p/q fails:\n"},
		{[]string{"--fail", "HEAD~1", "HEAD"}, 1, "HEAD: a benchmark of example.org/p/q fails:\n"},
	} {
		result := diff(t, module, test.arguments...)
		if result.Status != test.status || strings.Count(result.Errors, test.says) != 1 || !strings.Contains(result.Errors, "no server") ||
			!strings.Contains(result.Output, "BenchmarkSum: ") || strings.Contains(result.Output, "BenchmarkWorks") || strings.Contains(result.Output, "BenchmarkFails") {
			t.Errorf("%v: status %d: %s%s", test.arguments, result.Status, result.Output, result.Errors)
		}
	}
}
