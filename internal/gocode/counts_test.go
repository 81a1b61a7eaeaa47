package gocode

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

// file makes a file of counts: header, and records of the given stacks.
func file(records ...Record) []byte {
	b := make([]byte, headerBytes)
	copy(b, countsMagic)
	for _, r := range records {
		length := (recordBytes + 8*len(r.PCs) + len(r.Type) + 7) &^ 7
		record := make([]byte, length)
		for i, n := range []uint64{uint64(length), 0, r.Allocs, r.Bytes, r.Size} {
			binary.LittleEndian.PutUint64(record[8*i:], n)
		}
		binary.LittleEndian.PutUint16(record[40:], uint16(len(r.PCs)))
		binary.LittleEndian.PutUint16(record[42:], uint16(len(r.Type)))
		binary.LittleEndian.PutUint32(record[44:], r.benchmark)
		for i, pc := range r.PCs {
			binary.LittleEndian.PutUint64(record[recordBytes+8*i:], pc)
		}
		copy(record[recordBytes+8*len(r.PCs):], r.Type)
		b = append(b, record...)
	}
	for i, n := range []uint64{countsVersion, 77, uint64(len(b)), 0, 60, 1, 62, 2, 3} {
		binary.LittleEndian.PutUint64(b[8*(1+i):], n)
	}
	return b
}

func TestCountsAreRead(t *testing.T) {
	c, err := parseCounts(append(file(
		Record{Allocs: 1, Bytes: 8, Size: 8, Type: "main.node", PCs: []uint64{1, 2, 3}},
		Record{Allocs: 1, Bytes: 16, Size: 16, PCs: []uint64{4}},
	), make([]byte, 4096)...))
	if err != nil {
		t.Fatal(err)
	}
	if c.PID != 77 || !c.Agrees() || c.Collections != 3 || len(c.Records) != 2 {
		t.Errorf("%+v", c)
	}
	if r := c.Records[0]; r.Type != "main.node" || r.Size != 8 || len(r.PCs) != 3 || r.PCs[2] != 3 {
		t.Errorf("%+v", r)
	}
}

