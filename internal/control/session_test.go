package control

import (
	"os"
	"path/filepath"
	"testing"
)

// The mallow that began a recording sees its end as soon as the one that ends it, and may complete it first.
func TestFinishAfterAnother(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "r.mallow")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("image-1-1-0", "packed")
	write("meta.json", "{}")
	r, err := finish(Recorded{Folder: folder, Warnings: []string{"one is silent"}})
	if err != nil || r.Folder != "" || len(r.Warnings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if content, err := os.ReadFile(filepath.Join(folder, "meta.json")); err != nil || string(content) != "{}" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestFinishWhileAnother(t *testing.T) {
	folder := t.TempDir()
	hold, err := holdFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if r, err := finish(Recorded{Folder: folder}); err != nil || r.Folder != "" || len(r.Warnings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Nothing was recorded, and the other has taken the folder away.
func TestFinishOfNothing(t *testing.T) {
	if r, err := finish(Recorded{Folder: filepath.Join(t.TempDir(), "gone.mallow")}); err != nil || r.Folder != "" || len(r.Warnings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
