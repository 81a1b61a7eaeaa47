package gocode

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mallow/test/harness"
)

const fixTimeout = 5 * time.Minute

type ladder struct {
	Ladder []struct {
		Step        string
		Rule        string
		AllocsPerOp float64 `json:"allocs_per_op"`
		ProvenBy    string  `json:"proven_by"`
	}
	Rejected []struct{ Reason string }
	Lines    []line
	Twins    []struct {
		Function, Source  string
		AllocsPerCall     float64 `json:"allocs_per_call"`
		TwinAllocsPerCall float64 `json:"twin_allocs_per_call"`
	}
}

// copied returns a copy of a folder of testdata, for what changes files.
func copied(t *testing.T, folder string) string {
	t.Helper()
	to := harness.TempDir(t)
	if err := os.CopyFS(filepath.Join(to, folder), os.DirFS(source(t, folder))); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(to, folder)
}

func fix(t *testing.T, folder string, flags ...string) (harness.Result, ladder) {
	t.Helper()
	result := harness.Run(t, harness.Command{
		Arguments: append([]string{harness.CLI(t), "go", "fix", "--json", "--race=false", "--benchtime", "10x"}, flags...),
		Settings:  settings(t), Directory: folder, Timeout: fixTimeout,
	})
	var l ladder
	if result.Status == 0 {
		if err := json.Unmarshal([]byte(result.Output), &l); err != nil {
			t.Fatalf("%v in %s", err, result.Output)
		}
	}
	return result, l
}

func TestFix(t *testing.T) {
	folder := copied(t, "digest")
	file := filepath.Join(folder, "digest.go")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	patches := filepath.Join(folder, "all.patch")
	result, l := fix(t, folder, "--bench", "Word", "--patch", patches, ".")
	if result.Status != 0 || len(l.Ladder) < 4 {
		t.Fatalf("%+v %s", l, result.Errors)
	}
	// One string is returned, and the benchmark puts it into an interface.
	if first, last := l.Ladder[0], l.Ladder[len(l.Ladder)-1]; first.AllocsPerOp != 2031 || last.AllocsPerOp != 2 {
		t.Errorf("from %g to %g allocations", first.AllocsPerOp, last.AllocsPerOp)
	}
	for _, step := range l.Ladder[1:] {
		if !strings.Contains(step.ProvenBy, "1000 calls") {
			t.Errorf("%s is proven by %s", step.Step, step.ProvenBy)
		}
	}
	if len(l.Twins) != 1 || l.Twins[0].AllocsPerCall != 1 || l.Twins[0].TwinAllocsPerCall != 0 || !strings.HasPrefix(l.Twins[0].Source, "func AppendWord(dst []byte, n int) []byte {") {
		t.Errorf("%+v", l.Twins)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, before) {
		t.Errorf("the file was changed: %v", err)
	}
	if text, err := os.ReadFile(patches); err != nil || strings.Count(string(text), "\n+++ b/digest.go") != len(l.Ladder)-1 {
		t.Errorf("%v: %s", err, text)
	}
}

// What remains has the compiler's reasons, for the lines as they are after the last step.
func TestFixSaysWhyTheRestRemains(t *testing.T) {
	folder := harness.TempDir(t)
	for name, content := range map[string]string{
		"go.mod": "module example.org/rest\n\ngo 1.26\n",
		"rest.go": "package rest\n\nfunc Sizes(names []string) []*int {\n\tvar sizes []*int\n\tfor _, name := range names {\n\t\tsize := len(name)\n" +
			"\t\tsizes = append(sizes, &size)\n\t}\n\treturn sizes\n}\n",
		"rest_test.go": "package rest\n\nimport \"testing\"\n\nvar kept []*int\n\nfunc BenchmarkSizes(b *testing.B) {\n\tfor b.Loop() {\n" +
			"\t\tkept = Sizes([]string{\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\"})\n\t}\n}\n",
	} {
		put(t, filepath.Join(folder, name), content)
	}
	result, l := fix(t, folder, ".")
	if len(l.Ladder) != 2 || len(l.Lines) != 2 {
		t.Fatalf("%+v %s", l, result.Errors)
	}
	for at, says := range map[int]string{6: "it is returned", 9: "size goes to the heap: it is stored by "} {
		if i := slices.IndexFunc(l.Lines, func(of line) bool { return of.Line == at }); i < 0 || !strings.Contains(l.Lines[i].Why, says) {
			t.Errorf("line %d is not said to be there as %q: %+v", at, says, l.Lines)
		}
	}
}

