package profile

import (
	"path/filepath"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// The table must find the places that the maps find.
func TestNumbersOfNodes(t *testing.T) {
	folder := t.TempDir()
	made := recordingtest.NewImage(77, "many")
	first := made.Module(recordingtest.Module{Path: "first", Start: 1 << 20, Bias: 1 << 20, End: 1 << 40})
	second := made.Module(recordingtest.Module{Path: "second", End: 1 << 52})
	process := recordingtest.NewProcess(made)
	thread := process.Thread()
	for i := range uint64(5000) {
		thread.Alloc(made.Stack(recording.Malloc, recordingtest.Call(first, 1<<21+i*3%9000), recordingtest.Call(second, 1<<47+i*i<<20)), 8)
		thread.Alloc(made.Stack(recording.Malloc, recordingtest.Call(second, i%7), recordingtest.Call(first, i%5), recordingtest.Truncated(2)), 8)
	}
	if err := process.Finish().Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("../../format/testdata/handmade/*.mallow")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	for _, path := range append(paths, folder) {
		rec, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		byTable, byMap := newPlaces(nil, rec.Images), newPlaces(nil, rec.Images)
		for _, im := range rec.Images {
			numbers := newNumberer(byTable, im)
			for i, n := range im.OwnNodes() {
				if got, want := numbers.of(&n), byMap.find(n, im); got != want {
					t.Fatalf("%s: node %d is at place %d, not %d", filepath.Base(path), i, got, want)
				}
			}
		}
	}
}
