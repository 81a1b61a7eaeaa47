package gocode

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runtimes are the parts of package runtime that matter here, in the forms that
// versions of Go have.
var runtimes = map[string]map[string]string{
	"mallocgc alone": {
		"malloc.go": "package runtime\n" + oneEntrance,
		"proc.go":   procedures,
	},
	"sizes": {
		"malloc.go": "package runtime\n\nfunc mallocgc(size uintptr, typ *_type, needzero bool) unsafe.Pointer {\n\tif size == 0 {\n\t\treturn unsafe.Pointer(&zerobase)\n\t}\n" +
			"\tif sizeSpecializedMallocEnabled && small(size) {\n\t\treturn table[size](size, typ, needzero)\n\t}\n\tlockRankMayQueueFinalizer()\n\treturn big(size)\n}\n",
		"malloc_generated.go": "package runtime\n\nfunc mallocgcSmallNoScanSC2(size uintptr, typ *_type, needzero bool) unsafe.Pointer {\n\treturn slow(size)\n}\n" +
			"\nfunc mallocgcTinySize1(size uintptr, typ *_type, needzero bool) unsafe.Pointer {\n\treturn slow(size)\n}\n" +
			"\nfunc mallocgcTinySlowPath(size uintptr, typ *_type, needzero bool) unsafe.Pointer {\n\treturn nil\n}\n",
		"proc.go": procedures,
	},
}

const (
	oneEntrance = "\nfunc mallocgc(size uintptr, typ *_type, needzero bool) unsafe.Pointer {\n\tif size == 0 {\n\t\treturn unsafe.Pointer(&zerobase)\n\t}\n\treturn small(size)\n}\n"
	procedures  = "package runtime\n\nfunc main() {\n\tmainStarted = true\n\tgo()\n}\n\nfunc runExitHooks(code int) {\n\texithook.Run(code)\n}\n" +
		"\nfunc sigprof(pc uintptr) {\n\tif prof.hz.Load() != 0 {\n\t\tadd(stk[:n])\n\t}\n}\n"
)

func toolchainOf(t *testing.T, files map[string]string) *Toolchain {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "src", "runtime")
	for _, name := range []string{folder, filepath.Join(root, "src", "testing")} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &Toolchain{Root: root, Version: "go1.99", OS: "linux", Arch: "amd64"}
}

// Each entrance of the allocator counts, behind all that hands on to another.
func TestEveryEntranceCounts(t *testing.T) {
	for name, at := range map[string]map[string][]string{
		"mallocgc alone": {"malloc.go": {"&zerobase)\n\t}", "\treturn small"}},
		"sizes": {
			"malloc.go":           {"lockRankMayQueueFinalizer()", "\treturn big"},
			"malloc_generated.go": {"needzero bool) unsafe.Pointer {", "\treturn slow"},
		},
	} {
		files, err := toolchainOf(t, runtimes[name]).runtimeFiles()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for file, around := range at {
			places := strings.Count(runtimes[name][file], around[0]+"\n"+around[1])
			if n := strings.Count(files[file], around[0]+"; "+countText+"\n"+around[1]); n != places || n != strings.Count(files[file], "mallowCount") {
				t.Errorf("%s: %d of %d places in %s:\n%s", name, n, places, file, files[file])
			}
		}
		for _, call := range []string{"\tmainStarted = true; mallowStart()\n", "\texithook.Run(code); mallowCheck()\n", "; if mallowSample(stk[:n]) {"} {
			if strings.Count(files["proc.go"], call) != 1 {
				t.Errorf("%s: no %q in\n%s", name, call, files["proc.go"])
			}
		}
	}
}

// Profiles and crashes name the lines of the runtime, of the Go that is
// installed too.
func TestLinesKeepTheirNumbers(t *testing.T) {
	installed, err := FindToolchain()
	if err != nil {
		t.Fatal(err)
	}
	files, err := installed.runtimeFiles()
	if err != nil {
		t.Fatal(err)
	}
	edited := 0
	for name, content := range files {
		original, err := installed.runtimeFile(name)
		if err != nil {
			continue // a file of ours
		}
		edited++
		before, after := strings.Split(original, "\n"), strings.Split(content, "\n")
		if len(before) != len(after) {
			t.Errorf("%s has %d lines, and had %d", name, len(after), len(before))
		}
		for i := range min(len(before), len(after)) {
			if !strings.HasPrefix(after[i], before[i]) {
				t.Errorf("%s:%d is %q, and was %q", name, i+1, after[i], before[i])
				break
			}
		}
	}
	if edited < 3 {
		t.Errorf("only %d files are edited", edited)
	}
}

