// Package gate runs mallow gate in repositories that are made for it, on real programs.
package gate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mallow/internal/gate"
	"mallow/test/harness"
)

// repository is one of git's with a budget in it.
type repository struct {
	testing.TB
	folder   string
	settings []string
}

func newRepository(t testing.TB) *repository {
	r := &repository{TB: t, folder: filepath.Join(harness.TempDir(t), "repository"), settings: []string{
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	}}
	if err := os.Mkdir(r.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repository) run(arguments ...string) harness.Result {
	r.Helper()
	return harness.Run(r, harness.Command{Arguments: arguments, Directory: r.folder, Settings: r.settings, Timeout: 10 * time.Minute})
}

func (r *repository) git(arguments ...string) string {
	r.Helper()
	result := r.run(append([]string{"git"}, arguments...)...)
	if result.Status != 0 {
		r.Fatalf("git %q: %s%s", arguments, result.Output, result.Errors)
	}
	return strings.TrimSpace(result.Output)
}

func (r *repository) path(name string) string { return filepath.Join(r.folder, name) }

func (r *repository) write(name, text string) {
	r.Helper()
	if err := os.WriteFile(r.path(name), []byte(text), 0o755); err != nil {
		r.Fatal(err)
	}
}

func (r *repository) read(name string) string {
	r.Helper()
	text, err := os.ReadFile(r.path(name))
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

// replace changes a file and fails if there is nothing to change.
func (r *repository) replace(name, old, new string) {
	r.Helper()
	text := r.read(name)
	if !strings.Contains(text, old) {
		r.Fatalf("%s has no %q", name, old)
	}
	r.write(name, strings.Replace(text, old, new, 1))
}

func (r *repository) copy(name string) {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(), "test/gate/testdata", name))
	if err != nil {
		r.Fatal(err)
	}
	r.write(name, string(text))
}

