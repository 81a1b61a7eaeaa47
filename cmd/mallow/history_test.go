package main

import (
	"bytes"
	"path/filepath"
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
