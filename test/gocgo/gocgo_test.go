// Package gocgo counts what a Go program and the C that it calls allocate, which is known by construction.
package gocgo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mallow/test/harness"
)

type report struct {
	Benchmarks []struct {
		AllocsPerOp  float64  `json:"allocs_per_op"`
		CAllocsPerOp *float64 `json:"c_allocs_per_op"`
	}
	Processes []struct {
		Checked bool
		C       *struct {
			LiveBlocks uint64 `json:"live_blocks"`
		}
	}
	Lines []line
}

type line struct {
	File, Function, Callee, Memory string
	Line                           int
	Objects, Bytes                 float64
	Live                           *float64
	Stacks                         []struct {
		Frames []struct{ Function string }
	}
}

func source() string {
	return filepath.Join(harness.Root(), "test", "gocgo", "testdata", "mixed")
}

// home is of all tests: the changed runtime is built once.
var home string

func TestMain(m *testing.M) { os.Exit(harness.RunWithHome(m, &home)) }

func mallow(t *testing.T, arguments ...string) harness.Result {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the Go runtime is known on amd64 only")
	}
	return harness.Run(t, harness.Command{
		Arguments: append([]string{harness.CLI(t), "go"}, arguments...), Directory: source(),
		Settings: append(harness.GoSettings(t), "PATH="+os.Getenv("PATH"), "HOME="+home, "CGO_ENABLED=1"),
	})
}

func read(t *testing.T, result harness.Result) (r report) {
	t.Helper()
	if err := json.Unmarshal([]byte(result.Output), &r); err != nil {
		t.Fatalf("%v: status %d: %s%s", err, result.Status, result.Output, result.Errors)
	}
	return r
}

// at returns the line that has some words.
func (r *report) at(t *testing.T, words string) line {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(source(), "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	number := 1 + strings.Count(string(content)[:strings.Index(string(content), words)], "\n")
	for _, l := range r.Lines {
		if filepath.Base(l.File) == "main.go" && l.Line == number {
			return l
		}
	}
	t.Fatalf("%s: no line %d in %+v", words, number, r.Lines)
	return line{}
}

func TestGoAndCInOneView(t *testing.T) {
	r := read(t, mallow(t, "run", "--json", "."))
	if len(r.Processes) != 1 || !r.Processes[0].Checked || r.Processes[0].C == nil || r.Processes[0].C.LiveBlocks < 10 {
		t.Errorf("%+v", r.Processes)
	}
	for words, want := range map[string]struct {
		memory         string
		objects, bytes float64
		callee, caller string
	}{
		"// of Go":       {"go", 2000, 32_000, "runtime.newobject", "main.pairs"},
		"// copied to C": {"c", 1000, 7000, "main._Cfunc_CString", "main.names"},
		"// of C":        {"c", 500, 32_000, "main._Cfunc__CMalloc", "main.room"},
		"// in C":        {"c", 600, 60_000, "", "main.fill"},
	} {
		l := r.at(t, words)
		called := false
		for _, f := range l.Stacks[0].Frames {
			called = called || f.Function == want.caller
		}
		if l.Memory != want.memory || l.Objects != want.objects || l.Bytes != want.bytes || l.Callee != want.callee || !called {
			t.Errorf("%s: %+v, want %+v", words, l, want)
		}
	}
	if first, second := r.Lines[0], r.Lines[1]; first.Memory != "go" || second.Memory != "c" {
		t.Errorf("the first lines are of %s and %s", first.Memory, second.Memory)
	}
}

func TestBenchmarksOfBoth(t *testing.T) {
	r := read(t, mallow(t, "test", "--json", "--benchtime", "10x"))
	if len(r.Benchmarks) != 1 || r.Benchmarks[0].AllocsPerOp != 2 || r.Benchmarks[0].CAllocsPerOp == nil || *r.Benchmarks[0].CAllocsPerOp != 4 {
		t.Fatalf("%+v", r.Benchmarks)
	}
	if l := r.at(t, "// copied to C"); l.Objects != 1 || l.Live == nil || *l.Live != 1 {
		t.Errorf("%+v", l)
	}
	if l := r.at(t, "// in C"); l.Objects != 3 || *l.Live != 0 {
		t.Errorf("%+v", l)
	}
}

func TestText(t *testing.T) {
	result := mallow(t, "run", ".")
	for _, words := range []string{"in C: 2,1", "never freed", "main.names  calls C.CString  in C", "main.go:9  node  from main.fill main.go:", "1999\n"} {
		if !strings.Contains(result.Errors+result.Output, words) {
			t.Errorf("%q is missing in %s%s", words, result.Output, result.Errors)
		}
	}
}