func (r *repository) commit(message string) string {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

// gate runs mallow gate and checks its exit code.
func (r *repository) gate(status int, flags ...string) harness.Result {
	r.Helper()
	result := r.run(append([]string{harness.CLI(r), "gate"}, flags...)...)
	if result.Status != status {
		r.Fatalf("mallow gate %q: %s, not %d\n%s%s", flags, result.Ending(), status, result.Output, result.Errors)
	}
	return result
}

// decide is gate with what it says.
func (r *repository) decide(status int, flags ...string) *gate.Result {
	r.Helper()
	return parsed(r, r.gate(status, append([]string{"--json"}, flags...)...))
}

func parsed(t testing.TB, result harness.Result) *gate.Result {
	t.Helper()
	var found gate.Result
	if err := json.Unmarshal([]byte(result.Output), &found); err != nil || found.Schema != gate.Schema {
		t.Fatalf("%v: %s%s", err, result.Output, result.Errors)
	}
	return &found
}

func (r *repository) check(found *gate.Result, benchmark, metric string) *gate.Check {
	r.Helper()
	for i := range found.Checks {
		if c := &found.Checks[i]; c.Benchmark == benchmark && c.Metric == metric {
			return c
		}
	}
	r.Fatalf("no check of %s %s: %+v", benchmark, metric, found.Checks)
	return nil
}

func noted(found *gate.Result, words string) bool {
	return slices.ContainsFunc(found.Notes, func(note string) bool { return strings.Contains(note, words) })
}

const compile = "cc -g -O1 -fno-builtin -fno-optimize-sibling-calls -o parse parse.c"

// parsing is a repository whose budget has the program that parses.
func parsing(t testing.TB) *repository {
	r := newRepository(t)
	r.copy("parse.c")
	r.write("mallow.toml", "# What our programs may allocate.\n[benchmark.parse]\ncommand = [\"./parse\"] # as it is\nbuild = \""+compile+"\"\n")
	r.write(".gitignore", "parse\n")
	r.commit("a program")
	return r
}

// program commits a program with its budget.
func (r *repository) program(name, source string) (commit string) {
	r.Helper()
	r.write(name+".c", source)
	r.write("mallow.toml", fmt.Sprintf("[benchmark.%[1]s]\ncommand = [\"./%[1]s\"]\nbuild = \"cc -g -O1 -fno-builtin -fno-optimize-sibling-calls -o %[1]s %[1]s.c\"\n", name))
	r.write(".gitignore", name+"\n")
	r.gate(0, "--update")
	return r.commit("a program")
}

// plant adds an allocation to each turn of the loop.
func (r *repository) plant() {
	r.Helper()
	r.replace("parse.c", "  char* word = copy_word(text);\n", "  char* word = copy_word(text);\n  free(malloc(40));\n")
}

// TestExact follows a program through its life: without a budget, with one, with a planted allocation, with one less.
func TestExact(t *testing.T) {
	r := parsing(t)
	found := r.decide(0)
	if c := r.check(found, "parse", "allocations"); c.Class != gate.Exact || *c.Now != 1000 || c.Was != nil || c.Verdict != gate.OK {
		t.Errorf("without a budget: %+v", c)
	}
	r.gate(4, "--strict") // it shall have one
	before := r.read("mallow.toml")
	r.gate(0, "--update")
	want := before + "\n[benchmark.parse.budget]\nallocations = 1_000\nbytes = 8_890\npeak = 9\nlive = 0\nlibc = 1\n"
	if got := r.read("mallow.toml"); got != want {
		t.Errorf("the budget is\n%s", got)
	}
	if kept := r.read("mallow.stacks/parse.txt"); !strings.HasSuffix(kept,
		"copy_word\tparse.c:7\tparse\n\t1000 malloc 8890 7-9 0 0 0\tparse_line\tparse.c:15\tmain\tparse.c:23\n"+
			"main\tparse.c:24\tparse\n\t1 libc:malloc 4096 4096 1 4096 4096\n") {
		t.Errorf("the stacks are\n%s", kept)
	}
	r.commit("its budget")
	r.gate(0, "--strict")

	r.plant()
	found = r.decide(2)
	c := r.check(found, "parse", "allocations")
	if c.Verdict != gate.Regression || c.Reference != gate.Budget || *c.Was != 1000 || *c.Now != 2000 || len(c.Sites) != 1 {
		t.Fatalf("planted: %+v", c)
	}
	site := c.Sites[0]
	if site.Function != "parse_line" || site.Line != 16 || site.Was != 0 || site.Now != 1000 || site.Status != "new" ||
		len(site.Callers) != 1 || site.Callers[0].Function != "main" {
		t.Errorf("guilty: %+v", site)
	}
	if changed := site.Changed; len(changed) != 1 || changed[0] != (gate.LineChange{File: "parse.c", Line: 16, New: "  free(malloc(40));"}) {
		t.Errorf("changed: %+v", changed)
	}
	if text := r.gate(2).Output; !strings.Contains(text, "+1,000  new  parse_line  parse.c:16\n              <- main parse.c:24\n") {
		t.Errorf("in words:\n%s", text)
	}
	// Whoever raises the budget means it.
	r.gate(0, "--update")
	r.gate(0, "--strict")
	if got := r.read("mallow.toml"); !strings.Contains(got, "allocations = 2_000\n") || !strings.HasPrefix(got, before) {
		t.Errorf("raised:\n%s", got)
	}

	r.replace("parse.c", "  free(malloc(40));\n", "")
	if c := r.check(r.decide(0), "parse", "allocations"); c.Verdict != gate.Improvement || c.Reference != gate.Budget {
		t.Errorf("less: %+v", c)
	}
	if result := r.gate(4, "--strict"); !strings.Contains(result.Errors, "--update") {
		t.Error(result.Errors)
	}
	r.gate(0, "--update")
	r.gate(0, "--strict")
	if got := r.read("mallow.toml"); got != want {
		t.Errorf("lowered:\n%s", got)
	}
	if status := r.git("status", "--porcelain"); status != "" && strings.Contains(status, "mallow") {
		t.Errorf("up and down again leaves %s", status)
	}
}

// TestRenamedAndChanged has a site that is not found again: it stands as new with all of its calls, and what is gone
// tells how many of them are no growth.
func TestRenamedAndChanged(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update")
	r.commit("its budget")
	r.replace("parse.c", "char* copy_word(", "char* keep_word(")
	r.replace("parse.c", "malloc(strlen(word) + 1)", "malloc(strlen(word) + 3)")
	r.replace("parse.c", "  char* word = copy_word(text)", "  free(keep_word(text));\n  char* word = keep_word(text)")
	c := r.check(r.decide(2), "parse", "allocations")
	if len(c.Sites) != 1 || c.Sites[0].Now != 2000 || !strings.Contains(c.Message, ": 1,000 more (100 %); gone are 1,000, most of copy_word parse.c:7") {
		t.Errorf("%s: %+v", c.Message, c.Sites)
	}
	if c := r.check(r.decide(2), "parse", "bytes"); !strings.Contains(c.Message, "; gone are 8,890, most of copy_word parse.c:7") {
		t.Errorf("%s: %+v", c.Message, c.Sites)
	}
}

// TestFreshClone has nothing but what the repository has, and still names what grew.
func TestFreshClone(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update", "--no-history")
	r.commit("its budget")
	clone := *r
	clone.folder = filepath.Join(harness.TempDir(t), "clone")
	r.git("clone", "-q", "--depth", "1", "file://"+r.folder, clone.folder)
	clone.plant()
	found := clone.decide(2)
	if c := clone.check(found, "parse", "allocations"); c.Reference != gate.Budget || len(c.Sites) != 1 || c.Sites[0].Function != "parse_line" || len(c.Sites[0].Changed) != 1 {
		t.Errorf("%+v", c)
	}
	clone.commit("it grows")
	clone.git("checkout", "-q", "--detach")
	if found := clone.decide(2, "--base", "origin/nothing"); !noted(found, `git knows no "origin/nothing"`) {
		t.Errorf("%q", found.Notes)
	}
}

// TestBudgetOfAnotherName is as good as mallow.toml: what it says is no change of the program, and what changed since is
// what changed since it did.
func TestBudgetOfAnotherName(t *testing.T) {
	r := parsing(t)
	r.git("mv", "mallow.toml", "perf.toml")
	r.gate(0, "--update", "--no-history", "--budget", "perf.toml")
	r.commit("its budget")
	r.write("perf.toml", r.read("perf.toml")+"# a remark\n")
	r.gate(0, "--budget", "perf.toml")
	if history := r.run(harness.CLI(t), "history", "--json").Output; !strings.Contains(history, `"dirty": false`) || strings.Contains(history, `"dirty": true`) {
		t.Errorf("a remark in the budget makes another program: %s", history)
	}
	r.git("checkout", "-q", "perf.toml")
	r.plant()
	r.commit("it grows")
	found := r.decide(2, "--budget", "perf.toml", "--no-history", "--no-base")
	if c := r.check(found, "parse", "allocations"); len(c.Sites) != 1 || len(c.Sites[0].Changed) != 1 {
		t.Errorf("%+v", c.Sites)
	}
}

// TestEmptyStacks are those of a file that was cut: what the program allocates is not all new because of it.
func TestEmptyStacks(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update", "--no-history")
	r.write("mallow.stacks/parse.txt", "")
	r.plant()
	found := r.decide(2, "--no-history", "--no-base")
	if !noted(found, "mallow.stacks/parse.txt has no stacks; what grew since the budget was taken cannot be named before mallow gate --update writes it anew") {
		t.Errorf("%q", found.Notes)
	}
	if c := r.check(found, "parse", "allocations"); len(c.Sites) != 0 {
		t.Errorf("%+v", c.Sites)
	}
}

// TestEditedBudget has a figure that its stacks do not have: that nothing can be named is said, and why.
func TestEditedBudget(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update", "--no-history")
	r.replace("mallow.toml", "allocations = 1_000", "allocations = 900")
	c := r.check(r.decide(2, "--no-history", "--no-base"), "parse", "allocations")
	if len(c.Sites) != 0 || !strings.HasSuffix(c.Message, "; no site has more than in mallow.stacks/parse.txt: is that of this figure? mallow gate --update writes both") {
		t.Errorf("%+v", c)
	}
	r.plant() // beside that, what did grow is named
	if c := r.check(r.decide(2, "--no-history", "--no-base"), "parse", "allocations"); len(c.Sites) != 1 || strings.Contains(c.Message, "stacks") {
		t.Errorf("%+v", c)
	}
}

// TestShallow is a clone that does not reach the merge base: that is said, and the others decide.
func TestShallow(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update", "--no-history")
	r.commit("its budget")
	r.git("checkout", "-q", "-b", "work")
	r.commit("nothing")
	r.git("checkout", "-q", "main")
	r.commit("elsewhere")
	clone := *r
	clone.folder = filepath.Join(harness.TempDir(t), "clone")
	r.git("clone", "-q", "--depth", "1", "--no-single-branch", "--branch", "work", "file://"+r.folder, clone.folder)
	found := clone.decide(0)
	if !noted(found, "this clone is shallow and does not reach the merge base with origin/main") {
		t.Errorf("%q", found.Notes)
	}
	clone.plant()
	if c := clone.check(clone.decide(2), "parse", "allocations"); c.Reference != gate.Budget {
		t.Errorf("%+v", c)
	}
}

// TestMergeBase needs no budget: the commit that the branch left is built and run.
func TestMergeBase(t *testing.T) {
	r := parsing(t)
	base := r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "-b", "work")
	r.plant()
	r.commit("it grows")
	for _, flags := range [][]string{{"--no-history"}, {}, {}} { // the last by the point that the one before made
		found := r.decide(2, flags...)
		c := r.check(found, "parse", "allocations")
		if c.Reference != gate.MergeBase || *c.Was != 1000 || !strings.Contains(c.Message, "the merge base "+base[:10]) {
			t.Errorf("%+v", c)
		}
		if len(c.Sites) != 1 || c.Sites[0].Function != "parse_line" || len(c.Sites[0].Changed) != 1 {
			t.Errorf("%q: %+v", flags, c.Sites)
		}
	}
	if trees := r.git("worktree", "list"); strings.Contains(trees, "\n") {
		t.Errorf("left behind: %s", trees)
	}
	// An improvement that the budget does not have yet is not lost again unseen.
	r.write("mallow.toml", r.read("mallow.toml")+"[benchmark.parse.budget]\nallocations = 5_000\n")
	if c := r.check(r.decide(2, "--no-history"), "parse", "allocations"); c.Reference != gate.MergeBase {
		t.Errorf("%+v", c)
	}
	// In a clone as servers make them the branch is known as the remote one only.
	r.replace("mallow.toml", "# What", "base = \"main\" # What")
	r.commit("its base")
	clone := *r
	clone.folder = filepath.Join(harness.TempDir(t), "clone")
	r.git("clone", "-q", "--branch", "work", "file://"+r.folder, clone.folder)
	clone.git("checkout", "-q", "--detach")
	if c := clone.check(clone.decide(2, "--no-history"), "parse", "allocations"); c.Reference != gate.MergeBase || !strings.Contains(c.Message, base[:10]) {
		t.Errorf("%+v", c)
	}
	// A base that does not build decides nothing.
	r.git("checkout", "-q", "main")
	r.replace("parse.c", "int main", "int broken main")
	r.commit("broken")
	r.git("checkout", "-q", "-b", "mended")
	r.replace("parse.c", "int broken main", "int main")
	if found := r.decide(0, "--no-history"); !noted(found, "the build failed") {
		t.Errorf("%q", found.Notes)
	}
}

