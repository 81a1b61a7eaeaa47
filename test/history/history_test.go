// Package history keeps what runs of real programs cost, in repositories made for it: by many processes at a time,
// from several working trees, and looks for the commit that made a step.
package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mallow/test/harness"
	"mallow/test/html/browser"
)

// program allocates so often in parse; it cannot be built where broken.
const program = `#include <stdlib.h>
void *volatile sink;
static void *grow(int n) { return malloc(n); }
static void parse(int n) { for (int i = 0; i < n; i++) { sink = grow(64); free(sink); } }
int main(void) { parse(%s); return 0; }
`

const build = "cc -g -O0 -fno-builtin -o parse parse.c"

// repository is one of git's, with a version of the program for each commit.
type repository struct {
	t       *testing.T
	folder  string
	commits []string
}

func newRepository(t *testing.T, versions ...string) *repository {
	t.Helper()
	r := &repository{t: t, folder: filepath.Join(harness.TempDir(t), "repo")}
	if err := os.Mkdir(r.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	r.run("git init -q -b main && git config user.name Ada && git config user.email ada@example.org && printf 'parse\\n*.mallow\\n' >.gitignore")
	for i, version := range versions {
		r.write("parse.c", fmt.Sprintf(program, version))
		r.write("notes", fmt.Sprint("version ", i))
		// Clocks go backwards: each commit claims to be older than the one before.
		r.run(fmt.Sprintf("export GIT_COMMITTER_DATE='2026-11-%02dT00:00:00Z'; git add . && git commit -q -m 'version %d'", 28-i, i))
		r.commits = append(r.commits, strings.TrimSpace(r.run("git rev-parse HEAD")))
	}
	return r
}

func (r *repository) write(name, content string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.folder, name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// run runs a line for sh that must succeed; mallow is in the PATH.
func (r *repository) run(line string) string { return r.runIn(r.folder, line) }

func (r *repository) runIn(folder, line string) string {
	r.t.Helper()
	result := r.try(folder, line)
	if result.Status != 0 {
		r.t.Fatalf("%s: status %d, %s%s", line, result.Status, result.Output, result.Errors)
	}
	return result.Output
}

func (r *repository) try(folder, line string) harness.Result {
	r.t.Helper()
	return harness.Run(r.t, harness.Command{
		Arguments: []string{"/bin/sh", "-c", `cd "$0" && ` + line, folder},
		Settings:  []string{"PATH=" + filepath.Dir(harness.CLI(r.t)) + ":/usr/bin:/bin", "GIT_CONFIG_GLOBAL=/dev/null", "MALLOW_HISTORY="},
	})
}

// series has the keys of mallow history --json that these tests look at.
type series struct {
	Benchmark, Metric, Class string
	Points                   []struct {
		Commit string
		Dirty  bool
		Value  float64
	}
	Steps []struct{ Commit string }
}

func (r *repository) series(metric string, flags string) (s series) {
	r.t.Helper()
	var d struct{ Series []series }
	if err := json.Unmarshal([]byte(r.run("mallow history --json --metric "+metric+" "+flags)), &d); err != nil {
		r.t.Fatal(err)
	}
	if len(d.Series) != 1 {
		r.t.Fatalf("%d series of %s", len(d.Series), metric)
	}
	return d.Series[0]
}

// Recorded runs are points of the commit that is checked out, whichever tree they run in, and are in the order of the
// graph whatever order they were made in and whatever the clocks said.
func TestRecordedRunsArePoints(t *testing.T) {
	r := newRepository(t, "100", "100", "100", "120", "120")
	r.run("git worktree add -q --detach ../other")
	other := filepath.Join(filepath.Dir(r.folder), "other")
	for _, i := range []int{4, 0, 2, 3, 1} {
		r.runIn(other, "git checkout -q "+r.commits[i]+" && "+build+" && mallow record --benchmark parse -o run.mallow ./parse && rm -r run.mallow")
	}
	r.run("git checkout -q -b elsewhere HEAD~1 && git commit -q --allow-empty -m aside && " + build + " && mallow record --benchmark parse -o aside.mallow ./parse && git checkout -q main")
	r.write("parse.c", fmt.Sprintf(program, "500"))
	r.run(build + " && mallow record -o dirty.mallow ./parse && mallow history add --benchmark parse dirty.mallow")

	s := r.series("allocations", "")
	var got []string
	for _, p := range s.Points {
		got = append(got, fmt.Sprintf("%.4s %v %v", p.Commit, p.Value, p.Dirty))
	}
	var want []string
	for i, v := range []int{100, 100, 100, 120, 120} {
		want = append(want, fmt.Sprintf("%.4s %d false", r.commits[i], v))
	}
	want = append(want, fmt.Sprintf("%.4s 500 true", r.commits[4]))
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("points\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(s.Steps) != 1 || s.Steps[0].Commit != r.commits[3] {
		t.Errorf("steps %v, want one at %s", s.Steps, r.commits[3])
	}
	if all := r.series("allocations", "--all"); len(all.Points) != 7 {
		t.Errorf("%d points with those of other branches", len(all.Points))
	}
	if text := r.run("mallow history"); !strings.Contains(text, "1 point left out of commits that HEAD does not stand on") {
		t.Errorf("nothing is said of other branches:\n%s", text)
	}
}

// What a program has counted so far is no point: the level of the series would be that of a part.
func TestUnfinishedRunsAreNoPoints(t *testing.T) {
	r := newRepository(t, "100")
	result := r.try(r.folder, "mkfifo go; "+build+" && { mallow record -o run.mallow sh -c './parse; read line <go' >/dev/null 2>&1 & } && "+
		"until mallow report run.mallow 2>/dev/null | grep -q '^mallow: 1[0-9][0-9] allocations'; do sleep 0.05; done; "+
		"mallow history add --benchmark parse run.mallow; status=$?; echo >go; wait; mallow history add --benchmark parse run.mallow && exit $status")
	if result.Status != 1 || !strings.Contains(result.Errors, "mallow: run.mallow is no point yet: 1 process still runs\n") {
		t.Errorf("status %d, %s%s", result.Status, result.Output, result.Errors)
	}
	if s := r.series("allocations", ""); len(s.Points) != 1 {
		t.Errorf("%d points, want the one of the whole run", len(s.Points))
	}
}

// Figures of a sampled recording are estimates, and their series says so.
func TestEstimatesAreNoisy(t *testing.T) {
	r := newRepository(t, "1000")
	r.run(build + " && mallow record --sample=64 --benchmark parse -o run.mallow ./parse && rm -r run.mallow")
	if s := r.series("allocations", ""); len(s.Points) != 1 || s.Class != "noisy" {
		t.Errorf("%+v", s)
	}
}

// TestManyWriters lets processes add to one history at the same time, from an empty one on: nothing is lost.
func TestManyWriters(t *testing.T) {
	const writers, files, rows = 12, 4, 3
	r := newRepository(t, "1")
	for w := range writers {
		for f := range files {
			text := "benchmark,commit,metric,value\n"
			for row := range rows {
				text += fmt.Sprintf("b%d,%s,count,%d\n", row, r.commits[0], w*files+f)
			}
			r.write(fmt.Sprintf("w%d-%d.csv", w, f), text)
		}
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for f := range files {
				if result := r.try(r.folder, fmt.Sprintf("mallow history import w%d-%d.csv", w, f)); result.Status != 0 {
					t.Errorf("writer %d: %s", w, result.Errors)
				}
			}
		})
	}
	all.Wait()
	lines := strings.Count(r.run("mallow history export --format csv"), "\n") - 1
	if lines != writers*files*rows {
		t.Errorf("%d points, and %d were added", lines, writers*files*rows)
	}
}

