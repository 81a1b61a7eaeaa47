package harness

import (
	"path/filepath"
	"testing"
)

// BuildFolder returns the CMake build that the tests run on.
func BuildFolder(t testing.TB) string {
	t.Helper()
	folder := filepath.Dir(Library(t))
	if filepath.Base(folder) == "libmallow" {
		folder = filepath.Dir(folder)
	}
	return folder
}

// Install puts components ("mallow", "tcmalloc") of the build below prefix, as `make install` does.
func Install(t testing.TB, prefix string, components ...string) {
	t.Helper()
	for _, component := range components {
		result := Run(t, Command{
			Arguments: []string{"cmake", "--install", BuildFolder(t), "--prefix", prefix, "--component", component},
		})
		if result.Status != 0 {
			t.Fatalf("cmake --install: %s\n%s%s", result.Ending(), result.Output, result.Errors)
		}
	}
}
