package gocode

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"mallow/internal/own"
)

//go:embed overlay/exact.go
var exactSource string

//go:embed overlay/call.go
var callSource string

//go:embed overlay/sample.go
var sampleSource string

//go:embed overlay/benchmark.go
var benchmarkSource string

// cpuVariable, if it is set to anything, lets a program that counts sample its
// CPU time, too.
const cpuVariable = "MALLOW_GO_CPU"

// countsVariable names, in the environment of a program that counts, the
// folder for its files.
const countsVariable = "MALLOW_GO_COUNTS"

// edit puts a statement behind each match of a pattern, which ends a line, in a
// file, of package runtime unless its name has a folder, of which there must be
// one, or with many several. All lines keep their numbers.
type edit struct {
	file  string
	after *regexp.Regexp
	many  bool
	text  string
}

const countText = "if mallowOn { mallowCount(size, typ) }"

// start and check are where a program begins to count, and where it is
// compared with what the runtime counted.
var (
	start = edit{file: "proc.go", after: regexp.MustCompile(`(?s)\nfunc main\(\) \{.*?\n\tmainStarted = true\n`), text: "mallowStart()"}
	check = edit{file: "proc.go", after: regexp.MustCompile(`(?s)\nfunc runExitHooks\(.*?\n\texithook\.Run\(code\)\n`), text: "mallowCheck()"}
)

// sampling is done without where it finds no place.
var sampling = edit{
	file: "proc.go", after: regexp.MustCompile(`(?s)\nfunc sigprof\(.*?\n\tif prof\.hz\.Load\(\) != 0 \{\n`),
	text: "if mallowSample(stk[:n]) { getg().m.mallocing--; return }",
}

// calling is done without, too.
var calling = edit{
	file: "cgocall.go", after: regexp.MustCompile(`\nfunc cgocall\(fn, arg unsafe\.Pointer\) int32 \{\n`), text: "if mallowOn { mallowCalled(fn, arg) }",
}

// marking is done without where it finds no place: each benchmark is then
// counted by a process of its own.
var marking = edit{
	file:  "testing/benchmark.go",
	after: regexp.MustCompile(`\nfunc \(b \*B\) runN\(n int\) \{\n\tbenchmarkLock\.Lock\(\)\n\tdefer benchmarkLock\.Unlock\(\)\n`),
	text:  "mallowBenchmark(b.name); defer mallowBenchmark(\"\")",
}

// timing is done without, too: what a benchmark allocates while its timer stands
// still, or before it is reset, is then counted with the rest.
var timing = []edit{
	{file: "testing/benchmark.go", after: regexp.MustCompile(`\nfunc \(b \*B\) StartTimer\(\) \{\n\tif !b\.timerOn \{\n`), text: "mallowTimer(true)"},
	{file: "testing/benchmark.go", after: regexp.MustCompile(`\nfunc \(b \*B\) StopTimer\(\) \{\n\tif b\.timerOn \{\n`), text: "mallowTimer(false)"},
	{file: "testing/benchmark.go", after: regexp.MustCompile(`\nfunc \(b \*B\) ResetTimer\(\) \{\n`), text: "mallowReset()"},
}

// form is how some versions of Go allocate. A version has the first form whose
// sign is in its malloc.go. Whether it allocates as that form says is found
// out by the self-test.
type form struct {
	sign      string
	entrances []edit
}

var forms = []form{
	{ // Functions for small sizes stand beside mallocgc, which calls them. Programs may call them, too.
		"\tif sizeSpecializedMallocEnabled &&",
		[]edit{
			{file: "malloc.go", after: regexp.MustCompile(`(?s)\nfunc mallocgc\(.*?\n\tlockRankMayQueueFinalizer\(\)\n`), text: countText},
			{
				file: "malloc_generated.go", many: true, text: countText,
				after: regexp.MustCompile(`\nfunc mallocgc\w+(?:SC|Size)[0-9]+\(size uintptr, typ \*_type, needzero bool\) unsafe\.Pointer \{\n`),
			},
		},
	},
	{ // Everything goes through mallocgc.
		"\nfunc mallocgc(size uintptr, typ *_type, needzero bool) unsafe.Pointer {\n",
		[]edit{
			{file: "malloc.go", after: regexp.MustCompile(`(?s)\nfunc mallocgc\(.*?\tif size == 0 \{\n\t\treturn unsafe\.Pointer\(&zerobase\)\n\t\}\n`), text: countText},
		},
	},
}

// UnknownVersionError says why programs of a version of Go cannot count.
type UnknownVersionError struct{ Version, Reason string }

func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("%s: allocations cannot be counted exactly: %s", e.Version, e.Reason)
}

