package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// programs makes files below a new folder, which is then the working one.
func programs(t *testing.T, modes map[string]os.FileMode) {
	t.Helper()
	folder := t.TempDir()
	t.Chdir(folder)
	for name, mode := range modes {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLookup(t *testing.T) {
	programs(t, map[string]os.FileMode{
		"a/tool": 0o644, "b/tool": 0o755, "c/tool": 0o755, "a/data": 0o644, "here": 0o755, "a/shared": 0o755, "shared/x": 0o755,
	})
	for _, test := range []struct {
		name, path string
		found      string
		code       int
	}{
		{"tool", "a:b:c", "b/tool", 0},      // one that is not executable is passed over
		{"tool", "c:b", "c/tool", 0},        // the first one
		{"tool", "a", "", 126},              // there is only one that is not executable
		{"data", "a:b", "", 126},            //
		{"tool", "nowhere:b/", "b/tool", 0}, // folders that are not there, a slash at the end
		{"tool", "here:b", "b/tool", 0},     // a file in PATH
		{"here", "a:", "./here", 0},         // an empty element is the working directory
		{"here", "", "./here", 0},           // so is an empty PATH
		{"here", "a:b", "", 127},
		{"./here", "", "./here", 0},
		{"b/tool", "a", "b/tool", 0}, // a slash: PATH is not asked
		{"nothing", "a:b", "", 127},
		{"here/x", "", "", 127},
		{"shared", ":a", "a/shared", 0}, // a folder of that name
		{"", "a", "", 127},
		{"a", ".", "", 126},
	} {
		t.Setenv("PATH", test.path)
		c, err := Lookup(test.name, []string{"argument"})
		if test.code == 0 {
			if err != nil || c.Path != test.found || !slices.Equal(c.Argv, []string{test.name, "argument"}) {
				t.Errorf("%q in %q: %q %q, %v", test.name, test.path, c.Path, c.Argv, err)
			}
			continue
		}
		var e *Error
		if !errors.As(err, &e) || e.Code != test.code {
			t.Errorf("%q in %q: %v, not code %d", test.name, test.path, err, test.code)
		}
	}
}

func TestLookupWithoutPath(t *testing.T) {
	t.Setenv("PATH", "")
	os.Unsetenv("PATH")
	if c, err := Lookup("sh", nil); err != nil || c.Path != "/bin/sh" {
		t.Errorf("%q, %v", c.Path, err)
	}
}

func TestLookupText(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"text": "echo hello\n", "empty": ""} {
		if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		c, err := Lookup("./"+name, []string{"x"})
		if err != nil || c.Path != "/bin/sh" || !slices.Equal(c.Argv, []string{"/bin/sh", "./" + name, "x"}) {
			t.Errorf("%s: %q %q, %v", name, c.Path, c.Argv, err)
		}
	}
}
