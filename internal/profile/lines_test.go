package profile_test

import (
	"slices"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// A program of which only some files were built with -g has lines, and not for all.
func TestLinesOfAPart(t *testing.T) {
	const warning = "demo: built in part without -g; that part is shown by function, without lines"
	for withoutLines, want := range map[int]bool{0: false, 1: false, 66: true} {
		im := recordingtest.NewImage(1, "/opt/demo/bin/demo")
		demo := im.Module(recordingtest.Module{Path: "/opt/demo/bin/demo", Kind: recording.ModuleExecutable, Start: 1 << 32, End: 1<<32 + 1<<20, Bias: 1 << 32})
		process := recordingtest.NewProcess(im)
		thread := process.Thread()
		at := func(offset uint64) recordingtest.Stack {
			return im.Stack(recording.Malloc, recordingtest.Call(demo, 1<<32+offset+1))
		}
		for range 99 {
			thread.Alloc(at(0x117f), 10) // main demo.c:10
		}
		for range withoutLines {
			thread.Alloc(at(0x1024), 10) // _start
		}
		p := profileOf(t, process)
		if warnings := p.Warnings(); slices.Contains(warnings, warning) != want || !want && len(warnings) > 0 {
			t.Errorf("%d without lines: %q", withoutLines, warnings)
		}
	}
}