// TestPathsOfTheTree has a command that is the same program at each commit: the merge base is not said to cost what it costs.
func TestPathsOfTheTree(t *testing.T) {
	r := parsing(t)
	base := r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "-b", "work")
	r.plant()
	r.replace("mallow.toml", `"./parse"`, `"`+r.path("parse")+`"`)
	r.commit("it grows")
	found := r.decide(0)
	if !noted(found, "parse: the merge base "+base[:10]+" is left out: its settings name "+r.folder+", which stays what it is at "+base[:10]+": ") {
		t.Errorf("%q", found.Notes)
	}
	if points := r.run(harness.CLI(t), "history", "--json").Output; strings.Contains(points, base) {
		t.Errorf("the history has a point of what did not run: %s", points)
	}
}

// TestSubmodule builds of a submodule, which the working tree of the merge base has not.
func TestSubmodule(t *testing.T) {
	r := parsing(t)
	library := newRepository(t)
	library.write("library.c", "")
	library.commit("a library")
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.folder, "library")
	r.replace("mallow.toml", "parse.c", "parse.c library/library.c")
	r.commit("it is built of the library")
	r.plant()
	found := r.decide(0, "--no-history")
	if !noted(found, "the build failed at "+r.git("rev-parse", "HEAD")[:10]+", where no submodule is checked out: exit status 1; it said: ") {
		t.Errorf("%q", found.Notes)
	}
	if trees := r.git("worktree", "list"); strings.Contains(trees, "\n") {
		t.Errorf("left behind: %s", trees)
	}
}

