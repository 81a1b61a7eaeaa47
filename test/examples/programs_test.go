package examples

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"mallow/test/harness"
)

// example is a program of the folder examples, in a wasteful and a cured version.
type example struct {
	name   string // of its folder
	source string // in each of the versions' folders
}

var examples = []example{
	{name: "connections", source: "connections.c"},
	{name: "index", source: "index.cc"},
	{name: "json", source: "json.cc"},
	{name: "logs", source: "logs.cc"},
	{name: "logs", source: "logs.rs"},
	{name: "pipeline", source: "pipeline.cc"},
	{name: "poll", source: "poll.c"},
}

func (e example) path(version string) string {
	return filepath.Join(harness.Root(), "examples", e.name, version, e.source)
}

// compilers are the commands that the sources themselves name, by the end of a source's name.
var compilers = map[string][]string{
	".c":  {"gcc", "-O2", "-g"},
	".cc": {"g++", "-std=c++17", "-O2", "-g", "-pthread"},
	".rs": {"/usr/bin/rustc", "--edition", "2021", "-C", "opt-level=3", "-g"},
}

// run is one version of an example, recorded.
type run struct {
	output string
	report harness.Report
}

// recorded are the runs, by source: both tests look at those of the cured versions.
var recorded sync.Map

func record(t *testing.T, e example, version string) run {
	t.Helper()
	if known, ok := recorded.Load(e.path(version)); ok {
		return known.(run)
	}
	compiler := compilers[filepath.Ext(e.source)]
	path, err := exec.LookPath(compiler[0])
	if err != nil {
		t.Skipf("no %s", compiler[0])
	}
	program := filepath.Join(harness.TempDir(t), e.name)
	command := exec.Command(path, append(compiler[1:], "-o", program, e.path(version))...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, output)
	}
	result, recording := harness.Record(t, harness.Command{Arguments: []string{program}})
	if result.Status != 0 {
		t.Fatalf("%s %s: %s\n%s", version, e.source, result.Ending(), result.Errors)
	}
	made := run{result.Output, readUnpriced(t, recording)}
	recorded.Store(e.path(version), made)
	return made
}

// readUnpriced reads a report that knows no CPU time: what an allocation costs is another number on every machine and
// every day, by which the advice would be ranked, and entries left out.
func readUnpriced(t *testing.T, recording string) harness.Report {
	t.Helper()
	if err := os.Remove(filepath.Join(recording, "meta.json")); err != nil {
		t.Fatal(err)
	}
	return harness.ReadReport(t, recording)
}

// allocations are those of the program and its libraries.
func (r run) allocations() uint64 {
	return r.report.Totals.Allocations - r.report.Origins.Libc.Allocations
}

// planted is a line that the advice has to find, as its comment says: "planted: RULE", or "planted: RULE: WORDS" of
// the remedy.
type planted struct {
	line              int
	rule, words, text string // text is the line itself
}

var mark = regexp.MustCompile(`// planted: ([a-z-]+)(?:: (.+))?$`)

func plantedIn(t *testing.T, path string) []planted {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []planted
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if m := mark.FindStringSubmatch(lines.Text()); m != nil {
			all = append(all, planted{n, m[1], m[2], lines.Text()})
		} else if strings.Contains(lines.Text(), "planted") {
			t.Fatalf("%s:%d: no mark: %s", path, n, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
