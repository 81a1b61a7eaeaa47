package recording_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// large is an image of which several sections are compressed.
func large(t testing.TB) *recordingtest.Image {
	t.Helper()
	im := recordingtest.NewImage(77, "large")
	module := im.Module(recordingtest.Module{Path: "large", End: 1 << 40})
	p := recordingtest.NewProcess(im)
	thread := p.Thread()
	for i := range uint64(30000) {
		s := im.Stack(recording.Malloc, recordingtest.Call(module, 16+i%7), recordingtest.Call(module, 4096+64*i))
		b := thread.Alloc(s, i%1000)
		if i%3 != 0 {
			thread.Free(b)
		}
	}
	return p.Finish()
}

func packed(t testing.TB, made *recordingtest.Image) []byte {
	t.Helper()
	folder := t.TempDir()
	if err := made.Write(folder, recordingtest.Sparse); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, made.Name)
	if err := recording.Pack(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLargeSectionsAreCompressed(t *testing.T) {
	made := large(t)
	plain, b := made.Bytes(), packed(t, made)
	if len(b) > len(plain)/4 {
		t.Errorf("%d bytes packed, %d plain", len(b), len(plain))
	}
	if major := binary.LittleEndian.Uint32(b[8:]); major != 2 {
		t.Errorf("major version %d", major)
	}
	want, got := read(t, plain), read(t, b)
	if digest(got) != digest(want) || len(got.Warnings) > 0 {
		t.Errorf("reads otherwise than the plain one: %q", got.Warnings)
	}
	small := recordingtest.Goldens()[0].Images[0]
	if b := packed(t, small); binary.LittleEndian.Uint32(b[8:]) != 1 {
		t.Error("a small recording, without compressed sections, has another version")
	}
}

func TestCutAndDamagedCompressedSections(t *testing.T) {
	whole := packed(t, large(t))
	for cut := 4096; cut < len(whole); cut += 49999 {
		im, err := recording.ReadImage("cut", bytes.NewReader(whole[:cut]), int64(cut))
		if err != nil {
			t.Fatal(err)
		}
		walk(t, im)
		if len(im.Warnings) == 0 && cut < len(whole)-4096 {
			t.Errorf("cut at %d of %d: no word of it", cut, len(whole))
		}
	}
	for at := 4096; at < len(whole); at += 14983 {
		b := bytes.Clone(whole)
		b[at] ^= 0x55
		im, err := recording.ReadImage("damaged", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		walk(t, im)
	}
}

// A section that claims to unpack to more than a packed one can is cut there.
func TestCompressedSectionsDoNotExplode(t *testing.T) {
	b := packed(t, large(t))
	for entry := 1024; entry < 1024+8*64; entry += 64 {
		if binary.LittleEndian.Uint64(b[entry+32:]) > 0 {
			binary.LittleEndian.PutUint64(b[entry+24:], 1<<50)
		}
	}
	im, err := recording.ReadImage("large", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	walk(t, im)
	if len(im.Warnings) == 0 {
		t.Error("no word of what is missing")
	}
}

// What is claimed of a section counts, where its frame holds more.
func TestCompressedSectionsMayHoldMore(t *testing.T) {
	whole := packed(t, large(t))
	used := whole[1024+24:] // of the nodes, the first section
	if kind := binary.LittleEndian.Uint32(whole[1024:]); kind != 1 || binary.LittleEndian.Uint64(whole[1024+32:]) == 0 {
		t.Fatalf("the first section is of kind %d, or not compressed", kind)
	}
	nodes := len(read(t, whole).OwnNodes())
	binary.LittleEndian.PutUint64(used, uint64(nodes-5))
	im := read(t, whole)
	if n := len(im.OwnNodes()); n != nodes-5 || len(im.Warnings) > 0 {
		t.Errorf("%d of %d nodes are read where five are not claimed; %q", n, nodes, im.Warnings)
	}
}
