package profile_test

import (
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// heaptrack 1.4 leaves new names of Rust as they are, takes old ones for those
// of C++, and has no scope for inlined functions of C++ with a type of the
// program in their name.
func TestFramesThatOtherToolsNamed(t *testing.T) {
	im := recordingtest.NewImage(1, "/bin/program")
	process := recordingtest.NewProcess(im)
	frame := func(function, file string) recordingtest.Frame { return im.Symbolic(function, file, "/bin/program", 9) }
	main := frame("program::main::h93770491064dd3bd", "src/main.rs")
	for calls, frames := range map[int][]recordingtest.Frame{
		5: {main, frame("_RNvMNtCslNYArtu3iFV_5alloc5allocNtB2_6Global10alloc_impl", "/rustc/1234/library/alloc/src/alloc.rs"),
			frame("_RNvNtCslNYArtu3iFV_5alloc5alloc5alloc", "/rustc/1234/library/alloc/src/alloc.rs")},
		4: {main, frame("program::Table$LT$T$GT$::grow::h93770491064dd3bd", "src/main.rs"),
			frame("alloc::raw_vec::RawVec$LT$T$C$A$GT$::reserve::had899b304909620c", "src/raw_vec.rs")},
		3: {main, frame("_ZN5shape5parseEi", "shape.cc"), frame("_M_create<shape::parse(int)::<lambda(int)> >", "/usr/include/c++/12/bits/std_function.h")},
	} {
		stack := im.Stack(recording.Malloc, frames...)
		for range calls {
			process.Thread().Alloc(stack, 10)
		}
	}
	want := map[string]uint64{"program::main": 5, "program::Table<T>::grow": 4, "shape::parse(int)": 3}
	p := profileOf(t, process)
	for _, site := range p.Sites {
		if site.Counters.Calls != want[site.Function] {
			t.Errorf("%s: %d calls", site.Function, site.Counters.Calls)
		}
		delete(want, site.Function)
	}
	if len(want) > 0 {
		t.Errorf("no site %v", want)
	}
}
