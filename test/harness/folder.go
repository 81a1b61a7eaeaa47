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
