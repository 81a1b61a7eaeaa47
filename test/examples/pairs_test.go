package examples

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// TestPairs looks at programs with one kind of waste and what is like it, and at their cures: each planted line is
// named by its rule, and no other line is; what is promised is saved; and nothing is left to say of the cure.
func TestPairs(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(harness.Root(), "test", "examples", "pairs", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no pairs: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			source := filepath.Join(folder, "wasteful.cc")
			wasteful, cured := runPair(t, source), runPair(t, filepath.Join(folder, "cured.cc"))
			if wasteful.output != cured.output {
				t.Errorf("the cure changed what the program prints:\n%s\n%s", wasteful.output, cured.output)
			}
			marks := plantedIn(t, source)
			if len(marks) == 0 {
				t.Errorf("nothing is planted in %s", source)
			}
			rules := make(map[string]bool)
			for _, p := range marks {
				rules[p.rule] = true
				if !slices.ContainsFunc(wasteful.report.Advice, p.isNamedBy) {
					t.Errorf("wasteful.cc:%d: not named by %s: %s", p.line, p.rule, p.words)
				}
			}
			var promised uint64
			for _, a := range wasteful.report.Advice {
				if slices.ContainsFunc(marks, func(p planted) bool { return p.isNamedBy(a) }) {
					promised += a.Saves.Allocations
				} else if rules[a.Rule] {
					t.Errorf("wasteful.cc is named by %s where nothing is planted:\n%s", a.Rule, list([]harness.Advice{a}))
				}
			}
			for _, a := range cured.report.Advice {
				if rules[a.Rule] {
					t.Errorf("the cure is named by %s:\n%s", a.Rule, list([]harness.Advice{a}))
				}
			}
			saved := wasteful.allocations() - cured.allocations()
			if math.Abs(float64(promised)-float64(saved)) > off*float64(saved) {
				t.Errorf("%d allocations promised, %d saved: from %d to %d", promised, saved, wasteful.allocations(), cured.allocations())
			}
			t.Logf("%d allocations promised, %d saved", promised, saved)
			if t.Failed() {
				t.Logf("the advice:\n%s\nof the cure:\n%s", list(wasteful.report.Advice), list(cured.report.Advice))
			}
		})
	}
}

// isNamedBy tells whether an entry is about the line, or about the function that begins there where lines are not
// known.
func (p planted) isNamedBy(a harness.Advice) bool {
	if a.Rule != p.rule || !strings.Contains(a.Remedy, p.words) {
		return false
	}
	return names(a, "wasteful.cc", p.line) || slices.ContainsFunc(a.Sites, func(site harness.Frame) bool {
		name, _, _ := strings.Cut(site.Function, "(")
		return site.Line == 0 && strings.Contains(p.text, " "+name+"(")
	})
}

// flags are those of pairs that are not built with -O2 -g.
var flags = map[string][]string{
	"growth":  {"-O3", "-g"},
	"unnamed": {"-O3"},
}

func runPair(t *testing.T, source string) run {
	t.Helper()
	name := filepath.Base(filepath.Dir(source))
	program := filepath.Join(harness.TempDir(t), name)
	arguments := flags[name]
	if arguments == nil {
		arguments = []string{"-O2", "-g"}
	}
	command := exec.Command("g++", append([]string{"-std=c++20", "-pthread", "-o", program, source}, arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, output)
	}
	result, recording := harness.Record(t, harness.Command{Arguments: []string{program}})
	if result.Status != 0 {
		t.Fatalf("%s: %s\n%s", source, result.Ending(), result.Errors)
	}
	return run{result.Output, readUnpriced(t, recording)}
}