// TestBisect finds the commit between two points, past one that cannot be built, and leaves the user's tree alone.
func TestBisect(t *testing.T) {
	r := newRepository(t, "100", "100", "100", "broken", "100", "130", "130", "130", "130")
	r.write("mallow.toml", "runs = 1\n[benchmark.parse]\ncommand = [\"./parse\"]\nbuild = \""+build+"\"\n")
	for _, i := range []int{0, 1, 2, 7, 8} {
		r.run("git stash -q --include-untracked && git checkout -q " + r.commits[i] + " && git stash pop -q && { mallow gate --no-base >/dev/null; test $? -ne 1; }")
	}
	r.run("git checkout -q main")
	r.write("notes", "changed and not committed")
	before := r.run("git status --porcelain && git rev-parse HEAD && git branch && git stash list && cat notes")
	text := r.run("mallow history bisect parse 2>&1")
	for _, wanted := range []string{"100 -> 130", r.commits[5], "version 5", "grow", "parse.c:3", "100 (of the history)"} {
		if !strings.Contains(text, wanted) {
			t.Errorf("no %q in\n%s", wanted, text)
		}
	}
	if after := r.run("git status --porcelain && git rev-parse HEAD && git branch && git stash list && cat notes"); after != before {
		t.Errorf("the tree was\n%s\nand is\n%s", before, after)
	}
	if trees := r.run("git worktree list"); strings.Count(trees, "\n") != 1 {
		t.Errorf("a working tree was left behind:\n%s", trees)
	}
	// What was measured is in the history now: the second time nothing runs.
	if text := r.run("mallow history bisect parse 2>&1"); !strings.Contains(text, "0 commits measured") || !strings.Contains(text, r.commits[5]) {
		t.Errorf("the second time:\n%s", text)
	}
	for line, want := range map[string]string{
		"mallow history bisect other":                             "no benchmark other",
		"mallow history bisect --good main --bad HEAD~1 parse":    "must be an ancestor",
		"mallow history bisect --good nowhere parse":              "no commit",
		"mallow history bisect --good HEAD~3 parse -- ./missing":  "cannot be run",
		"mallow history bisect --good HEAD~3 parse -- /bin/false": "exit status 1",
		"mallow history bisect --good HEAD~2 parse":               "no step between them",
		"mallow history bisect --good HEAD~2 --metric time parse": "mallow: --metric time: there are allocations, bytes, peak, live, libc, cpu, wall\n",
		"mallow history bisect --metric temporary parse":          "mallow: --metric temporary: there are ",
	} {
		if result := r.try(r.folder, line); result.Status != 1 || !strings.Contains(result.Errors, want) {
			t.Errorf("%s: status %d, %s; want %q", line, result.Status, result.Errors, want)
		}
	}
}

