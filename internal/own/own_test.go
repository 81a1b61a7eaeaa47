package own_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/internal/own"
)

func TestFilesOfOthersAreNotRead(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "kept")
	if err := own.Replace(path, []byte("content")); err != nil {
		t.Fatal(err)
	}
	if b, err := own.Read(path, 7); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := own.Read(path, 6); err == nil {
		t.Errorf("%q is longer than asked for", b)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if b, err := own.Read(link, 7); err == nil {
		t.Errorf("%q was read through a link", b)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if b, err := own.Read(path, 7); err == nil {
		t.Errorf("%q could have been written by anybody", b)
	}
}

func TestFoldersOfOthersAreNotUsed(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := own.Replace(filepath.Join(folder, "kept"), nil); err == nil {
		t.Error("a file was written where anybody can replace it")
	}
}

func TestCacheFolder(t *testing.T) {
	home, temporary := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("TMPDIR", temporary)
	t.Setenv("HOME", home)
	if got, want := own.CacheFolder("go", "go"), filepath.Join(home, ".cache", "mallow", "go"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	t.Setenv("HOME", filepath.Join(home, "nowhere"))
	got := own.CacheFolder("go", "go")
	if !strings.HasPrefix(got, temporary) {
		t.Fatalf("%s without a home folder", got)
	}
	// Who knows the name may have made it before.
	if err := os.Chmod(got, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := own.CacheFolder("go", "go"); got != "" {
		t.Errorf("%s, which anybody can write to", got)
	}
}
