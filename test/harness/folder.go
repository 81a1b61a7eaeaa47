package harness

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TempDir is t.TempDir with a short path, always of the same length, that every user may enter: paths stand in
// environments, whose size changes what some programs allocate, and some tests drop their user id.
func TempDir(t testing.TB) string {
	t.Helper()
	for {
		folder := fmt.Sprintf("/tmp/m%08x", rand.Uint32())
		err := os.Mkdir(folder, 0o755)
		if err == nil {
			t.Cleanup(func() { os.RemoveAll(folder) })
			return folder
		}
		if !os.IsExist(err) {
			t.Fatal(err)
		}
	}
}

// ForEveryUser copies a program to where every user reaches it: the tree may lie in a folder that is its owner's alone, as
// /root is.
func ForEveryUser(t testing.TB, program string) string {
	t.Helper()
	copied := filepath.Join(TempDir(t), filepath.Base(program))
	CopyProgram(t, program, copied)
	return copied
}

// CopyProgram copies a file to where it can be executed.
func CopyProgram(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
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
