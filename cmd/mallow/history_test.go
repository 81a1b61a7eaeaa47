package main

import (
	"bytes"
	"path/filepath"
	"testing"
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
