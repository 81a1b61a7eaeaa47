package install

import (
	"os"
	"path/filepath"
	"testing"

	"mallow/test/harness"
)

// cargo runs Debian's cargo on a copy of the example, offline: it depends on nothing.
func cargo(t *testing.T, link string, arguments ...string) harness.Command {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "rust")
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(harness.Root(), "examples", "rust"))); err != nil {
		t.Fatal(err)
	}
	const program = "/usr/bin/cargo"
	if _, err := os.Stat(program); err != nil {
		t.Fatal("no " + program + ": install the package cargo")
	}
	lib := filepath.Join(tree(t), "lib")
	return harness.Command{
		Arguments: append([]string{program}, arguments...),
		Directory: folder,
		Settings: []string{
			"MALLOW_LIB_DIR=" + lib, "MALLOW_LINK=" + link, "LD_LIBRARY_PATH=" + lib,
			"CARGO_NET_OFFLINE=true", "CARGO_HOME=" + filepath.Join(folder, "home"),
		},
	}
}

func TestRustStatic(t *testing.T) {
	must(t, cargo(t, "static", "test", "--quiet", "--release"))
}

func TestRustShared(t *testing.T) {
	command := cargo(t, "dylib", "run", "--quiet", "--release", "--example", "words")
	command.Input = "One two, two ONE three"
	if output := must(t, command); output != "4 different words\n" {
		t.Errorf("%q", output)
	}
	expectNeeds(t, filepath.Join(command.Directory, "target", "release", "examples", "words"), "libmallow.so")
}