// TestBelow has its budget in a folder of the repository, and runs as a hook of git's, which tells its hooks of one working
// tree alone.
func TestBelow(t *testing.T) {
	r := newRepository(t)
	below := *r
	below.folder = r.path("below/work")
	if err := os.MkdirAll(below.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	below.copy("parse.c")
	below.write("mallow.toml", "[benchmark.parse]\ncommand = [\"./parse\"]\nbuild = \""+compile+"\"\n")
	r.write(".gitignore", "parse\n")
	r.write(".git/hooks/pre-commit", "#!/bin/sh\ncd below/work && exec "+harness.CLI(t)+" gate --no-history\n")
	r.write(".git/hooks/post-checkout", "#!/bin/sh\necho a hook ran >&2; exit 1\n")
	r.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "none")
	r.git("add", "-A")
	r.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "a program")
	below.plant()
	result := r.run("git", "commit", "-q", "-a", "-m", "it grows")
	if said := result.Output + result.Errors; result.Status == 0 || !strings.Contains(said, "2,000 allocations, and the merge base ") || !strings.Contains(said, "16 +   free(malloc(40));") {
		t.Errorf("%s: %s", result.Ending(), said)
	}
	below.gate(0, "--update", "--no-history")
	r.git("add", "-A")
	if result := r.run("git", "commit", "-q", "-m", "it may"); result.Status != 0 {
		t.Errorf("%s: %s%s", result.Ending(), result.Output, result.Errors)
	}
	if trees := r.git("worktree", "list"); strings.Contains(trees, "\n") {
		t.Errorf("left behind: %s", trees)
	}
}

// TestTwoAtOnce runs two gates in one working tree: neither meets the other's build, and both figures come into the budget.
func TestTwoAtOnce(t *testing.T) {
	r := newRepository(t)
	build := "build = 'mkdir building && sleep 0.5 && rmdir building'\n"
	r.write("mallow.toml", "[benchmark.one]\ncommand = 'true'\n"+build+"[benchmark.two]\ncommand = 'true'\n"+build)
	results := make([]harness.Result, 2)
	var both sync.WaitGroup
	for i, name := range []string{"one", "two"} {
		both.Go(func() {
			results[i] = r.run(harness.CLI(t), "gate", "--update", name)
		})
	}
	both.Wait()
	waited := 0
	for _, result := range results {
		if result.Status != 0 {
			t.Errorf("%s: %s%s", result.Ending(), result.Output, result.Errors)
		}
		waited += strings.Count(result.Errors, "mallow: another mallow gate runs in "+r.folder+": this one waits until it has ended\n")
	}
	if waited != 1 {
		t.Errorf("%d of them say that they wait", waited)
	}
	if text := r.read("mallow.toml"); strings.Count(text, "allocations = ") != 2 {
		t.Errorf("the budget is\n%s", text)
	}
}

// TestEnds leaves no process and no folder behind, whether the benchmark ends or the gate is told to.
func TestEnds(t *testing.T) {
	r := newRepository(t)
	marker := fmt.Sprintf("3333.%d", os.Getpid())
	running := func() bool { return r.run("pgrep", "-f", "^sleep "+marker).Status == 0 }
	// What is ended while it starts has no recording: it is given the time for one, which is mapped before it begins to sleep.
	r.write("mallow.toml", "[benchmark.leaves]\ncommand = 'sleep "+marker+" & until grep -q sleep /proc/$!/comm && grep -q /image- /proc/$!/maps; do :; done; sleep 0.5; echo started'\n")
	if found := r.decide(0, "--runs", "1"); !noted(found, "leaves: processes that it had started still ran when it ended, and were ended") || len(found.Notes) != 2 {
		t.Errorf("%q", found.Notes)
	}
	if running() {
		t.Error("what the benchmark left behind still runs")
	}
	r.write("mallow.toml", "[benchmark.stays]\ncommand = 'touch begun; sleep "+marker+" & sleep "+marker+"'\n")
	begin := func(arguments ...string) *harness.Background {
		os.Remove(r.path("begun"))
		background := harness.Start(t, harness.Command{Arguments: append(arguments, harness.CLI(t), "gate"), Directory: r.folder, Settings: r.settings})
		for _, err := os.Stat(r.path("begun")); err != nil; _, err = os.Stat(r.path("begun")) {
			time.Sleep(10 * time.Millisecond)
		}
		return background
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		background := begin("env", "--default-signal")
		if status := background.Stop(t, sig); status != 1 || !strings.Contains(background.Errors(), "interrupted: nothing was decided") {
			t.Errorf("%v: status %d: %s", sig, status, background.Errors())
		}
		if running() {
			t.Errorf("%v: what the gate had started still runs", sig)
		}
	}
	background := begin("env", "--ignore-signal=HUP") // as nohup does
	background.Process.Process.Signal(syscall.SIGHUP)
	time.Sleep(300 * time.Millisecond)
	if background.Ended() {
		t.Errorf("a hangup ends it after nohup: %s", background.Errors())
	}
	background.Stop(t, syscall.SIGTERM)
}