// A program without tests: its output must stay the same. The line is a
// method's in another package of the module; a generated file is left alone.
func TestFixProgram(t *testing.T) {
	folder := copied(t, "rows")
	git := func(args ...string) string {
		t.Helper()
		result := harness.Run(t, harness.Command{
			Arguments: append([]string{"git", "-c", "user.name=x", "-c", "user.email=x@example.org"}, args...), Settings: settings(t), Directory: folder,
		})
		if result.Status != 0 {
			t.Fatalf("git %v: %s", args, result.Errors)
		}
		return strings.TrimSpace(result.Output)
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "x")
	git("config", "user.email", "x@example.org")
	git("add", ".")
	git("commit", "-q", "-m", "as it is")
	patches := filepath.Join(harness.TempDir(t), "patches")
	result, l := fix(t, folder, "--write", "--commits", "fewer", "--patch-dir", patches, ".", "--", "one", "three", "five", "seven", "nine")
	if result.Status != 0 || len(l.Ladder) != 2 || l.Ladder[0].AllocsPerOp-l.Ladder[1].AllocsPerOp < 2900 {
		t.Fatalf("%+v %s", l, result.Errors)
	}
	if by := l.Ladder[1].ProvenBy; !strings.Contains(by, "the program's output") || !strings.Contains(by, "1000 calls") {
		t.Errorf("proven by %s", by)
	}
	if len(l.Rejected) != 1 || !strings.Contains(l.Rejected[0].Reason, "generated") {
		t.Errorf("%+v", l.Rejected)
	}
	if changed := git("diff", "--name-only"); changed != "table/table.go" {
		t.Errorf("written: %s", changed)
	}
	if onBranch := git("diff", "fewer", "--name-only"); onBranch != "" {
		t.Errorf("the branch differs from what is written: %s", onBranch)
	}
	if message := git("log", "-1", "--format=%B", "fewer"); !strings.HasPrefix(message, "table: make sizes with room for len(t.rows) in Sizes\n\nOf a run of the program: 9,0") {
		t.Error(message)
	}
	git("checkout", "-q", "--", ".")
	files, err := filepath.Glob(filepath.Join(patches, "0001-*.patch"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	git("am", "-q", files[0])
	if content := git("diff", "fewer"); content != "" {
		t.Errorf("the patch makes something else: %s", content)
	}
	if result, _ := fix(t, folder, "--commits", "fewer", "."); result.Status != 1 || !strings.Contains(result.Errors, "there is a branch fewer already") {
		t.Errorf("status %d: %s", result.Status, result.Errors)
	}
}

func TestFixRefuses(t *testing.T) {
	failing, racing := copied(t, "digest"), copied(t, "digest")
	test := "package digest\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Error(\"on purpose\") }\n"
	for folder, constraint := range map[string]string{failing: "", racing: "//go:build race\n\n"} {
		if err := os.WriteFile(filepath.Join(folder, "fails_test.go"), []byte(constraint+test), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	broken := copied(t, "digest")
	if err := os.WriteFile(filepath.Join(broken, "broken.go"), []byte("package digest\n\nvar x int = \"\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for folder, says := range map[string]string{
		failing:            "its tests fail as it is",
		racing:             "with the race detector its tests fail as it is: nothing can be proven by them (fails_test.go:7: on purpose); --race=false goes without it",
		broken:             "the tests of example.org/digest do not build",
		source(t, "exits"): "no test files",
	} {
		if result, _ := fix(t, folder, "--race", "."); result.Status != 1 || !strings.Contains(result.Errors, says) {
			t.Errorf("status %d: %s", result.Status, result.Errors)
		}
	}
}
