package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// TempDir is t.TempDir with a short path that every user may enter: tests that drop their user id record there.
func TempDir(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "m")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func recordingFolder(t testing.TB) string {
	t.Helper()
	return filepath.Join(TempDir(t), "run.mallow")
}

func mustMakeFolder(t testing.TB, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
}
