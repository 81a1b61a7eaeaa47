package profile_test

import (
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

func TestOnBehalf(t *testing.T) {
	im := recordingtest.NewImage(1, "/bin/program")
	process := recordingtest.NewProcess(im)
	thread := process.Thread()
	libc := func(function string) recordingtest.Frame { return im.Symbolic(function, "", "/lib/libc.so.6", 0) }
	own := func(function string, line uint32) recordingtest.Frame {
		return im.Symbolic(function, "program.c", "/bin/program", line)
	}
	start, main := libc("__libc_start_main"), own("main", 1)
	allocate := func(n int, frames ...recordingtest.Frame) {
		stack := im.Stack(recording.Malloc, frames...)
		for range n {
			thread.Alloc(stack, 10)
		}
	}
	// Two ways within libc, through a wrapper outside of it.
	allocate(3, start, main, own("read", 5), own("xmalloc", 9), libc("fopen"), libc("file_init"))
	allocate(2, start, main, own("read", 5), own("xmalloc", 9), libc("fopen"))
	// Called back: the nearer function of libc is meant.
	allocate(4, start, main, libc("qsort"), own("compare", 7), libc("regcomp"))
	// By nobody, and not by libc.
	allocate(1, start, libc("init_locale"))
	allocate(9, start, main)
	p := profileOf(t, process)
	want := []struct {
		function, caller string
		line             int
		calls            uint64
	}{{"fopen", "read", 5, 5}, {"regcomp", "compare", 7, 4}, {"__libc_start_main", "", 0, 1}}
	got := p.OnBehalf()
	if len(got) != len(want) {
		t.Fatalf("%d functions: %+v", len(got), got)
	}
	for i, w := range want {
		if b := got[i]; b.Function != w.function || b.Frame.Function != w.caller || b.Line != w.line || b.Counters.Calls != w.calls {
			t.Errorf("%s by %s:%d, %d times; want %+v", b.Function, b.Frame.Function, b.Line, b.Counters.Calls, w)
		}
	}
}