// TestHistory has neither budget nor build command: points decide, whatever clocks said.
func TestHistory(t *testing.T) {
	r := parsing(t)
	r.replace("mallow.toml", "build", "# build")
	for _, date := range []string{"2031-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "2026-01-01T00:00:00Z"} {
		settings := r.settings
		r.settings = append(slices.Clone(settings), "GIT_COMMITTER_DATE="+date, "GIT_AUTHOR_DATE="+date)
		r.commit("on " + date)
		r.settings = settings
		if result := r.run("sh", "-c", compile); result.Status != 0 {
			t.Fatal(result.Errors)
		}
		r.gate(0)
	}
	last := r.git("rev-parse", "HEAD")
	r.plant()
	r.run("sh", "-c", compile)
	r.commit("it grows")
	c := r.check(r.decide(2, "--no-base"), "parse", "allocations")
	if c.Reference != gate.History || *c.Was != 1000 || !strings.Contains(c.Message, last[:10]) || len(c.Sites) != 1 || c.Sites[0].Line != 16 || len(c.Sites[0].Changed) != 1 {
		t.Errorf("%+v", c)
	}
	// A damaged history is said, and changes nothing else.
	r.write("damaged", strings.Repeat("no database", 1000))
	if found := r.decide(0, "--no-base", "--db", "damaged"); !noted(found, "the history is left out") {
		t.Errorf("%q", found.Notes)
	}
	if r.read("damaged") != strings.Repeat("no database", 1000) {
		t.Error("the damaged file was written to")
	}
}

// TestLineOfCaller names of a function that calls another at two lines the one that calls more often, be it seldom, far
// from main, and not the line that was changed.
func TestLineOfCaller(t *testing.T) {
	r := newRepository(t)
	r.program("box", `#include <stdlib.h>
__attribute__((noinline)) static void box(void) { free(malloc(16)); }
__attribute__((noinline)) static void grow(int i) {
  if (i < 600)
    box();
  else
    box();
  if (i == 0) box();
}
static void (*volatile next[8])(int);
`+"#define STEP(n, m) __attribute__((noinline)) static void step##n(int i) { next[m](i); }\nSTEP(0, 1) STEP(1, 2) STEP(2, 3) STEP(3, 4) STEP(4, 5) STEP(5, 6) STEP(6, 7)\n"+`int main(void) {
  void (*all[])(int) = {step0, step1, step2, step3, step4, step5, step6, grow};
  for (int i = 0; i < 8; i++) next[i] = all[i];
  for (int i = 0; i < 640; i++) next[0](i);
  return 0;
}
`)
	r.replace("box.c", "i < 640", "i < 690")
	if sites := r.check(r.decide(2), "box", "allocations").Sites; len(sites) != 1 || sites[0].Callers[0].Function != "grow" || sites[0].Callers[0].Line != 7 {
		t.Errorf("%+v", sites)
	}
}

// TestNewCaller plants a call into main of what main has called through another function before.
func TestNewCaller(t *testing.T) {
	r := newRepository(t)
	r.program("copy", `#include <stdlib.h>
__attribute__((noinline)) static void copy(int size) { free(malloc(size)); }
__attribute__((noinline)) static void work(void) {
  for (int i = 0; i < 500; i++) copy(10);
}
int main(void) {
  work();
  return 0;
}
`)
	r.replace("copy.c", "  return 0;", "  for (int i = 0; i < 5; i++) copy(11);\n  return 0;")
	sites := r.check(r.decide(2), "copy", "allocations").Sites
	if len(sites) != 1 || len(sites[0].Callers) != 1 || sites[0].Callers[0].Function != "main" || sites[0].Callers[0].Line != 8 {
		t.Errorf("%+v", sites)
	}
}

// TestCallerByBytes plants what no number of calls tells: a larger buffer, and one that is not freed any more, by the one of three callers that calls seldom.
func TestCallerByBytes(t *testing.T) {
	r := newRepository(t)
	first := r.program("buffer", `#include <stdlib.h>
#include <string.h>
static char *keep[3000];
static int count;
__attribute__((noinline)) static char *buffer(size_t size) {
  char *b = malloc(size);
  memset(b, 1, size);
  return keep[count++] = b;
}
__attribute__((noinline)) static void names(void) {
  for (int i = 0; i < 2000; i++) buffer(20);
}
__attribute__((noinline)) static void lines(void) {
  for (int i = 0; i < 30; i++) buffer(100);
}
__attribute__((noinline)) static void pages(void) {
  for (int i = 0; i < 30; i++) {
    buffer(120);
    buffer(200);
  }
}
int main(void) {
  names();
  lines();
  pages();
  while (count > 0) free(keep[--count]);
}
`)
	check := func(metric string, line int) {
		t.Helper()
		sites := r.check(r.decide(2), "buffer", metric).Sites
		if len(sites) != 1 || sites[0].Function != "buffer" || len(sites[0].Callers) == 0 || sites[0].Callers[0].Function != "pages" || sites[0].Callers[0].Line != line {
			t.Errorf("%s: %+v", metric, sites)
		}
	}
	r.replace("buffer.c", "buffer(200);", "buffer(5000);")
	check("bytes", 19)
	check("peak", 19)
	last := r.commit("larger buffers")
	told := r.run(harness.CLI(r), "history", "bisect", "--metric", "bytes", "--good", first, "--bad", last, "buffer").Output
	if !regexp.MustCompile(`buffer  buffer\.c:6\n *<- pages  buffer\.c:19\n`).MatchString(told) {
		t.Errorf("bisect:\n%s", told)
	}

	r.replace("buffer.c", "buffer(5000);", "buffer(200);")
	r.replace("buffer.c", "buffer(120);", "buffer(120), count--;")
	check("live", 18)
}

// TestOtherChangeOfTheBudget does not hide what changed before it.
func TestOtherChangeOfTheBudget(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update")
	r.commit("its budget")
	r.plant()
	r.write("mallow.toml", r.read("mallow.toml")+"[benchmark.other]\ncommand = [\"./parse\"]\n")
	r.commit("it grows, and there is another benchmark")
	c := r.check(r.decide(2), "parse", "allocations")
	if len(c.Sites) != 1 || len(c.Sites[0].Changed) != 1 || c.Sites[0].Changed[0].Line != 16 {
		t.Errorf("%+v", c)
	}
}