func TestDamagedCountsAreRefused(t *testing.T) {
	whole := file(Record{Allocs: 1, Type: "x", PCs: []uint64{1}})
	for name, damage := range map[string]func(b []byte) []byte{
		"empty":      func(b []byte) []byte { return nil },
		"other":      func(b []byte) []byte { b[0] = 'm'; return b },
		"newer":      func(b []byte) []byte { b[8] = 3; return b },
		"cut":        func(b []byte) []byte { return b[:len(b)-8] },
		"used":       func(b []byte) []byte { b[24] = 1; return b },
		"length 0":   func(b []byte) []byte { b[headerBytes] = 0; return b },
		"length 1":   func(b []byte) []byte { b[headerBytes] = 1; return b },
		"too long":   func(b []byte) []byte { b[headerBytes+4] = 1; return b },
		"deep":       func(b []byte) []byte { b[headerBytes+40] = 129; return b },
		"long names": func(b []byte) []byte { b[headerBytes+43] = 1; return b },
	} {
		if c, err := parseCounts(damage(append([]byte{}, whole...))); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func FuzzCounts(f *testing.F) {
	f.Add(file(Record{Allocs: 1, Type: "x", PCs: []uint64{1}}))
	f.Add([]byte(countsMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := parseCounts(b); (c == nil) == (err == nil) {
			t.Error(c, err)
		}
	})
}

func TestPackagesOfFunctions(t *testing.T) {
	for function, want := range map[string]string{
		"main.main":                            "main",
		"runtime.mallocgc":                     "runtime",
		"bytes.(*Buffer).Write":                "bytes",
		"example.org/a/b.F":                    "example.org/a/b",
		"gopkg.in/yaml%2ev3.(*parser).parse":   "gopkg.in/yaml.v3",
		"example.org/a.Map[go.shape.int]":      "example.org/a",
		"example.org/a.Map[example.org/b.T].F": "example.org/a",
		"main.F.func1.2":                       "main",
		"memclr":                               "",
	} {
		if got := packageOf(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}

func TestShortFunctions(t *testing.T) {
	for function, want := range map[string]string{
		"example.org/a/b.F":                                             "b.F",
		"bytes.(*Buffer).Write":                                         "bytes.(*Buffer).Write",
		"gopkg.in/yaml%2ev3.(*parser).parse":                            "yaml.v3.(*parser).parse",
		"gopkg.in/yaml%2ev3.Map[example.org/b%2ev2.T].F":                "yaml.v3.Map[example.org/b%2ev2.T].F",
		"example.org/a.Map[go.shape.5614d7,go.shape.[]uint8].F.func1":   "a.Map[...].F.func1",
		"example.org/a.(*Set[go.shape.struct { x example.org/b.T }]).F": "a.(*Set[...]).F",
		"example.org/a.Map[example.org/b.T].F":                          "a.Map[example.org/b.T].F",
	} {
		if got := ShortFunction(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}

func TestShortNames(t *testing.T) {
	for function, want := range map[string]string{
		"slices.Collect[go.shape.string]":                                        "slices.Collect",
		"example.org/a/v2.(*Parser[go.shape.struct { x []example.org/b.T }]).Do": "v2.(*Parser).Do",
		"example.org/a.Map[go.shape.[]uint8,int].F.func1":                        "a.Map.F.func1",
	} {
		if got := shortName(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}

func TestAnUnknownVersionIsNamed(t *testing.T) {
	for _, tc := range []*Toolchain{
		{Root: t.TempDir(), Version: "go9.9", OS: "linux", Arch: "amd64"},
		{Root: t.TempDir(), Version: "go9.9", OS: "plan9", Arch: "mips"},
	} {
		if _, err := tc.overlayFile(""); err == nil || !strings.HasPrefix(err.Error(), "go9.9: allocations cannot be counted exactly: ") {
			t.Errorf("%v", err)
		}
	}
}

func TestEveryRuleHasAPage(t *testing.T) {
	for _, name := range Rules() {
		page, err := os.ReadFile("../../docs/manual/go/" + name + ".md")
		if err != nil || !strings.Contains(string(page), "Rule `"+name+"`") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDifferenceOfRuns(t *testing.T) {
	stack := func(function string, allocs float64) Stack {
		return Stack{Frames: []Frame{{Function: function}}, Size: 8, Allocs: allocs, Bytes: 8 * allocs}
	}
	got := difference(
		[]Stack{stack("main.each", 110), stack("main.each", 10), stack("main.once", 5), stack("main.late", 1)},
		[]Stack{stack("main.each", 20), stack("main.once", 5), stack("main.gone", 50)}, 100)
	want := map[string]float64{"main.each": 1, "main.late": 0.01, "main.gone": -0.5}
	for _, s := range got {
		if name := s.Frames[0].Function; s.Allocs != want[name] || s.Bytes != 8*want[name] {
			t.Errorf("%s: %g, want %g", name, s.Allocs, want[name])
		} else {
			delete(want, name)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// How often a pool has none is chance: what the shorter run made for one more often is nobody's saving,
// whoever asked the pool in which of the runs.
func TestDifferenceOfPools(t *testing.T) {
	made := func(by, caller string, allocs float64) Stack {
		return Stack{Frames: []Frame{{Function: by}, {Function: "sync.(*Pool).Get"}, {Function: caller}}, Size: 8, Allocs: allocs}
	}
	got := difference(
		[]Stack{made("main.first", "main.a", 1), made("main.second", "main.b", 2), made("main.third", "main.a", 30)},
		[]Stack{made("main.first", "main.a", 2), made("main.second", "main.a", 2), made("main.third", "main.a", 20)}, 10)
	sums := make(map[string]float64)
	for _, s := range got {
		sums[s.Frames[0].Function] += s.Allocs
	}
	if _, known := sums["main.first"]; known || sums["main.second"] != 0 || sums["main.third"] != 1 {
		t.Errorf("%v", sums)
	}
}

func TestAllocationsOfTesting(t *testing.T) {
	frames := []Frame{
		{Function: "fmt.newPrinter", Origin: OriginStandard},
		{Function: "testing.(*M).Run", Origin: OriginStandard},
		{Function: "main.main", File: generatedMain, Origin: OriginOwn},
	}
	if s := (Stack{Frames: frames}); !s.OfTesting() {
		t.Error("output of package testing is taken for the program's")
	}
	own := append([]Frame{{Function: "example.org/a.BenchmarkF", File: "a_test.go", Origin: OriginOwn}}, frames...)
	if s := (Stack{Frames: own}); s.OfTesting() {
		t.Error("a benchmark is taken for package testing")
	}
	between := append([]Frame{{Function: "testing.(*B).Run", Origin: OriginStandard}}, own...)
	if s := (Stack{Frames: between}); !s.OfTesting() {
		t.Error("what starts a part of a benchmark is taken for the benchmark")
	}
	if s := (Stack{Frames: frames[:1]}); s.OfTesting() {
		t.Error("a goroutine of the standard library is taken for package testing")
	}
}

func TestAllocationsOfTheRuntime(t *testing.T) {
	for _, test := range []struct {
		functions []string
		ofRuntime bool
		at        int
	}{
		{[]string{"runtime.growslice", "main.f", "main.main", "runtime.main"}, false, 1},
		{[]string{"runtime.malg", "runtime.newproc1", "runtime.gcBgMarkStartWorkers"}, true, 0},
		{[]string{"runtime.acquireSudog", "runtime.gcAssistAlloc", "runtime.mallocgc", "main.f"}, true, 1},
		{[]string{"runtime.malg", "runtime.allocm", "runtime.newm", "runtime.startm", "runtime.wakep", "os.Exit", "main.main"}, true, 6},
		{[]string{"net/http.newBuffer", "net/http.(*conn).serve", "runtime.goexit"}, false, 1},
	} {
		var s Stack
		for _, f := range test.functions {
			origin := OriginStandard
			if strings.HasPrefix(f, "main.") {
				origin = OriginOwn
			}
			s.Frames = append(s.Frames, Frame{Function: f, Origin: origin})
		}
		if s.OfRuntime() != test.ofRuntime || place(s.Frames) != test.at {
			t.Errorf("%v: %v, line at %d", test.functions, s.OfRuntime(), place(s.Frames))
		}
	}
}
