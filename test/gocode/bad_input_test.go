package gocode

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// replaceIn changes a file.
func replaceIn(t *testing.T, path, old, fresh string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(content), old) {
		t.Fatalf("%q is not in %s: %v", old, path, err)
	}
	put(t, path, strings.ReplaceAll(string(content), old, fresh))
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// everything is all that is in a folder, names and contents.
func everything(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all.WriteString(path + "\n" + string(content) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// What cannot be measured is named by a sentence, and nothing is changed.
func TestUnfitModules(t *testing.T) {
	inner := filepath.Join("inner", "inner.go")
	tests := filepath.Join("inner", "inner_test.go")
	once := settings(t) // one cache for all
	for name, test := range map[string]struct {
		change    func(folder string)
		arguments []string
		says      string
	}{
		"does not compile, test": {
			func(folder string) { replaceIn(t, filepath.Join(folder, inner), "return string(all)", "return all") },
			[]string{"test", "./inner"}, "the tests of example.org/nested/inner do not build:\n",
		},
		"does not compile, fix": {
			func(folder string) { replaceIn(t, filepath.Join(folder, inner), "return string(all)", "return all") },
			[]string{"fix", "--write", "./inner"}, "the tests of example.org/nested/inner do not build:\n",
		},
		"tests fail": {
			func(folder string) { replaceIn(t, filepath.Join(folder, tests), "got != 60", "got != 61") },
			[]string{"fix", "--write", "./inner"}, "its tests fail as it is: nothing can be proven by them (inner_test.go:9: 60 bytes)",
		},
		"benchmark fails": {
			func(folder string) {
				replaceIn(t, filepath.Join(folder, tests), "sink = Lines(30)", `b.Fatal("no server")`)
			},
			[]string{"test", "./inner"}, "a benchmark of example.org/nested/inner fails:\n",
		},
		"no such benchmark to fix by": {
			func(string) {},
			[]string{"fix", "--write", "--bench", "Nothing", "./inner"}, "no benchmark matches Nothing",
		},
		"newer Go": {
			func(folder string) { replaceIn(t, filepath.Join(folder, "go.mod"), "go 1.26", "go 1.999") },
			[]string{"test", "./inner"}, "go.mod requires go >= 1.999",
		},
		"no module": {
			func(folder string) { os.Remove(filepath.Join(folder, "go.mod")) },
			[]string{"test", "./inner"}, "go list: go.mod file not found",
		},
		"no program": {
			func(string) {},
			[]string{"run", "./inner"}, "example.org/nested/inner is no program: its package is inner, not main",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := copied(t, "nested")
			test.change(folder)
			before := everything(t, folder)
			result := harness.Run(t, harness.Command{
				Arguments: append([]string{harness.CLI(t), "go"}, test.arguments...), Settings: once, Directory: folder, Timeout: fixTimeout,
			})
			if result.Status != 1 || result.Output != "" || !strings.Contains(result.Errors, test.says) {
				t.Errorf("status %d: %s%s", result.Status, result.Output, result.Errors)
			}
			if everything(t, folder) != before {
				t.Error("files were changed")
			}
		})
	}
}

// Files of the module cache are measured where they are, and never changed.
func TestModuleCache(t *testing.T) {
	folder := copied(t, "nested")
	before := everything(t, folder)
	cache := append(settings(t), "GOMODCACHE="+filepath.Dir(folder))
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "test", "--benchtime", "10x", "--json", "./inner"}, Settings: cache, Directory: folder, Timeout: fixTimeout,
	})
	if result.Status != 0 || !strings.Contains(result.Output, `"checked":true`) {
		t.Errorf("status %d: %s", result.Status, result.Errors)
	}
	refused := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "fix", "--write", "./inner"}, Settings: cache, Directory: folder, Timeout: fixTimeout,
	})
	if refused.Status != 1 || !strings.Contains(refused.Errors, "is in the module cache, whose files must not change: fix a copy (cp -r ") {
		t.Errorf("status %d: %s", refused.Status, refused.Errors)
	}
	if everything(t, folder) != before {
		t.Error("files were changed")
	}
}

// A workspace of two modules, in folders with blanks, and build tags by GOFLAGS.
func TestWorkspaceAndTags(t *testing.T) {
	root := filepath.Join(harness.TempDir(t), "two modules")
	for _, name := range []string{"one", "other one"} {
		folder := filepath.Join(root, name)
		if err := os.CopyFS(folder, os.DirFS(source(t, "nested"))); err != nil {
			t.Fatal(err)
		}
		module := strings.Fields(name)[0]
		replaceIn(t, filepath.Join(folder, "go.mod"), "nested", module)
		replaceIn(t, filepath.Join(folder, "inner", "inner_test.go"), "package inner", "//go:build special\n\npackage inner")
	}
	put(t, filepath.Join(root, "go.work"), "go 1.26\n\nuse (\n\t./one\n\t\"./other one\"\n)\n")
	before := everything(t, root)
	tagged := append(settings(t), "GOFLAGS=-buildvcs=false -tags=special", "GOWORK=")
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "test", "--bench", "Inner", "--benchtime", "10x", "./one/inner", "./other one/inner"},
		Settings:  tagged, Directory: root, Timeout: fixTimeout,
	})
	if result.Status != 0 || !strings.Contains(result.Output, "BenchmarkInner of example.org/one/inner  37 ") ||
		!strings.Contains(result.Output, "BenchmarkInner of example.org/other/inner  37 ") || !strings.Contains(result.Output, "other one/inner/inner.go:10") {
		t.Errorf("status %d: %s%s", result.Status, result.Output, result.Errors)
	}
	if everything(t, root) != before {
		t.Error("files were changed")
	}
}