func TestRuntimesThatAreNotAsKnown(t *testing.T) {
	with := func(form, file, old, fresh string) map[string]string {
		files := maps.Clone(runtimes[form])
		files[file] = strings.ReplaceAll(files[file], old, fresh)
		return files
	}
	for says, files := range map[string]map[string]string{
		"its runtime/malloc.go is not as known":           with("mallocgc alone", "malloc.go", "func mallocgc(", "func mallocNew("),
		"runtime/malloc_generated.go is not as known":     with("sizes", "malloc_generated.go", "needzero bool", "zero bool"),
		"its runtime/proc.go is not as known":             with("sizes", "proc.go", "exithook.Run(code)", "exithook.RunAll(code)"),
		"go1.99: allocations cannot be counted exactly: ": with("mallocgc alone", "malloc.go", "size == 0", "size < 1"),
		"malloc.go is not as known":                       with("mallocgc alone", "malloc.go", "package runtime\n", "package runtime\n"+oneEntrance),
	} {
		_, err := toolchainOf(t, files).runtimeFiles()
		var unknown *UnknownVersionError
		if !errors.As(err, &unknown) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	// Samples of the CPU are done without.
	files, err := toolchainOf(t, with("sizes", "proc.go", "prof.hz.Load()", "hertz()")).runtimeFiles()
	if err != nil || strings.Contains(files["mallow_sample.go"], "mallowSamples") {
		t.Errorf("%v\n%s", err, files["mallow_sample.go"])
	}
}

// Files of a toolchain that the go command fetched must not be replaced, those
// of another path to it may.
func TestFetchedToolchainsHaveASecondPath(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, second := t.TempDir(), t.TempDir()
	for _, root := range []string{first, first, second} {
		chain := &Toolchain{Root: root, Version: "go1.99"}
		if err := chain.link(); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(chain.Root); err != nil || to != root {
			t.Errorf("%s leads to %q: %v", chain.Root, to, err)
		}
		c := chain.command("version")
		if c.Path != filepath.Join(chain.Root, "bin", "go") || !strings.Contains(strings.Join(c.Env, " "), "GOROOT="+chain.Root+" GOTOOLCHAIN=local") {
			t.Errorf("%s %v", c.Path, c.Env)
		}
	}
	for path, want := range map[string]bool{"/m/x": true, "/m": true, "/mod": false, "/": false, "/m/../x": false} {
		if inside(path, "/m") != want {
			t.Errorf("%s in /m: %v", path, !want)
		}
	}
	if inside("/x", "") {
		t.Error("in no folder")
	}
}

func TestWhatAllocatesIsLeftOut(t *testing.T) {
	for _, test := range []struct{ frames, want string }{
		{"runtime.mallocgc runtime.newobject main.f", "runtime.newobject main.f"},
		{"runtime.mallocgcSmallScanNoHeaderSC2 main.f", "runtime.newobject main.f"},
		{"runtime.mallocgcTinySC2 runtime.mallocgc runtime.convTstring main.f", "runtime.convTstring main.f"},
		{"runtime.mallocgcSmallNoScanSC3 runtime.mallocgc internal/bytealg.MakeNoZero strings.(*Builder).grow main.f", "internal/bytealg.MakeNoZero strings.(*Builder).grow main.f"},
		{"runtime.mallocgc runtime.rawstring runtime.rawstringtmp runtime.concatstrings main.f", "runtime.concatstrings main.f"},
	} {
		var frames []Frame
		for _, name := range strings.Fields(test.frames) {
			frames = append(frames, Frame{Function: name})
		}
		var got []string
		for _, f := range withoutAllocator(frames) {
			got = append(got, f.Function)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", test.frames, got, test.want)
		}
	}
}