// TestBisectOfTimes names no commit where runs of one commit differ as much, and takes no time for known that was measured
// on another day.
func TestBisectOfTimes(t *testing.T) {
	r := newRepository(t, "100", "101", "102")
	count := filepath.Join(harness.TempDir(t), "count")
	r.write("wait", "n=$(cat "+count+" 2>/dev/null || echo 0); echo $((n + 1)) >"+count+"; sleep 0.0$((n % 3 * 2 + 3))\n")
	r.run("git add wait && git commit -q -m wait && echo more >>wait && sed -i '$d' wait && git commit -q --allow-empty -m same")
	bisect := "mallow history bisect --metric wall --good HEAD~1 --runs 3 words -- /bin/sh wait"
	for range 2 {
		result := r.try(r.folder, bisect)
		if result.Status != 1 || !strings.Contains(result.Errors, "no more than runs of one commit differ") || strings.Contains(result.Errors, "of the history") {
			t.Errorf("status %d, %s%s", result.Status, result.Output, result.Errors)
		}
	}
	r.write("wait", "sleep 0.5\n")
	r.run("git commit -q -a -m slow")
	if text := r.run(strings.Replace(bisect, "HEAD~1", "HEAD~2", 1) + " 2>&1"); !strings.Contains(text, "\n  slow\n") {
		t.Errorf("the commit that waits longer is not found: %s", text)
	}
}

// TestDaily runs the benchmarks of a day as the timer does.
func TestDaily(t *testing.T) {
	r := newRepository(t, "100")
	r.write("mallow.toml", "[benchmark.parse]\ncommand = [\"./parse\"]\nbuild = \""+build+"\"\n")
	r.run("mallow gate --no-history --update && git add mallow.toml && git commit -q -m budget")
	r.write("parse.c", "not what is measured")
	daily := filepath.Join(harness.Root(), "packaging", "timer", "mallow-daily")
	r.run(daily + " . page.html && grep -q Content-Security-Policy page.html && test \"$(cat parse.c)\" = 'not what is measured'")
	elsewhere := harness.TempDir(t)
	if r.runIn(elsewhere, daily+" "+r.folder+" page.html"); !exists(filepath.Join(elsewhere, "page.html")) {
		t.Error("the page is not where it was asked for")
	}
	r.write("parse.c", fmt.Sprintf(program, "101"))
	r.run("git commit -q -a -m more")
	if result := r.try(r.folder, daily+" ."); result.Status != 2 || !strings.Contains(result.Output, "101 allocations, and the budget has 100") {
		t.Errorf("status %d, %s%s", result.Status, result.Output, result.Errors)
	}
	if s := r.series("allocations", ""); len(s.Points) != 3 {
		t.Errorf("%d points after three runs", len(s.Points))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestMain(m *testing.M) { browser.Main(m) }

// TestPage clicks on a step of a page whose names are hostile.
func TestPage(t *testing.T) {
	r := newRepository(t, "100", "100", "100", "120", "120", "120")
	const hostile = `"><img src=x onerror=alert(1)>=1+1`
	for _, commit := range r.commits {
		r.run("git checkout -q " + commit + " && " + build + " && mallow record --benchmark '" + hostile + "' -o run.mallow ./parse && rm -r run.mallow")
	}
	r.run("mallow history --html page.html")
	page := browser.Open(t, "file://"+filepath.Join(r.folder, "page.html"))
	if text := page.Text("section.benchmark h2"); text != hostile {
		t.Errorf("the benchmark is shown as %q", text)
	}
	if n := page.Count("img"); n != 0 {
		t.Errorf("%d images came out of a name", n)
	}
	if n := page.Count("details.step[open]"); n != 0 {
		t.Errorf("%d steps are open at first", n)
	}
	page.Click("section.steps tbody a")
	page.Wait(`document.querySelectorAll("details.step[open]").length === 1`)
	if text := page.Text("details.step[open] table"); !strings.Contains(text, "grow") || !strings.Contains(text, "parse.c:3") || !strings.Contains(text, "120") {
		t.Errorf("the step is explained by %q", text)
	}
	page.Size(400, 800)
	var wide int
	page.Eval(`document.documentElement.scrollWidth`, &wide)
	if wide > 400 {
		t.Errorf("in a window of 400 pixels the page is %d wide", wide)
	}
	page.Click("#search")
	page.Type("no such series")
	page.Wait(`document.querySelector("section.benchmark").hidden`)
	if problems := page.Problems(); len(problems) > 0 {
		t.Errorf("the browser complains: %v", problems)
	}
	for _, request := range page.Requests() {
		if !strings.HasPrefix(request, "file://") {
			t.Errorf("the page asks for %s", request)
		}
	}
}