// overlayFile writes what `go build -overlay` takes for this version and
// returns its path. user is another overlay to join in, "" for none. Files are
// named by what is in them, so that they never change and are made once.
func (t *Toolchain) overlayFile(user string) (string, error) {
	if t.OS != "linux" || t.Arch != "amd64" {
		return "", &UnknownVersionError{t.Version, fmt.Sprintf("on %s/%s nobody has tried; linux/amd64 works", t.OS, t.Arch)}
	}
	files, err := t.runtimeFiles()
	if err != nil {
		return "", err
	}
	base, err := cacheFolder()
	if err != nil {
		return "", err
	}
	replace := make(map[string]string)
	if user != "" {
		if replace, err = readOverlay(user); err != nil {
			return "", err
		}
	}
	for name, content := range files {
		path := t.sourcePath(name)
		if _, taken := replace[path]; taken {
			return "", fmt.Errorf("the overlay %s replaces %s, as mallow must", user, path)
		}
		if replace[path], err = keep(base, filepath.Base(name), []byte(content)); err != nil {
			return "", err
		}
	}
	all, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return keep(base, "overlay.json", all)
}

// sourcePath is where a file of package runtime is, or of the package whose
// folder its name has.
func (t *Toolchain) sourcePath(name string) string {
	if filepath.Base(name) == name {
		name = filepath.Join("runtime", name)
	}
	return filepath.Join(t.Root, "src", name)
}

// runtimeFiles returns the files that differ, by name: of package runtime, and
// with their folder those of others.
func (t *Toolchain) runtimeFiles() (map[string]string, error) {
	allocator, err := t.runtimeFile("malloc.go")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(forms, func(f form) bool { return strings.Contains(allocator, f.sign) })
	if at < 0 {
		return nil, t.moved("malloc.go")
	}
	files := map[string]string{"mallow_exact.go": sourceOf(exactSource), "mallow_call.go": sourceOf(callSource)}
	for _, e := range append([]edit{start, check}, forms[at].entrances...) {
		if err := t.edit(files, e); err != nil {
			return nil, err
		}
	}
	_ = t.edit(files, calling) // C then allocates on nobody's behalf
	if t.edit(files, marking) == nil {
		files["testing/mallow_benchmark.go"] = sourceOf(benchmarkSource)
		timed := maps.Clone(files)
		if !slices.ContainsFunc(timing, func(e edit) bool { return t.edit(timed, e) != nil }) {
			files = timed
		}
	}
	if t.edit(files, sampling) == nil {
		files["mallow_sample.go"] = sourceOf(sampleSource)
	} else {
		files["mallow_sample.go"] = "package runtime\n\nfunc mallowStartSampling([]byte) {}\n"
	}
	return files, nil
}

// edit makes an edit in what files have of the file, or in that of the runtime.
func (t *Toolchain) edit(files map[string]string, e edit) error {
	content, changed := files[e.file]
	if !changed {
		var err error
		if content, err = t.runtimeFile(e.file); err != nil {
			return err
		}
	}
	if found := e.after.FindAllStringIndex(content, -1); len(found) == 0 || len(found) > 1 && !e.many {
		return t.moved(e.file)
	}
	files[e.file] = e.after.ReplaceAllStringFunc(content, func(match string) string { return strings.TrimSuffix(match, "\n") + "; " + e.text + "\n" })
	return nil
}

// marks tells whether package testing of this version can tell which benchmark
// runs.
func (t *Toolchain) marks() bool { return t.edit(make(map[string]string), marking) == nil }

func (t *Toolchain) runtimeFile(name string) (string, error) {
	data, err := os.ReadFile(t.sourcePath(name))
	if err != nil {
		return "", &UnknownVersionError{t.Version, err.Error()}
	}
	return string(data), nil
}

func (t *Toolchain) moved(file string) error {
	return &UnknownVersionError{t.Version, fmt.Sprintf("its %s is not as known", strings.TrimPrefix(t.sourcePath(file), filepath.Join(t.Root, "src")+"/"))}
}

// sourceOf is the source of a file of the runtime without the build constraint
// that keeps it out of mallow.
func sourceOf(file string) string {
	_, body, _ := strings.Cut(file, "\n\n")
	return body
}

func readOverlay(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(data, &overlay); err != nil {
		return nil, fmt.Errorf("%s: no overlay: %w", path, err)
	}
	return maps.Clone(overlay.Replace), nil
}

// keep writes a file that is named by its content, unless it is there.
func keep(folder, name string, content []byte) (string, error) {
	sum := sha256.Sum256(content)
	path := filepath.Join(folder, fmt.Sprintf("%x", sum[:8]), name)
	if old, err := os.ReadFile(path); err == nil && sha256.Sum256(old) == sum {
		used(filepath.Dir(path))
		return path, nil
	}
	prune(folder, time.Now())
	return path, own.Replace(path, content)
}
