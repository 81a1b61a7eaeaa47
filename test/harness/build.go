// Package harness is what the tests that cross a process share: where the built parts lie, how a program is run
// recorded, counted and alone, and what a report says.
//
// MALLOW_BUILD names the CMake build folder (default build/release below the repository's root). Without a build
// the tests are skipped; where MALLOW_BUILD is set, as in `make test`, a missing part is a failure.
package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// Root returns the repository's root folder.
func Root() string { return root }

// A test starts in its package's folder, and may go elsewhere.
var root = func() string {
	for folder, err := os.Getwd(); err == nil; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil || folder == "/" {
			return folder
		}
	}
	return ""
}()

// Built returns the path of a built file, the first of `names` that exists below the build folder.
func Built(t testing.TB, names ...string) string {
	t.Helper()
	folder := os.Getenv("MALLOW_BUILD")
	required := folder != ""
	if !required {
		folder = filepath.Join("build", "release")
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(Root(), folder)
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if required {
		t.Fatalf("none of %v is in %s: build it first", names, folder)
	}
	t.Skipf("none of %v is in %s: `make test` builds it", names, folder)
	return ""
}

// Program returns the path of a test program, by its path below test/ ("programs/known").
func Program(t testing.TB, name string) string {
	t.Helper()
	return Built(t, filepath.Join("test", name))
}

// Library returns the path of libmallow.so.
func Library(t testing.TB) string {
	t.Helper()
	return Built(t, "libmallow.so", filepath.Join("libmallow", "libmallow.so"))
}

// CLI returns the path of the built command, which is embedded with a library of its own.
func CLI(t testing.TB) string {
	t.Helper()
	return Built(t, "mallow", filepath.Join("..", "mallow"))
}

// Counter returns the path of the counting preload.
func Counter(t testing.TB) string {
	t.Helper()
	return Built(t, filepath.Join("test", "count", "count.so"))
}