// A vendored module with -mod=mod in its way, a generated file that is
// reported and never edited.
func TestVendoredAndGenerated(t *testing.T) {
	folder := copied(t, "nested")
	put(t, filepath.Join(folder, "vendor", "example.org", "dep", "dep.go"), "// Package dep is vendored.\npackage dep\n\n// Same returns s.\nfunc Same(s string) string { return s }\n")
	put(t, filepath.Join(folder, "vendor", "modules.txt"), "# example.org/dep v1.0.0\n## explicit; go 1.26\nexample.org/dep\n")
	replaceIn(t, filepath.Join(folder, "go.mod"), "go 1.26\n", "go 1.26\n\nrequire example.org/dep v1.0.0\n")
	inner := filepath.Join(folder, "inner", "inner.go")
	replaceIn(t, inner, "// Package inner", "// Code generated by hand. DO NOT EDIT.\n\n// Package inner")
	replaceIn(t, inner, `import "strings"`, "import (\n\t\"strings\"\n\n\t\"example.org/dep\"\n)")
	replaceIn(t, inner, "return string(all)", "return dep.Same(string(all))")
	before := everything(t, folder)
	result, l := fix(t, folder, "--write", "./inner")
	if result.Status != 0 || len(l.Ladder) != 1 || !strings.Contains(result.Output, "inner.go") {
		t.Errorf("status %d: %+v %s", result.Status, l, result.Errors)
	}
	if everything(t, folder) != before {
		t.Error("files were changed")
	}
}

// A tree that nobody may write to is measured where it is; that it cannot be fixed is said.
func TestReadOnlyTree(t *testing.T) {
	folder := copied(t, "nested")
	before := everything(t, folder)
	setModes(t, folder, 0o555, 0o444)
	t.Cleanup(func() { setModes(t, folder, 0o755, 0o644) })
	var without []string
	if os.Getuid() == 0 { // who may write everywhere
		without = []string{"/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"}
	}
	for _, test := range []struct {
		arguments []string
		status    int
		says      string
	}{
		{[]string{"test", "--bench", "Inner", "--benchtime", "10x"}, 0, "BenchmarkInner  37 allocations/op"},
		{[]string{"test", "--bench", "Inner", "--benchtime", "10x", "--html", "x.html"}, 1, "x.html cannot be written: permission denied"},
		{[]string{"gate", "--bench", "Inner", "--update"}, 1, "mallow.go.budget cannot be written: permission denied"},
		{[]string{"fix", "--write", "--race=false", "--benchtime", "10x"}, 1, "nothing is written: open " + filepath.Join(folder, "inner", "inner.go") + ": permission denied"},
	} {
		command := slices.Concat(without, []string{harness.CLI(t), "go"}, test.arguments, []string{"./inner"})
		result := harness.Run(t, harness.Command{Arguments: command, Settings: settings(t), Directory: folder, Timeout: fixTimeout})
		if result.Status != test.status || !strings.Contains(result.Output+result.Errors, test.says) {
			t.Errorf("%v: status %d: %s%s", test.arguments, result.Status, result.Output, result.Errors)
		}
	}
	if everything(t, folder) != before {
		t.Error("files were changed")
	}
}

func setModes(t *testing.T, folder string, ofFolders, ofFiles fs.FileMode) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, ofFolders)
		}
		return os.Chmod(path, ofFiles)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A step has to save more than what counts of the benchmark differ by.
func TestFlakyBenchmark(t *testing.T) {
	folder := filepath.Join(harness.TempDir(t), "flaky")
	put(t, filepath.Join(folder, "go.mod"), "module example.org/flaky\n\ngo 1.26\n")
	put(t, filepath.Join(folder, "flaky.go"), `package flaky

func Doubled(words []string) []string {
	var all []string
	for _, word := range words {
		all = append(all, word)
	}
	return all
}
`)
	put(t, filepath.Join(folder, "flaky_test.go"), `package flaky

import (
	"os"
	"sync"
	"testing"
)

var (
	sink []string
	kept []byte
)

// differs is anew in each process, and far from that in the two before: a count takes two.
var differs = sync.OnceValue(func() int {
	runs, _ := os.ReadFile(os.Getenv("RUNS"))
	if err := os.WriteFile(os.Getenv("RUNS"), append(runs, 'x'), 0o600); err != nil {
		panic(err)
	}
	n := len(runs)
	return n/2%2*400 + n%4*10
})

func TestDoubled(t *testing.T) {
	if len(Doubled([]string{"a", "b"})) != 2 {
		t.Error("words are lost")
	}
}

func BenchmarkDoubled(b *testing.B) {
	for b.Loop() {
		for range differs() {
			kept = make([]byte, 10)
		}
		sink = Doubled([]string{"a", "b", "c", "d"})
	}
}
`)
	before := everything(t, folder)
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "go", "fix", "--write", "--race=false", "--benchtime", "10x", "--exact-seconds", "0.1"},
		Settings:  append(settings(t), "RUNS="+filepath.Join(harness.TempDir(t), "runs")), Directory: folder, Timeout: fixTimeout,
	})
	if result.Status != 0 || !strings.Contains(result.Output, "It allocates differently in each run, by up to ") || strings.Contains(result.Output, "proven by") {
		t.Errorf("status %d: %s%s", result.Status, result.Output, result.Errors)
	}
	if everything(t, folder) != before {
		t.Error("files were changed")
	}
}