// TestIndented tells what changed in a file that was indented anew, and not all that there is.
func TestIndented(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update")
	r.commit("its budget")
	r.plant()
	r.write("parse.c", strings.ReplaceAll(r.read("parse.c"), "\n  ", "\n\t"))
	r.commit("tabs, and it grows")
	c := r.check(r.decide(2), "parse", "allocations")
	if len(c.Sites) != 1 || len(c.Sites[0].Changed) != 1 || c.Sites[0].Changed[0] != (gate.LineChange{File: "parse.c", Line: 16, New: "\tfree(malloc(40));"}) {
		t.Errorf("%+v", c)
	}
}

// TestRenamedFile tells the lines of a renamed file that changed, and not all that there are.
func TestRenamedFile(t *testing.T) {
	r := parsing(t)
	r.replace("mallow.toml", "-o parse parse.c", "-o parse *.c")
	r.gate(0, "--update")
	r.commit("its budget")
	r.git("mv", "parse.c", "text parser.c")
	r.replace("text parser.c", "  char* word = copy_word(text);\n", "  char* word = copy_word(text);\n  free(malloc(40));\n")
	want := gate.LineChange{File: "text parser.c", Line: 16, New: "  free(malloc(40));"}
	for _, committed := range []bool{false, true} {
		if committed {
			r.commit("another name")
		}
		sites := r.check(r.decide(2), "parse", "allocations").Sites
		if len(sites) != 1 || len(sites[0].Changed) != 1 || sites[0].Changed[0] != want {
			t.Errorf("committed %v: %+v", committed, sites)
		}
	}
}

func TestTarget(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update")
	r.write("mallow.toml", r.read("mallow.toml")+"\n[benchmark.parse.target]\nallocations = 1000\npeak = 8\n")
	found := r.decide(0, "--strict")
	if c := r.check(found, "parse", "allocations"); c.Verdict != gate.TargetReached || !strings.Contains(c.Message, "its target of 1,000 is reached") {
		t.Errorf("%+v", c)
	}
	if c := r.check(found, "parse", "peak"); c.Verdict != gate.OK || !strings.Contains(c.Message, "its target is 8") {
		t.Errorf("%+v", c)
	}
}

// TestLibc plants a call of a function of libc that allocates: no other metric sees it.
func TestLibc(t *testing.T) {
	r := parsing(t)
	r.gate(0, "--update", "--no-history")
	r.commit("its budget")
	r.replace("parse.c", "#include <stdio.h>", "#define _GNU_SOURCE\n#include <stdio.h>")
	r.replace("parse.c", "  int length = strlen(word);\n", "  int length = strlen(word);\n  char* said;\n  if (asprintf(&said, \"%s!\", word) > 0) free(said);\n")
	found := r.decide(2, "--no-history", "--no-base")
	if c := r.check(found, "parse", "allocations"); c.Verdict != gate.OK {
		t.Errorf("%+v", c)
	}
	c := r.check(found, "parse", "libc")
	if c.Verdict != gate.Regression || c.Class != gate.Exact || len(c.Sites) != 1 {
		t.Fatalf("%+v", c)
	}
	s := c.Sites[0]
	want := "1,001 allocations that libc makes for it, and the budget has 1: 1,000 more"
	if s.Now-s.Was == 2000 { // before glibc 2.37 the text grows into its block
		want = "2,001 allocations that libc makes for it, and the budget has 1: 2,000 more"
	}
	if !strings.HasPrefix(c.Message, want) || s.Function != "parse_line" || s.Line != 19 || len(s.Changed) == 0 {
		t.Errorf("%s: %+v", c.Message, s)
	}
}

// queued is a program of four threads. Its peak is not looked at: how far the
// producers get ahead of the consumers is up to what else the machine does.
func queued(t testing.TB) *repository {
	r := newRepository(t)
	r.copy("queue.cc")
	r.write("mallow.toml", "[benchmark.queue]\ncommand = \"./queue\"\nbuild = \"c++ -std=c++20 -g -O1 -pthread -DEXTRA=0 -o queue queue.cc\"\nmetrics = [\"allocations\", \"bytes\", \"live\"]\n")
	r.write(".gitignore", "queue\n")
	r.commit("a queue")
	return r
}

// TestThreads has counts that differ from run to run: they are bounded, and one part of a hundred more is seen.
func TestThreads(t *testing.T) {
	r := queued(t)
	r.gate(0, "--update", "--no-history")
	r.commit("its budget")
	for range 3 {
		r.decide(0, "--no-history", "--no-base")
	}
	r.replace("mallow.toml", "-DEXTRA=0", "-DEXTRA=8") // of two allocations for each item; make prove-gate finds 1 %
	found := r.decide(2, "--no-history", "--no-base")
	if c := r.check(found, "queue", "allocations"); c.Verdict != gate.Regression || len(c.Sites) == 0 || !strings.HasPrefix(c.Sites[0].Function, "consume(") {
		t.Errorf("%+v", c)
	}
}

