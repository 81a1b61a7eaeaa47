package ci_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/internal/forge/forgetest"
	"mallow/test/harness"
)

const program = `#include <stdlib.h>
#include <string.h>
#include <stdio.h>

static char* copy(const char* text) {
  char* mine = malloc(strlen(text) + 1);
  return strcpy(mine, text);
}

static int measure(const char* word) {
  char* mine = copy(word);
  int length = (int)strlen(mine);
  free(mine);
  return length;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += measure("word");
  printf("%d\n", sum);
}
`

const budgetFile = `[benchmark.words]
command = ["./words"]
build = "cc -g -O0 -fno-builtin -o words words.c"
`

// repository makes the workspace one with a program, its budget, and a commit, on a branch that goes to main.
func (j *job) repository() {
	j.t.Helper()
	j.write("words.c", program)
	j.write("mallow.toml", budgetFile)
	j.write(".gitignore", "/words\n")
	j.variables["HOME"] = j.t.TempDir()
	j.variables["GIT_CONFIG_NOSYSTEM"] = "1"
	j.variables["MALLOW_SYMBOL_CACHE"] = "off"
	j.shell(`git init -q -b main && git config user.name demo && git config user.email demo@demo.example
` + harness.CLI(j.t) + ` gate --update --no-history >/dev/null 2>&1
git add -A && git commit -q -m "words" && git checkout -q -b copy`)
}

func (j *job) write(name, content string) {
	j.t.Helper()
	if err := os.WriteFile(filepath.Join(j.workspace, name), []byte(content), 0o644); err != nil {
		j.t.Fatal(err)
	}
}

func (j *job) shell(script string) {
	j.t.Helper()
	if output, status := shell(j.t, j.workspace, j.variables, "-e", "-c", script); status != 0 {
		j.t.Fatalf("status %d: %s", status, output)
	}
}

// From a change of a line to the remark at that line.
func TestGateOfAChange(t *testing.T) {
	server := forgetest.GitHub(t)
	server.Anonymous = true
	j := newJob(t, server, "pull_request")
	j.repository()
	j.inputs["mallow"] = harness.CLI(t)
	j.run()
	if j.status != 0 || len(server.Own()) != 0 || len(j.annotations) != 0 {
		t.Fatalf("status %d, comments %q, annotations %q\n%s", j.status, server.Own(), j.annotations, j.log)
	}
	contains(t, "the summary", j.summary, "kept")

	j.write("words.c", strings.Replace(program, "  free(mine);\n", "  free(mine);\n  free(copy(word));\n", 1))
	j.shell("git commit -q -a -m 'copy it once more'")
	j.variables["GITHUB_RUN_ID"] = "101"
	j.run()
	if j.status != 2 {
		t.Errorf("status %d\n%s", j.status, j.log)
	}
	// The site is in copy; who calls it more often is in measure.
	contains(t, "the summary", j.summary, "`words`", "+100", "`copy words.c:6`", "measure words.c:", "+   free(copy(word));")
	if len(j.annotations) == 0 {
		t.Fatalf("no annotation\n%s", j.log)
	}
	contains(t, "the annotation", j.annotations[0], "::error file=words.c,line=6,", "copy words.c:6: +100 (more), 100 -> 200", "%0A  <- measure words.c:")
	contains(t, "JUnit's file", read(t, j.outputs["junit"]), `<failure `, "+ words.c:14: free(copy(word));")
	if own := server.Own(); len(own) != 1 || !strings.Contains(own[0], "+   free(copy(word));") {
		t.Errorf("comments %q", own)
	}
}

// Without the action, too, the page of the step is written; and what is wrong with the event is no reason to fail.
func TestGateInAStep(t *testing.T) {
	j := newJob(t, forgetest.GitHub(t), "pull_request")
	j.repository()
	j.variables["GITHUB_STEP_SUMMARY"] = filepath.Join(j.temp, "summary")
	j.variables["GITHUB_EVENT_PATH"] = "no/such/event"
	j.shell("echo 'What was there.' >$GITHUB_STEP_SUMMARY; " + harness.CLI(t) + " gate --no-history --no-base")
	contains(t, "the summary", read(t, j.temp, "summary"), "What was there.\n## mallow gate: 5 kept\n")
	output, status := shell(t, j.workspace, j.variables, "-c", harness.CLI(t)+" gate --no-history --no-base --comment github")
	if status != 1 {
		t.Errorf("status %d", status)
	}
	contains(t, "the error", output, "mallow: the event of this run: open no/such/event: no such file or directory")
}

// The history goes from run to run of the branch, and its points once.
func TestHistoryOfARealGate(t *testing.T) {
	server := forgetest.GitHub(t)
	j := newJob(t, server, "push")
	j.repository()
	j.inputs["mallow"] = harness.CLI(t)
	for _, run := range []string{"100", "101"} {
		j.variables["GITHUB_RUN_ID"] = run
		j.run()
		if j.status != 0 {
			t.Fatalf("status %d\n%s", j.status, j.log)
		}
		j.shell("rm -rf .git/mallow") // another clone
	}
	if len(j.saved) != 2 {
		t.Fatalf("saved %q\n%s", j.saved, j.log)
	}
	first, second := read(t, j.cache, j.saved[0], "points"), read(t, j.cache, j.saved[1], "points")
	if !strings.Contains(first, "words") || strings.Count(second, "\n") < strings.Count(first, "\n") {
		t.Errorf("the history was %d bytes, and is %d\n%s", len(first), len(second), j.log)
	}
}
