package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// makeTarget runs a target of the Makefile on what is built: with -o, make takes `all` for done.
func makeTarget(t *testing.T, arguments ...string) harness.Result {
	t.Helper()
	return harness.Run(t, harness.Command{
		Arguments: append([]string{tool(t, "make", "make"), "-s", "-o", "all"}, arguments...),
		Directory: harness.Root(),
	})
}

// files lists what is below a folder, sorted; "" when it does not exist.
func files(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			relative, _ := filepath.Rel(folder, path)
			found = append(found, relative)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

var ofMallow = []string{
	"bin/mallow", "bin/mallow-daily",
	"include/mallow/expect.h", "include/mallow/mallow.h", "include/mallow/tc.h", "include/mallow/tc_extension.h",
	"lib/cmake/mallow/mallow-config-version.cmake", "lib/cmake/mallow/mallow-config.cmake",
	"lib/cmake/mallow/mallow-targets-relwithdebinfo.cmake", "lib/cmake/mallow/mallow-targets.cmake",
	"lib/libmallow.a", "lib/libmallow.so", "lib/libmallow_minimal.a", "lib/libmallow_minimal.so",
	"lib/pkgconfig/mallow-minimal-static.pc", "lib/pkgconfig/mallow-minimal.pc",
	"lib/pkgconfig/mallow-static.pc", "lib/pkgconfig/mallow.pc",
	"lib/systemd/user/mallow-daily@.service", "lib/systemd/user/mallow-daily@.timer",
	"share/doc/mallow/LICENSE", "share/doc/mallow/mallow-daily.cron", "share/man/man1/mallow.1",
}

var ofTcmalloc = []string{
	"include/google/malloc_extension_c.h", "include/google/tcmalloc.h",
	"include/gperftools/malloc_extension_c.h", "include/gperftools/tcmalloc.h",
	"lib/libtcmalloc.a", "lib/libtcmalloc.so", "lib/libtcmalloc.so.4",
	"lib/libtcmalloc_minimal.a", "lib/libtcmalloc_minimal.so", "lib/libtcmalloc_minimal.so.4",
	"lib/pkgconfig/libtcmalloc.pc", "lib/pkgconfig/libtcmalloc_minimal.pc",
}

// The Makefile installs build/release: these tests need the build of `make` itself.
func needBuildOfMake(t *testing.T) {
	t.Helper()
	if harness.BuildFolder(t) != filepath.Join(harness.Root(), "build", "release") {
		t.Skip("MALLOW_BUILD is not the build that make installs")
	}
	harness.CLI(t)
}

func TestMakeInstall(t *testing.T) {
	needBuildOfMake(t)
	stage := filepath.Join(t.TempDir(), "who's")
	settings := []string{"PREFIX=/opt/it's with a blank", "DESTDIR=" + stage}
	prefix := filepath.Join(stage, "opt", "it's with a blank")
	theirs := filepath.Join(prefix, "include", "google", "theirs.h")
	if err := os.MkdirAll(filepath.Dir(theirs), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(theirs, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	expect := func(after string, want ...string) {
		t.Helper()
		want = append(want, "include/google/theirs.h")
		slices.Sort(want)
		if got := files(t, prefix); !slices.Equal(got, want) {
			t.Fatalf("after %s there is\n%s\nnot\n%s", after, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, step := range []struct {
		target string
		want   []string
	}{
		{"install", ofMallow},
		{"install-tcmalloc", slices.Concat(ofMallow, ofTcmalloc)},
		{"uninstall", nil},
	} {
		result := makeTarget(t, append([]string{step.target}, settings...)...)
		if result.Status != 0 {
			t.Fatalf("make %s: %s\n%s", step.target, result.Ending(), result.Errors)
		}
		expect(step.target, step.want...)
	}
}

func TestInstalledCommandRuns(t *testing.T) {
	needBuildOfMake(t)
	mallow := filepath.Join(tree(t), "bin", "mallow")
	if output := must(t, harness.Command{Arguments: []string{mallow, "version"}}); !strings.HasPrefix(output, "mallow ") {
		t.Errorf("%q", output)
	}
}

func TestPrefixMustBeAbsolute(t *testing.T) {
	needBuildOfMake(t)
	stage := t.TempDir()
	for _, prefix := range []string{"here", ""} {
		for _, target := range []string{"install", "uninstall"} {
			result := makeTarget(t, target, "PREFIX="+prefix, "DESTDIR="+stage)
			if result.Status == 0 || !strings.Contains(result.Errors, "PREFIX must be an absolute path, and is '"+prefix+"'") {
				t.Errorf("%s: %s: %s", target, result.Ending(), result.Errors)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(harness.Root(), "here")); err == nil || files(t, stage) != nil {
		t.Error("something was written")
	}
}

// What a relative DESTDIR has put there, it takes away again.
func TestRelativeDestination(t *testing.T) {
	needBuildOfMake(t)
	stage, err := os.MkdirTemp(filepath.Join(harness.Root(), "build"), "stage-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(stage)
	for _, target := range []string{"install", "uninstall"} {
		result := makeTarget(t, target, "PREFIX=/opt", "DESTDIR=build/"+filepath.Base(stage))
		if result.Status != 0 {
			t.Fatalf("make %s: %s\n%s", target, result.Ending(), result.Errors)
		}
		if found := files(t, stage); (found != nil) != (target == "install") {
			t.Errorf("after make %s there is %q", target, found)
		}
	}
}

// What was installed is known from the build: without one a sentence says so.
func TestUninstallNeedsABuild(t *testing.T) {
	result := harness.Run(t, harness.Command{
		Arguments: []string{filepath.Join(harness.Root(), "packaging", "uninstall.sh"), "nosuchbuild", "/opt"},
		Directory: t.TempDir(),
	})
	want := "mallow: nothing is built in nosuchbuild, and the build knows what is to be removed: run make first\n"
	if result.Status != 1 || result.Errors != want {
		t.Errorf("%s: %q, not %q", result.Ending(), result.Errors, want)
	}
}

// In a tree that cannot be written nothing is begun that would end in the middle.
func TestBuildThatCannotBeWritten(t *testing.T) {
	folder := t.TempDir()
	makefile, err := os.ReadFile(filepath.Join(harness.Root(), "Makefile"))
	if err := errors.Join(err, os.WriteFile(filepath.Join(folder, "Makefile"), makefile, 0o644), os.WriteFile(filepath.Join(folder, "build"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"all", "install"} {
		result := harness.Run(t, harness.Command{Arguments: []string{tool(t, "make", "make"), "-s", target}, Directory: folder})
		want := "mallow: " + filepath.Join(folder, "build") + " cannot be written: build as a user who may\n"
		if result.Status != 2 || !strings.HasPrefix(result.Errors, want) || strings.Count(result.Errors, "\n") != 2 { // make adds which target failed
			t.Errorf("make %s: %s: %s%s", target, result.Ending(), result.Output, result.Errors)
		}
	}
}

// Everybody can read what is installed, whatever the umask of who installs it.
func TestOthersCanRead(t *testing.T) {
	needBuildOfMake(t)
	prefix := filepath.Join(t.TempDir(), "prefix")
	must(t, harness.Command{
		Arguments: []string{"/bin/sh", "-c", `umask 077 && exec "$@"`, "sh",
			tool(t, "make", "make"), "-s", "-o", "all", "install", "install-tcmalloc", "PREFIX=" + prefix},
		Directory: harness.Root(),
	})
	err := filepath.WalkDir(prefix, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		about, err := entry.Info()
		if err == nil && about.Mode()&fs.ModeSymlink == 0 && about.Mode().Perm()&0o044 != 0o044 {
			t.Errorf("%s has the mode %v", path, about.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What each target does begins in the same column.
func TestHelpIsATable(t *testing.T) {
	result := harness.Run(t, harness.Command{Arguments: []string{tool(t, "make", "make"), "-s", "help"}, Directory: harness.Root()})
	columns := map[int]bool{}
	for line := range strings.Lines(result.Output) {
		name := len("  make ") + strings.Index(line[len("  make "):], " ")
		columns[name+len(line[name:])-len(strings.TrimLeft(line[name:], " "))] = true
	}
	if result.Status != 0 || len(columns) != 1 {
		t.Errorf("%s, columns %v:\n%s", result.Ending(), columns, result.Output)
	}
}
