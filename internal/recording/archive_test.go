package recording

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// archived packs a copy of a golden recording.
func archived(t *testing.T, name string) (folder *Recording, archive string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name+".mallow")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "format", "testdata", name+".mallow"))); err != nil {
		t.Fatal(err)
	}
	folder, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	archive = dir + "pack"
	if err := folder.WriteArchive(archive, []byte("names")); err != nil {
		t.Fatal(err)
	}
	return folder, archive
}

func TestArchive(t *testing.T) {
	goldens, err := filepath.Glob("../../format/testdata/*.mallow")
	if err != nil || len(goldens) == 0 {
		t.Fatalf("no golden recordings (%v)", err)
	}
	for _, golden := range goldens {
		name := strings.TrimSuffix(filepath.Base(golden), ".mallow")
		t.Run(name, func(t *testing.T) {
			folder, path := archived(t, name)
			archive, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if !archive.Archived() || folder.Archived() {
				t.Error("what is archived is not known")
			}
			if !reflect.DeepEqual(archive.Meta, folder.Meta) || len(archive.Images) != len(folder.Images) {
				t.Errorf("meta %v, %d images", archive.Meta, len(archive.Images))
			}
			for i, im := range archive.Images {
				want := folder.Images[i]
				if im.Name != want.Name || !reflect.DeepEqual(im.Shards, want.Shards) || !reflect.DeepEqual(im.nodes, want.nodes) ||
					!reflect.DeepEqual(im.blocks, want.blocks) || !reflect.DeepEqual(im.Warnings, want.Warnings) {
					t.Errorf("image %s differs", im.Name)
				}
			}
			if symbols, err := archive.Symbols(); err != nil || string(symbols) != "names" {
				t.Errorf("symbols %q, %v", symbols, err)
			}
			if symbols, err := folder.Symbols(); err != nil || symbols != nil {
				t.Errorf("the folder's symbols %q, %v", symbols, err)
			}
			// Again, from the archive: the same bytes.
			if err := archive.WriteArchive(path+"2", []byte("names")); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(content(t, path), content(t, path+"2")) {
				t.Error("packed again it has other bytes")
			}
			left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".pack-*"))
			if len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// An archive that was taken apart is a recording, and has its symbols.
func TestArchiveTakenApart(t *testing.T) {
	_, path := archived(t, "one_thread")
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r) // checks the sum
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if symbols, err := rec.Symbols(); err != nil || string(symbols) != "names" {
		t.Errorf("symbols %q, %v", symbols, err)
	}
}

func TestNoArchive(t *testing.T) {
	dir := t.TempDir()
	image := content(t, onlyImage(t, "one_thread"))
	write := func(name string, parts ...func(*zip.Writer) error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z := zip.NewWriter(f)
		for _, part := range parts {
			if err := part(z); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stored := func(name string) func(*zip.Writer) error {
		return func(z *zip.Writer) error { return store(z, name, bytes.NewReader(image)) }
	}
	deflated := func(z *zip.Writer) error {
		w, err := z.Create("image-1-1-0")
		if err == nil {
			_, err = w.Write(image)
		}
		return err
	}
	sound := write("sound", stored("image-1-1-0"))
	cut := filepath.Join(dir, "cut")
	b := content(t, sound)
	if err := os.WriteFile(cut, b[:len(b)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		write("empty"):                                               "there is no image file in it",
		write("above", stored("../image-1-1-0")):                     "there is no image file in it",
		write("below", stored("image-1/../../x")):                    "there is no image file in it",
		write("deflated", deflated):                                  "stored as they are",
		write("twice", stored("image-1-1-0"), stored("image-1-1-0")): "twice",
		cut:         "no recording",
		text:        "no recording",
		"/dev/zero": "no recording",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
		}
	}
	if rec, err := Open(sound); err != nil {
		t.Error(err)
	} else if _, err := rec.OpenFile("../../etc/passwd"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// onlyImage returns the path of the image of a golden recording of one process.
func onlyImage(t *testing.T, name string) string {
	t.Helper()
	images, err := filepath.Glob("../../format/testdata/" + name + ".mallow/image-*")
	if err != nil || len(images) != 1 {
		t.Fatalf("%d images, %v", len(images), err)
	}
	return images[0]
}

func FuzzArchive(f *testing.F) {
	dir := f.TempDir()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"image-1-1-0", "meta.json", "symbols"} {
		if err := store(z, name, strings.NewReader("{}")); err != nil {
			f.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if rec, err := Open(path); err == nil {
			_, _ = rec.Symbols()
		}
	})
}

// A process that runs, or was killed, leaves its image wide and sparse.
func TestArchiveOfSparseImage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x.mallow")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	image := content(t, onlyImage(t, "one_thread"))
	image[20] &^= FlagPacked
	path := filepath.Join(dir, "image-1-1-0")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log-1-1-0")
	packed := filepath.Join(dir, "image-2-1-0")
	if err := os.WriteFile(packed, content(t, onlyImage(t, "one_thread")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, packed, log} {
		if err := os.Truncate(path, 1<<28); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
	}
	rec, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.WriteArchive(dir+"pack", nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir + "pack"); err != nil || info.Size() > 2*int64(len(image))+1<<20 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}
