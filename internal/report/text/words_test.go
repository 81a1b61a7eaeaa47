package text

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mallow/internal/advise"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 41207: "41,207", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 kB", 9994: "9.99 kB", 9996: "10.0 kB", 99940: "99.9 kB", 99960: "100 kB",
		640_000: "640 kB", 999_400: "999 kB", 999_600: "1.00 MB", 1_920_000: "1.92 MB", 1 << 63: "9.22 EB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		part, whole uint64
		want        string
	}{
		{0, 10, "0 %"}, {10, 10, "100 %"}, {0, 0, "-"}, {1, 3, "33 %"}, {1, 50, "2.0 %"},
		{1, 100_000, "<0.1 %"}, {99_999, 100_000, "99 %"},
	} {
		if got := percent(c.part, c.whole); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.part, c.whole, got, c.want)
		}
	}
}

func TestShortName(t *testing.T) {
	for function, want := range map[string]string{
		"":                           "(unknown function)",
		"main":                       "main",
		"strings.(*Builder).Grow":    "strings.(*Builder).Grow",
		"Table::insert(char const*)": "Table::insert",
		"Node* Pool<Node>::make<>()": "Pool<Node>::make<>",
		"(anonymous namespace)::grow(unsigned long)":                                                                                            "grow",
		"Less::operator()(int, int) const":                                                                                                      "Less::operator()",
		"std::map<int, int> build<int>(std::vector<int> const&)":                                                                                "build<int>",
		"Parser<std::pair<std::string, std::vector<int> >, std::allocator<char> >::parse(int)":                                                  "Parser<…>::parse",
		"<alloc::vec::Vec<T> as mycrate::Encode>::encode":                                                                                       "<alloc::vec::Vec<T> as mycrate::Encode>::encode",
		"<addr2line::line::Lines>::parse::<gimli::read::endian_slice::EndianSlice<gimli::endianity::LittleEndian>>":                             "<addr2line::line::Lines>::parse::<…>",
		"<gimli::read::line::LineProgramHeader<gimli::read::endian_slice::EndianSlice<gimli::endianity::LittleEndian>, usize>>::parse":          "<gimli::read::line::LineProgramHeader<…>>::parse",
		"<read::line::FileEntryFormat as <[_]>::to_vec_in::ConvertVec>::to_vec::<alloc::alloc::Global>":                                         "…leEntryFormat as <[_]>::to_vec_in::ConvertVec>::to_vec::<…>",
		"<core::map::Map<I, F> as Iter<fn(A) -> B>>::fold::<(), core::iter::traits::iterator::Iterator::for_each::call<alloc::string::String>>": "<core::map::Map<…> as Iter<…>>::fold::<…>",
		"call_mut<fn(usize) -> alloc::boxed::Box<usize, alloc::alloc::Global>, (usize)>":                                                        "call_mut<…>",
		"v0::apply::<fn(u8) -> alloc::string::String>":                                                                                          "v0::apply::<fn(u8) -> alloc::string::String>",
		"Handle<std::pair<std::string, std::vector<int> >, std::allocator<char> >::operator->() const":                                          "Handle<…>::operator->",
		"main::{lambda()#1}::operator()() const":                                                                                                "main::{lambda()#1}::operator()",
		"main()::{lambda(int, A<b>)#2}::operator()(int, A<b>) const":                                                                            "main::{lambda(int, A<b>)#2}::operator()",
		"Outer::run(int (*)(int)) const::Inner::go(char)":                                                                                       "Outer::run::Inner::go",
		"Key::operator<(Key const&) const":                                                                                                      "Key::operator<",
		"std::ostream& operator<<(std::ostream&, Key const&)":                                                                                   "operator<<",
		"bool operator< <int>(A<int> const&)":                                                                                                   "operator< <int>",
		"void Less::operator()<int>(int)":                                                                                                       "Less::operator()<int>",
		"Key::operator std::function<void (int)>() const":                                                                                       "Key::operator std::function<void (int)>",
		"parse [clone .cold]": "parse [clone .cold]",
		"broken(int":          "broken",
		"\x1b[2Jmain":         `\x1b[2Jmain`,
	} {
		if got := shortName(function); got != want {
			t.Errorf("%q: %q, want %q", function, got, want)
		}
	}
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		frame profile.Frame
		want  string
	}{
		{profile.Frame{File: "/srv/src/net/poll.c", Line: 88}, "net/poll.c:88"},
		{profile.Frame{File: "../poll.c", Line: 88}, "poll.c:88"},
		{profile.Frame{File: "poll.c"}, "poll.c"},
		{profile.Frame{Function: "grow", Module: "/usr/lib/libz.so.1"}, "in libz.so.1"},
		{profile.Frame{Function: "libz.so.1+0x10", Module: "/usr/lib/libz.so.1"}, ""},
		{profile.Frame{}, ""},
	} {
		if got := place(&c.frame); got != c.want {
			t.Errorf("%+v: %q, want %q", c.frame, got, c.want)
		}
	}
}

