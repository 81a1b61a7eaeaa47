// Package install builds small outside projects against an installed tree, in each way in which mallow can be taken
// into use, and runs them.
package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mallow/test/harness"
)

// must runs a command that has to succeed and returns what it wrote to standard output.
func must(t testing.TB, command harness.Command) string {
	t.Helper()
	result := harness.Run(t, command)
	if result.Status != 0 {
		t.Fatalf("%v: %s\n%s%s", command.Arguments, result.Ending(), result.Output, result.Errors)
	}
	return result.Output
}

// tool returns the path of an installed program.
func tool(t testing.TB, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("no %s: install the package %s", name, debianPackage)
	}
	return path
}

var shared struct {
	once   sync.Once
	folder string
}

// tree is an installed tree that all tests share, with both components. It was installed elsewhere and then moved, and
// there is a blank in its path: nothing in it may know where it lies.
func tree(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() {
		folder, err := os.MkdirTemp("", "mallow-install-")
		if err != nil {
			t.Fatal(err)
		}
		shared.folder = folder
		harness.Install(t, filepath.Join(folder, "first"), "mallow", "tcmalloc")
		if err := os.Rename(filepath.Join(folder, "first"), moved()); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(moved()); err != nil {
		t.Fatal("the tree could not be installed")
	}
	return moved()
}

func moved() string { return filepath.Join(shared.folder, "a prefix") }

func TestMain(m *testing.M) {
	status := m.Run()
	if shared.folder != "" {
		os.RemoveAll(shared.folder)
	}
	os.Exit(status)
}

// project is a program of an outside project.
func project(name string) string {
	return filepath.Join(harness.Root(), "test", "install", "testdata", "outside", name)
}

// compilerOf names the compiler of a source file.
func compilerOf(t testing.TB, source string) string {
	t.Helper()
	if strings.HasSuffix(source, ".cc") {
		return tool(t, "g++", "g++")
	}
	return tool(t, "gcc", "gcc")
}

// compiled builds a program of one file, with the arguments after the file, and returns its path. Calls are what is
// written: no pair of malloc and free is removed.
func compiled(t testing.TB, source string, arguments ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	all := append([]string{compilerOf(t, source), "-O1", "-fno-builtin", "-o", program, project(source)}, arguments...)
	must(t, harness.Command{Arguments: all})
	return program
}
