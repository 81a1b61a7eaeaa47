package gocode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestTheCacheIsBounded(t *testing.T) {
	base, now := t.TempDir(), time.Now()
	make := func(name string, size int64, age time.Duration) {
		t.Helper()
		file := filepath.Join(base, name, "tmp", "said.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(base, name), now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	number := func(n int) string { return fmt.Sprintf("%016x", n) }
	make(number(1), 1, keptFor-time.Hour)
	make(number(2), 1, keptFor+time.Hour)
	make("roots", 1, keptFor+time.Hour) // of toolchains
	make("escapes/"+number(1), mostKept, time.Minute)
	make("escapes/"+number(2), 2*mostKept, 2*time.Minute)
	make("escapes/"+number(3), 1, 2*time.Hour)
	make("escapes/"+number(4), 1, keptFor+time.Hour)
	make("escapes/other", mostKept, keptFor+time.Hour)
	left := func(folder string) []string {
		entries, err := os.ReadDir(filepath.Join(base, folder))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	prune(base, now)
	if got := left("."); !slices.Equal(got, []string{number(1), "escapes", "roots"}) {
		t.Error(got)
	}
	if got := left("escapes"); !slices.Equal(got, []string{number(1), number(2), "other"}) {
		t.Error(got)
	}
	prune(base, now.Add(inUse))
	if got := left("escapes"); !slices.Equal(got, []string{number(1), "other"}) {
		t.Errorf("an hour later: %v", got)
	}
}

// What is used is not old, however long ago it was made.
func TestUseKeeps(t *testing.T) {
	base := t.TempDir()
	long := time.Now().Add(-2 * keptFor)
	path, err := keep(base, "malloc.go", []byte("package runtime\n"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(path)
	if err := os.Chtimes(folder, long, long); err != nil {
		t.Fatal(err)
	}
	if again, err := keep(base, "malloc.go", []byte("package runtime\n")); err != nil || again != path {
		t.Fatal(again, err)
	}
	prune(base, time.Now())
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