func TestWarningsAreGrouped(t *testing.T) {
	got := grouped([]string{
		`a: its debug file "x.debug" is not installed`, "b: built without -g", `c: its debug file "y.debug" is not installed`,
		"alone", `d: the file "z" changed`,
	})
	want := []string{"a, c: the debug file is not installed", "b: built without -g", "alone", `d: the file "z" changed`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestCut(t *testing.T) {
	s := style{on: true}
	line := "12345" + s.bold("6789") + "0"
	for width, want := range map[int]string{
		10: line,
		11: line,
		9:  "12345" + escape + "1m" + "678…" + reset,
		3:  "12…",
	} {
		if got := s.cut(line, width); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}

func TestSaves(t *testing.T) {
	share := 0.03
	for want, s := range map[string]advise.Saves{
		"-1,000 allocations (50 %), about 3.0 % of the CPU time": {Allocations: 1000, Share: 0.5, CPUShare: &share},
		"up to -1 allocation (50 %)":                             {Allocations: 1, Share: 0.5, AtMost: true},
		"-640 kB at the peak":                                    {Memory: 640_000},
		"no fewer allocations, about 3.0 % of the CPU time":      {CPUShare: &share},
		"no fewer allocations":                                   {},
	} {
		if got := (&report{}).saves(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNamelessProgram(t *testing.T) {
	r := &report{profile: &profile.Profile{}}
	r.unrecordedPrograms([]recording.UnrecordedProgram{{Processes: 2, Reason: "gone"}, {Executable: "/bin/su", PIDs: []uint64{7}, Processes: 1, Reason: "other rights"}})
	if len(r.lines) != 2 || !strings.HasSuffix(r.lines[0], " (unknown), 2 processes, not recorded: gone") || !strings.HasSuffix(r.lines[1], " su 7, not recorded: other rights") {
		t.Errorf("%q", r.lines)
	}
}

// The clock of a recording is too coarse to say that something took no time.
func TestLasting(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "<4 ms", 3 * time.Millisecond: "<4 ms", 4 * time.Millisecond: "4 ms", 1500 * time.Millisecond: "1.5 s"} {
		if got := lasting(d); got != want {
			t.Errorf("%v: %q, not %q", d, got, want)
		}
	}
}

// A number is not parted from its unit by the end of a line.
func TestUnbroken(t *testing.T) {
	for text, want := range map[string][]string{
		"about 0.3 % of it":                  {"about", "0.3 %", "of", "it"},
		"allocations (6.9 %), 72.7 kB, 4 B)": {"allocations", "(6.9 %),", "72.7 kB,", "4 B)"},
		"% B of 24 blocks -> 3 Bytes":        {"%", "B", "of", "24", "blocks", "->", "3", "Bytes"},
		"":                                   nil,
	} {
		if got := unbroken(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
