package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const testName = "mallow-0-0123456789abcdef"

// place is a folder to unpack below, and a check that path there is a library
// that everybody can load and only we can change.
func place(t *testing.T) (string, func(path string, err error)) {
	t.Helper()
	folder := t.TempDir()
	return folder, func(path string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if !isOurs(filepath.Dir(path), testContent) || filepath.Base(path) != libraryName || !strings.HasPrefix(path, folder) {
			t.Errorf("%s is not the library that was unpacked", path)
		}
	}
}

var testContent = bytes.Repeat([]byte("library"), 20000)

func TestUnpackOnce(t *testing.T) {
	folder, check := place(t)
	first, err := unpackBelow(folder, testName, testContent)
	check(first, err)
	before, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := unpackBelow(folder, testName, testContent)
	check(second, err)
	after, err := os.Stat(second)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("unpacked again, %v", err)
	}
}

// A restrictive creation mask must not hide the library from other users.
func TestUnpackWithMask(t *testing.T) {
	folder, check := place(t)
	defer syscall.Umask(syscall.Umask(0o077))
	path, err := unpackBelow(folder, testName, testContent)
	check(path, err)
}

func TestUnpackAtOnce(t *testing.T) {
	folder, check := place(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			path, err := unpackBelow(folder, testName, testContent)
			check(path, err)
			if path != filepath.Join(folder, testName, libraryName) {
				t.Errorf("a second copy at %s", path)
			}
		})
	}
	all.Wait()
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%d entries are left, %v", len(entries), err)
	}
}

// What stands under our name but is not ours is neither used nor changed.
func TestUnpackBesideStrangers(t *testing.T) {
	strangers := map[string]func(folder string) error{
		"a link": func(folder string) error {
			elsewhere := folder + "-elsewhere"
			if err := fillFor(elsewhere, testContent); err != nil {
				return err
			}
			return os.Symlink(elsewhere, folder)
		},
		"a folder that others can write to": func(folder string) error {
			if err := fillFor(folder, []byte("other")); err != nil {
				return err
			}
			return os.Chmod(folder, 0o777)
		},
		"a file": func(folder string) error { return os.WriteFile(folder, nil, 0o755) },
	}
	if os.Getuid() == 0 {
		strangers["another owner's"] = func(folder string) error {
			if err := fillFor(folder, testContent); err != nil {
				return err
			}
			return os.Chown(folder, 65534, 65534)
		}
	}
	for name, make := range strangers {
		t.Run(name, func(t *testing.T) {
			folder, check := place(t)
			if err := make(filepath.Join(folder, testName)); err != nil {
				t.Fatal(err)
			}
			path, err := unpackBelow(folder, testName, testContent)
			check(path, err)
			if filepath.Dir(path) == filepath.Join(folder, testName) {
				t.Error("the stranger's folder is used")
			}
		})
	}
}

func fillFor(folder string, content []byte) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	return fill(folder, content)
}

// Cleaners of old files take some and leave others.
func TestUnpackAfterCleaner(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 10) },
		"changed": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("another"), 20000), 0o755) },
		"changed at the end": func(path string) error {
			return os.WriteFile(path, append(slices.Clone(testContent[:len(testContent)-1]), '.'), 0o755)
		},
		"grown": func(path string) error { return os.WriteFile(path, append(slices.Clone(testContent), '.'), 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			folder, check := place(t)
			path, err := unpackBelow(folder, testName, testContent)
			check(path, err)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			again, err := unpackBelow(folder, testName, testContent)
			check(again, err)
			if again != path {
				t.Errorf("unpacked to %s, not %s", again, path)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	if empty := emptyLibrary(); !bytes.Equal(identity(empty), empty) {
		t.Error("a library without a build ID is not all of its identity")
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	one, other := identity(program), identity(append(program, 0))
	if len(one) > 100 {
		t.Errorf("the identity of a program has %d bytes", len(one))
	}
	if bytes.Equal(one, other) {
		t.Error("a program and a longer one have one identity")
	}
}

func TestPreloadablePath(t *testing.T) {
	for _, name := range []string{"two words", "a:b", "$LIB", "new\nline"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, testContent, 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := preloadable(path, "the test names")
		if err != nil || strings.ContainsAny(got, " :$\n") || !filepath.IsAbs(got) {
			t.Errorf("%q becomes %q, %v", path, got, err)
		}
		os.RemoveAll(filepath.Dir(got))
	}
	if _, err := preloadable("nosuchfile", "the test names"); err == nil || !strings.Contains(err.Error(), "the test names nosuchfile") {
		t.Error(err)
	}
}

func TestNamedLibrary(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, testContent, 0o755); err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, executable} {
		t.Setenv("MALLOW_LIB", path)
		got, err := Library()
		if want := "MALLOW_LIB names " + path + ", which is no libmallow.so"; err == nil || err.Error() != want || got != "" {
			t.Errorf("%q, %v, not %q", got, err, want)
		}
	}
}

// Where no place takes it, one sentence says why, of each.
func TestUnpackNowhere(t *testing.T) {
	before := libraryPlaces
	defer func() { libraryPlaces = before }()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(filepath.Dir(file), "none")
	libraryPlaces = []string{none, file, "/proc"}
	path, err := unpack([]byte("library"))
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), none+": no such file or directory; "+file+": not a directory; /proc: ") ||
		strings.Contains(err.Error(), libraryName+".") {
		t.Errorf("%s, %v", path, err)
	}
}