// TestTime plants work that takes twice the CPU time: only a comparison side by side makes it a regression.
func TestTime(t *testing.T) {
	r := newRepository(t)
	source := func(turns int) string {
		return fmt.Sprintf("#include <stdlib.h>\nint main(void) { volatile unsigned long n = 0; for (unsigned long i = 0; i < %dul; i++) n += i; free(malloc(1)); return 0; }\n", turns)
	}
	r.write("spin.c", source(60_000_000)) // some 30 ms, beside which a start is little
	r.write("mallow.toml", "[benchmark.spin]\ncommand = \"./spin\"\nbuild = \"cc -O1 -fno-builtin -o spin spin.c\"\nmetrics = [\"allocations\", \"cpu\"]\n")
	r.write(".gitignore", "spin\n")
	r.commit("it spins")
	r.gate(0, "--update", "--no-history")
	budget, _, found := strings.Cut(r.read("mallow.toml"), "\ncpu = ")
	if !found {
		t.Fatal(budget)
	}
	r.commit("its budget")
	// The budget of a faster machine holds nobody guilty.
	r.write("mallow.toml", budget+"\ncpu = [0.0001, 0.0001]\n")
	r.commit("another machine")
	r.write("other", "")
	r.commit("work")
	r.write("spin.c", source(30_000_000))
	outcome := r.decide(0, "--no-history")
	if c := r.check(outcome, "spin", "cpu"); c.Verdict != gate.OK || c.Class != gate.Noisy || !strings.Contains(c.Message, "it was not shown to be slower") {
		t.Errorf("%+v", c)
	}
	r.write("spin.c", source(180_000_000))
	outcome = r.decide(2, "--no-history")
	if c := r.check(outcome, "spin", "cpu"); c.Verdict != gate.Regression || !strings.Contains(c.Message, "times as slow") {
		t.Errorf("%+v", c)
	}
	r.replace("mallow.toml", "build =", "#build =")
	outcome = r.decide(0, "--no-history")
	if c := r.check(outcome, "spin", "cpu"); c.Verdict != gate.OK || !strings.Contains(c.Message, "without a build command") {
		t.Errorf("%+v", c)
	}
}

// TestBadInput says in a sentence what is wrong, exits with 1, and writes nothing.
func TestBadInput(t *testing.T) {
	r := newRepository(t)
	r.write("static.c", "#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }\n")
	if result := r.run("cc", "-static", "-o", "static", "static.c"); result.Status != 0 {
		t.Fatal(result.Errors)
	}
	r.commit("none")
	for _, test := range []struct{ name, lines, want string }{
		{"fails", "command = 'echo so it is >&2; exit 3'", "it ended with exit status 3 and not 0; it said: so it is"},
		{"killed", "command = 'kill -9 $$'", "it was ended by SIGKILL"},
		{"hangs", "command = 'sleep 1000 & sleep 1000'\ntime_limit = 0.3", "it did not end within its time limit of 300ms"},
		{"absent", "command = ['./absent']", "./absent: not found"},
		{"no folder", "command = 'true'\nfolder = 'nowhere'", "its folder nowhere is not there"},
		{"no stdin", "command = 'true'\nstdin = 'nowhere'", "its stdin cannot be read"},
		{"static", "command = ['./static']", "./static cannot be recorded"},
		{"no build", "command = 'true'\nbuild = 'echo no compiler; false'", "the build failed: exit status 1; it said: no compiler"},
		{"no unit", "command = 'true'\nunit = 'request'", "it counted no request"},
		{"left behind", "command = 'sleep 1000 & true'\nruns = 100", "its recording is incomplete: what it had started still ran when it ended, and was ended: the command must wait for it"},
		{"stdin folder", "command = 'true'\nstdin = '.'", "its stdin . is a folder"},
		{"no process", "command = 'true'\nprocesses = ['other']", "none of its processes is other"},
		{"no function", "command = ['/bin/true']\nper = ['nothing']", "nothing"},
	} {
		text := "[benchmark.\"" + test.name + "\"]\n" + test.lines + "\n"
		r.write("mallow.toml", text)
		found := r.decide(1, "--no-history")
		if len(found.Checks) != 1 || found.Checks[0].Verdict != gate.Failed || !strings.Contains(found.Checks[0].Message, test.want) {
			t.Errorf("%s: %+v", test.name, found.Checks)
		}
		result := r.gate(1, "--update", "--no-history")
		if !strings.Contains(result.Errors, "nothing was written") || r.read("mallow.toml") != text {
			t.Errorf("%s: %s%s", test.name, result.Errors, r.read("mallow.toml"))
		}
		if _, err := os.Stat(r.path("mallow.stacks")); err == nil {
			t.Errorf("%s: stacks were written", test.name)
		}
	}
	for _, test := range []struct{ text, want string }{
		{"[benchmark.a]\ncommand = 'true'\ntime_limt = 3\n", `mallow: mallow.toml:3:1: unknown key "time_limt" of benchmark "a"; did you mean "time_limit"?`},
		{"[benchmark.a\n", "mallow: mallow.toml:1:13: expected ']' to close table name"},
		{"", "mallow: mallow.toml has no benchmark"},
		{"[benchmark.a]\ncommand = 'true'\n", `mallow: mallow.toml has no benchmark "b\x1b[31m": there are a`},
	} {
		r.write("mallow.toml", test.text)
		if result := r.gate(1, "b\x1b[31m"); !strings.HasPrefix(result.Errors, test.want) || result.Output != "" {
			t.Errorf("%q: %s%s", test.text, result.Output, result.Errors)
		}
	}
	os.Remove(r.path("mallow.toml"))
	if result := r.gate(1); !strings.Contains(result.Errors, "there is no mallow.toml") {
		t.Error(result.Errors)
	}
}

