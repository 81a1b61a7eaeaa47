package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mallow/internal/history"
)

// A recording is a folder, and what is added of it has a verb of its own.
func TestImportOfARecording(t *testing.T) {
	folder := t.TempDir()
	var stdout, stderr bytes.Buffer
	code := run([]string{"history", "import", "--db", filepath.Join(folder, "x.db"), folder}, &stdout, &stderr)
	want := "mallow: " + folder + ": a folder; recordings are added by mallow history add --benchmark NAME\n"
	if code != 1 || stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("%d %q%q", code, stdout.String(), stderr.String())
	}
}

// However much there is to write, one sentence says that it cannot be.
func TestExportThatCannotBeWritten(t *testing.T) {
	folder := t.TempDir()
	database := filepath.Join(folder, "x.db")
	store, err := history.OpenFile(database, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := store.Add(history.Point{
			Key: history.Key{Benchmark: "parse"}, Time: time.Unix(int64(i+1), 0), Metrics: map[string]history.Value{"bytes": {Value: 1}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	store.Close()
	for place, want := range map[string]string{
		"/dev/full":                        "mallow: write /dev/full: no space left on device\n",
		folder:                             "mallow: " + folder + " cannot be written: is a directory\n",
		filepath.Join(folder, "none", "x"): "mallow: " + filepath.Join(folder, "none", "x") + " cannot be written: no such file or directory\n",
	} {
		var stdout, stderr bytes.Buffer
		code := run([]string{"history", "export", "--db", database, "-o", place}, &stdout, &stderr)
		if code != 1 || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("%s: %d %q%q", place, code, stdout.String(), stderr.String())
		}
	}
}

// Forms of one point for each benchmark have none of a tree with changes: where
// a benchmark has no other, that is said.
func TestExportOfChangedTrees(t *testing.T) {
	t.Chdir(t.TempDir())
	table := "benchmark,commit,dirty,metric,value\n" +
		"clean,0123456789012345678901234567890123456789,false,allocations,3\n" +
		"changed,0123456789012345678901234567890123456789,true,allocations,4\n"
	if err := os.WriteFile("points.csv", []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := mallow("history", "import", "--db", "h.db", "points.csv"); code != 0 {
		t.Fatal(stderr)
	}
	export := []string{"history", "export", "--db", "h.db", "--format", "openmetrics"}
	const left = "mallow: changed: left out, for all its points are of changed trees or of other branches (--commit takes those of a commit)\n"
	if code, stdout, stderr := mallow(export...); code != 0 || !strings.Contains(stdout, `benchmark="clean"`) || strings.Contains(stdout, "changed") || stderr != left {
		t.Errorf("%d, %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := mallow(append(export, "changed")...); code != 1 || stdout != "" || stderr != left+"mallow: no points to write\n" {
		t.Errorf("%d, %s%s", code, stdout, stderr)
	}
	if code, _, stderr := mallow("history", "export", "--db", "h.db"); code != 0 || stderr != "" {
		t.Errorf("%d, %s", code, stderr)
	}
}

// What record --pid leaves is of a part of a run, as long as somebody liked.
func TestPartOfARunIsNoPoint(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "part.mallow")
	if err := os.CopyFS(folder, os.DirFS(handmade+"single-thread.mallow")); err != nil {
		t.Fatal(err)
	}
	const meta = `{"version":1,"started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:07Z","exit_status":0,"signal":0,"joined":true}`
	os.Remove(filepath.Join(folder, "meta.json"))
	if err := os.WriteFile(filepath.Join(folder, "meta.json"), []byte(meta), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := mallow("history", "add", "--benchmark", "x", "--db", filepath.Join(t.TempDir(), "h.db"), folder)
	want := "mallow: " + folder + " is no point: it is of a part of a run, for recording began while the program ran\n"
	if code != 1 || stdout != "" || stderr != want {
		t.Errorf("%d, %s%s", code, stdout, stderr)
	}
}

// What was imported did not run on libmallow, and perhaps not on this machine.
func TestPlatformOfAnImport(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("memdump", []byte("MEM a.c:1 malloc(10) = 0x1\nMEM a.c:2 free(0x1)\n"), 0o600)
	if code, _, stderr := mallow("import", "memdump"); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := mallow("history", "add", "--db", "history.db", "--benchmark", "words", "memdump.mallow"); code != 0 {
		t.Fatal(stderr)
	}
	if code, stdout, stderr := mallow("history", "--db", "history.db"); code != 0 || !strings.HasPrefix(stdout, "words   imported from curl memory log\n") {
		t.Errorf("%d, %s%s", code, stdout, stderr)
	}
}