// TestRefusedBeforeItRuns: what could not be written at the end is said before anything runs.
func TestRefusedBeforeItRuns(t *testing.T) {
	r := newRepository(t)
	dotted := "[benchmark.a]\ncommand = 'touch ran'\nbudget.peak = 3\n"
	whole := "[benchmark.a]\ncommand = 'touch ran'\n"
	for _, test := range []struct {
		text, want string
		flags      []string
	}{
		{whole, "mallow: none/gate.json cannot be written: no such file or directory", []string{"--save", "none/gate.json"}},
		{whole, "mallow: none/page.md cannot be written: no such file or directory", []string{"--summary", "none/page.md"}},
		{whole, "mallow: none/cases.xml cannot be written: no such file or directory", []string{"--junit", "none/cases.xml"}},
		{whole, "mallow: none/lines cannot be written: no such file or directory", []string{"--annotations", "none/lines"}},
		{whole, "mallow: none/quality cannot be written: no such file or directory", []string{"--code-quality", "none/quality"}},
		{whole, "mallow: none/figures cannot be written: no such file or directory", []string{"--metrics", "none/figures"}},
		{dotted, "mallow: mallow.toml:3:1: figures cannot be added here: write them below [benchmark.a.budget]", []string{"--update"}},
		{"benchmark.a.command = 'touch ran'\n", "mallow: mallow.toml:1:1: figures cannot be added here: write the benchmark below [benchmark.a]", []string{"--update"}},
	} {
		r.write("mallow.toml", test.text)
		result := r.gate(1, append(test.flags, "--no-history")...)
		if result.Errors != test.want+"\n" || result.Output != "" || r.read("mallow.toml") != test.text {
			t.Errorf("%q: %s%s", test.flags, result.Output, result.Errors)
		}
		if _, err := os.Stat(r.path("ran")); err == nil {
			t.Errorf("%q: it ran", test.flags)
			os.Remove(r.path("ran"))
		}
	}
	// What only replaces figures can be written, however the table is.
	r.write("mallow.toml", "[benchmark.a]\ncommand = 'true'\nmetrics = 'peak'\nbudget.peak = 3\n")
	r.gate(0, "--update", "--no-history")
}

// TestWithoutGit says that git is missing, and not that this is no repository.
func TestWithoutGit(t *testing.T) {
	r := newRepository(t)
	r.write("mallow.toml", "[benchmark.one]\ncommand = ['/bin/true']\n")
	r.commit("one")
	r.settings = append(r.settings, "PATH="+harness.TempDir(t))
	found := r.decide(0)
	if len(found.Notes) == 0 || found.Notes[0] != "there is no git command in PATH: the budget alone decides" {
		t.Errorf("%q", found.Notes)
	}
}

// TestOddInput works, and says what is odd.
func TestOddInput(t *testing.T) {
	r := newRepository(t)
	r.write("mallow.toml", "[benchmark.differs]\ncommand = 'echo $$'\n[benchmark.nothing]\ncommand = ['/bin/true']\n[benchmark.ends]\ncommand = 'exit 3'\nexit = 3\n")
	found := r.decide(0)
	if !noted(found, "no git repository with a commit") || !noted(found, "differs prints differently in each run") || !noted(found, "nothing allocates nothing on its own account") {
		t.Errorf("%q", found.Notes)
	}
	r.gate(0, "--update")
	r.gate(0, "--strict")
	r.write("mallow.stacks/nothing.txt", strings.Repeat("<", 7)+" ours\n")
	r.replace("mallow.toml", "[benchmark.nothing.budget]\nallocations = 0", "[benchmark.nothing.budget]\nallocations = 0 # none")
	if found := r.decide(0); !noted(found, "mallow.stacks/nothing.txt: line 1: expected a site") {
		t.Errorf("%q", found.Notes)
	}
	if text := r.read("mallow.toml"); strings.Count(text, "\n\n[benchmark.") != 3 || !strings.Contains(text, "exit = 3\n\n[benchmark.ends.budget]\nallocations = ") {
		t.Error(text)
	}
}

// TestProcesses counts what the budget chooses, from where it says, and by unit of work.
func TestProcesses(t *testing.T) {
	r := parsing(t)
	r.write("mallow.toml", "[benchmark.family]\ncommand = \"../parse; ../parse\"\nfolder = \"below\"\nprocesses = [\"parse\"]\nclean_env = true\nenv = { X = \"1\" }\n"+
		"[benchmark.lines]\ncommand = [\"./parse\"]\nper = [\"parse_line\"]\nunit = \"parse_line\"\n[benchmark.input]\ncommand = \"cat\"\nstdin = \"parse.c\"\n")
	if err := os.Mkdir(r.path("below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if result := r.run("sh", "-c", compile); result.Status != 0 {
		t.Fatal(result.Errors)
	}
	found := r.decide(0)
	if c := r.check(found, "family", "allocations"); *c.Now != 2000 {
		t.Errorf("%+v", c)
	}
	if c := r.check(found, "lines", "bytes"); *c.Now != 8.89 || c.Unit != "bytes/parse_line" {
		t.Errorf("%+v", c)
	}
	r.gate(0, "--update")
	if text := r.read("mallow.toml"); !strings.Contains(text, "allocations = 1\nbytes = 8.89\npeak = 9\n") {
		t.Error(text)
	}
	r.gate(0, "--strict", "lines")
	r.replace("mallow.toml", "bytes = 8.89", "bytes = 8.88")
	if c := r.check(r.decide(2, "lines"), "lines", "bytes"); c.Verdict != gate.Regression || !strings.Contains(c.Message, ": 0.01 more (0.11 %)") {
		t.Errorf("%+v", c)
	}
	r.replace("mallow.toml", `["parse"]`, `["parse", "pars"]`)
	if found := r.decide(2); !noted(found, "family: none of its processes is pars: there are parse (2), ") {
		t.Errorf("%q", found.Notes)
	}
	r.replace("mallow.toml", `["parse", "pars"]`, `["pars"]`)
	if c := r.check(r.decide(1, "family"), "family", ""); !strings.HasPrefix(c.Message, "none of its processes is pars: there are parse (2), ") {
		t.Errorf("%+v", c)
	}
}
