package symbolize

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// readHostile symbolizes a file given as bytes, without the guard that would
// turn a panic into a warning: there must be none.
func readHostile(t testing.TB, data []byte, addrs []uint64) {
	t.Helper()
	o, err := newObject(&mapping{data: data})
	if err != nil {
		return
	}
	img := &image{file: o, frames: map[uint64][]Frame{}, names: readableNames{}, module: Module{Path: "/x"}}
	start := time.Now()
	img.answer(img.unanswered(addrs))
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("%d bytes took %v", len(data), took)
	}
	for _, addr := range addrs {
		if len(img.frames[addr]) == 0 {
			t.Errorf("no frame for %#x", addr)
		}
		for _, f := range img.frames[addr] {
			if len(f.Function) > 3*maxMangled {
				t.Errorf("a name of %d bytes", len(f.Function))
			}
		}
	}
	if name, _ := o.debugLink(); strings.Contains(name, "/") {
		t.Errorf("debug link %q leads to another folder", name)
	}
	o.alternateLink()
}

// hostileSeeds are small programs in all the ways that debug information is stored.
func hostileSeeds(t testing.TB) [][]byte {
	t.Helper()
	var seeds [][]byte
	for _, flags := range [][]string{
		{"-O2", "-gdwarf-4"}, {"-O2", "-gdwarf-5"}, {"-O1", "-g", "-gz=zlib"}, {"-O2", "-s"}, {"-O2", "-Wl,--no-eh-frame-hdr"},
		{"-O2", "-gdwarf-4", "-gz=zlib-gnu"}, {"-O2", "-g", "-gdwarf64"},
	} {
		data, err := os.ReadFile(compile(t, "gcc", "nested.c", flags...))
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, data)
	}
	return seeds
}

func someCode(data []byte) []uint64 {
	addrs := []uint64{0, 1, ^uint64(0), 1 << 63}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return addrs
	}
	if text := f.Section(".text"); text != nil {
		for i := uint64(0); i < 64; i++ {
			addrs = append(addrs, text.Addr+i*text.Size/64)
		}
	}
	return addrs
}

func FuzzELF(f *testing.F) {
	for _, seed := range hostileSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { readHostile(t, data, someCode(data)) })
}

// TestMutatedFiles flips, overwrites and cuts bytes of the parts that are parsed.
func TestMutatedFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	interesting := []byte{0, 1, 0x7f, 0x80, 0xff}
	for _, seed := range hostileSeeds(t) {
		addrs := someCode(seed)
		f, err := elf.NewFile(bytes.NewReader(seed))
		if err != nil {
			t.Fatal(err)
		}
		var parsed []*elf.Section
		for _, s := range f.Sections {
			if s.Type != elf.SHT_NOBITS && s.FileSize > 0 && s.Name != ".text" {
				parsed = append(parsed, s)
			}
		}
		for range 300 {
			data := bytes.Clone(seed)
			for range 1 + random.IntN(8) {
				s := parsed[random.IntN(len(parsed))]
				at := s.Offset + random.Uint64N(s.FileSize)
				if random.IntN(2) == 0 {
					data[at] ^= 1 << random.IntN(8)
				} else {
					data[at] = interesting[random.IntN(len(interesting))]
				}
			}
			if random.IntN(10) == 0 {
				data = data[:random.IntN(len(data))]
			}
			readHostile(t, data, addrs)
		}
	}
}

func TestCutFiles(t *testing.T) {
	seed := hostileSeeds(t)[1]
	addrs := someCode(seed)
	for n := 0; n < len(seed); n += 61 {
		readHostile(t, seed[:n], addrs)
	}
}

// A file that is cut after it was mapped is a memory fault at the next look.
func TestFileShrinksWhileRead(t *testing.T) {
	binary := duplicate(t, compile(t, "gcc", "nested.c", "-O2", "-g"))
	s := New(Options{DebugDirs: []string{}})
	defer s.Close()
	m := Module{Path: binary}
	s.open(s.image(m))
	if err := os.Truncate(binary, 0); err != nil {
		t.Fatal(err)
	}
	frames := s.Frames(m, []uint64{0x1100})
	if got := frames[0][0].Function; got != "program+0x1100" {
		t.Errorf("got %q", got)
	}
	if w := s.Warnings(); len(w) == 0 || !strings.Contains(w[0], "damaged; 1 of 1 addresses have no name") {
		t.Errorf("warnings %q", w)
	}
	s.HasLines(m)
}

// zeros packs n zero bytes, or says that it would.
func zlibZeros(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestInflateIsBounded(t *testing.T) {
	packed := zlibZeros(t, 1<<20)
	for _, claimed := range []uint64{0, 1, 1<<20 - 1, 1<<20 + 1, maxInflated, 1 << 62} {
		if b := inflateZlib(packed, claimed, maxInflated); claimed > 1<<20 && b != nil {
			t.Errorf("zlib, %d bytes claimed: %d given", claimed, len(b))
		}
	}
	if b := inflateZlib(packed, 1<<20, 1<<19); b != nil {
		t.Errorf("more than the limit was given")
	}
	if b := inflateZlib(packed, 1<<20, maxInflated); len(b) != 1<<20 {
		t.Errorf("%d bytes", len(b))
	}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed = w.EncodeAll(make([]byte, 1<<20), nil)
	for _, claimed := range []uint64{1<<20 + 1, 1 << 62} {
		if b := inflateZstd(packed, claimed, maxInflated); b != nil {
			t.Errorf("zstd, %d bytes claimed: %d given", claimed, len(b))
		}
	}
	if b := inflateZstd(packed, 1<<20, maxInflated); len(b) != 1<<20 {
		t.Errorf("%d bytes", len(b))
	}
	for _, header := range [][]byte{nil, make([]byte, 23), make([]byte, 24), binary.LittleEndian.AppendUint32(nil, 9)} {
		if b := inflateELF(header, maxInflated); len(b) != 0 {
			t.Errorf("%v: %d bytes", header, len(b))
		}
	}
}

func TestHostileNames(t *testing.T) {
	for name, text := range map[string]string{
		"deep templates":   "_Z1f" + strings.Repeat("I1A", 4000),
		"deep pointers":    "_Z1f" + strings.Repeat("P", 8000) + "i",
		"deep functions":   "_Z1f" + strings.Repeat("PFv", 2500),
		"doubling":         "_Z1fI1AE" + doubling(60) + "v",
		"substitutions":    "_Z1fSt4pairI" + strings.Repeat("S_S0_", 1500) + "E",
		"long identifier":  "_Z9999999999a",
		"rust v0 backrefs": "_RINvC1a1b" + strings.Repeat("B_", 3000) + "E",
		"rust v0 tuples":   "_RINvC1a1b" + strings.Repeat("T", 5000) + "E",
		"very long":        "_Z" + strings.Repeat("1a", 1<<20),
		"very long, plain": strings.Repeat("a.", 1<<20),
		"not UTF-8":        "_Z2\xff\xfev",
		"empty":            "",
		"only a suffix":    ".cold",
		"underscore":       "_",
		"nested lambdas":   "_Z" + strings.Repeat("ZN1aUlvE_clEv", 500),
		"unresolved decl":  "_Z1fIXsr" + strings.Repeat("N1a", 2000) + "E",
	} {
		start := time.Now()
		got := readable(text)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if len(got) > 3*maxMangled {
			t.Errorf("%s gives %d bytes", name, len(got))
		}
	}
}

// doubling builds parameters each of which names the one before it twice, so
// that the full text has 2^n parts.
func doubling(n int) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	var b strings.Builder
	previous := "S_"
	for i := range n {
		b.WriteString("St4pairI" + previous + previous + "E")
		previous = "S" + string(digits[min(i+1, 35)]) + "_"
	}
	return b.String()
}

func FuzzReadable(f *testing.F) {
	for _, seed := range []string{
		"_ZN4shop12_GLOBAL__N_17CheckedEl.cold", "_ZNSt6vectorIiSaIiEE9push_backERKi", "_RNvC6shapes4main",
		"_ZN5alloc7raw_vec11finish_grow17h0123456789abcdefE", "_ZZ4mainENKUlvE_clEv", "malloc", "_Z1fI1AE" + doubling(6) + "v",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := readable(name); len(got) > 3*maxMangled {
			t.Errorf("%d bytes", len(got))
		}
	})
}

func TestReadable(t *testing.T) {
	for name, want := range map[string]string{
		"malloc":                                "malloc",
		"complain.cold":                         "complain",
		"sum.isra.0":                            "sum",
		"f.constprop.0.cold":                    "f",
		"runtime.mallocgc":                      "runtime.mallocgc",
		"main.(*T).Method":                      "main.(*T).Method",
		"_start":                                "_start",
		"__libc_start_main":                     "__libc_start_main",
		"_ZN4shop12_GLOBAL__N_17CheckedEl.cold": "shop::(anonymous namespace)::Checked(long)",
		"_ZNSt6vectorIiSaIiEE9push_backERKi":    "std::vector<int, std::allocator<int> >::push_back(int const&)",
		"_ZZ4mainENKUlvE_clEv":                  "main::{lambda()#1}::operator()() const",
		"_Znwm":                                 "operator new(unsigned long)",
		"_ZN5alloc7raw_vec11finish_grow17h0123456789abcdefE":                              "alloc::raw_vec::finish_grow",
		"_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h59bd3b614758e5a2E":         "std::sys::backtrace::__rust_begin_short_backtrace",
		"_ZN4_own5_keep1_17h59bd3b614758e5a2E.llvm.12":                                    "_own::_keep::_",
		"_ZN49_$LT$own.._Cart$u20$as$u20$core..fmt..Display$GT$4_fmt17h59bd3b614758e5a2E": "<own::_Cart as core::fmt::Display>::_fmt",
		"_RNvC6shapes4main": "shapes::main",
		"_Znot a name":      "_Znot a name",
	} {
		if got := readable(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestLongNamesAreCutVisibly(t *testing.T) {
	for name, linkage := range map[string]string{
		"a linkage name":   "_Z" + strings.Repeat("1a", maxMangled),
		"a demangled name": "_Z1f" + strings.Repeat("St6vectorIiSaIiEE", 400),
		"not of one byte":  "_Z" + strings.Repeat("é", maxMangled),
	} {
		got := readable(linkage)
		if len(got) < maxMangled-2 || !strings.HasSuffix(got, "…") || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes that end in %q", name, len(got), got[max(0, len(got)-10):])
		}
	}
	if got := readable("_Z" + strconv.Itoa(1000) + strings.Repeat("a", 1000) + "v"); strings.HasSuffix(got, "…") {
		t.Errorf("a name of 1,000 bytes is cut")
	}
}

// What other tools call functions: those of languages that they do not know.
func TestReadableNamesOfOtherTools(t *testing.T) {
	for name, want := range map[string]string{
		"_RNvC6shapes4main":                                               "shapes::main",
		"_ZNSt6vectorIiSaIiEE9push_backERKi":                              "std::vector<int, std::allocator<int> >::push_back(int const&)",
		"sj::main::h93770491064dd3bd":                                     "sj::main",
		"alloc::raw_vec::RawVec$LT$T$C$A$GT$::reserve::had899b304909620c": "alloc::raw_vec::RawVec<T,A>::reserve",
		"_$LT$T$u20$as$u20$alloc..slice..ConvertVec$GT$::to_vec::h2baf30b3682b4d9a [clone .llvm.12345]": "<T as alloc::slice::ConvertVec>::to_vec",
		"std::vector<int>::push_back(int&&)": "std::vector<int>::push_back(int&&)",
		"main.clone.func1":                   "main.clone.func1",
		"github.com/a/b.part.x":              "github.com/a/b.part.x",
		"sj::main::h9377049106":              "sj::main::h9377049106",
		"::h93770491064dd3bd":                "::h93770491064dd3bd",
		"_start":                             "_start",
		"":                                   "",
	} {
		if got := Readable(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSplitPathsAreNotCreated(t *testing.T) {
	dir := t.TempDir()
	source, err := filepath.Abs("testdata/nested.c")
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "gcc", "-O2", "-g", "-gsplit-dwarf", "-c", "-o", "nested.o", source)
	runIn(t, dir, "gcc", "-o", "program", "nested.o")
	program := filepath.Join(dir, "program")
	mainAt := symbolsOf(t, program)["main"].Value
	dwo := filepath.Join(dir, "nested.dwo")

	// What lies at the path may be anything by now.
	for what, make := range map[string]func() error{
		"nothing":      func() error { return nil },
		"a device":     func() error { return os.Symlink("/dev/zero", dwo) },
		"itself":       func() error { return os.Symlink(dwo, dwo) },
		"the program":  func() error { return os.Symlink(program, dwo) },
		"another unit": func() error { return os.WriteFile(dwo, []byte("\x7fELF"), 0o600) },
	} {
		if err := os.Remove(dwo); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := make(); err != nil {
			t.Fatal(err)
		}
		frames, _ := ask(t, program, []uint64{mainAt})
		if got := frames[0]; len(got) != 1 || got[0].Function != "main" || got[0].Line == 0 {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// Names are copied from reports, which leave long template arguments out.
func TestNamesAsReportsShowThem(t *testing.T) {
	for _, name := range []string{
		"std::vector<…>::push_back", "std::vector::push_back", "std::vector<int, std::allocator<int> >::push_back",
		"std::vector<int, std::allocator<int> >::push_back(int const&)", "_ZNSt6vectorIiSaIiEE9push_backERKi",
	} {
		if !newWantedFunction(name).is("_ZNSt6vectorIiSaIiEE9push_backERKi") {
			t.Errorf("%s is none", name)
		}
	}
	for name, symbol := range map[string]string{
		"std::allocator<int>::allocator()":          "_ZNSaIiEC2Ev",
		"std::allocator::~allocator":                "_ZNSaIiED1Ev",
		"net::operator==<int>(int, int)":            "_ZN3neteqIiEEbT_S1_",
		"main::{lambda(int)#1}::operator()":         "_ZZ4mainENKUliE_clEi",
		"Money::operator bool":                      "_ZNK5MoneycvbEv",
		"greet":                                     "_Z5greetB5cxx11i",
		"greet[abi:cxx11]":                          "_Z5greetB5cxx11i",
		"scaled<int>(int)":                          "_Z6scaledIiET_S0_",
		"net::Order::total(int) const":              "_ZNK3net5Order5totalEi",
		"_ZThn16_N3net5Order5totalEi":               "_ZThn16_N3net5Order5totalEi",
		"_Z5wordsPZ5wordsiE15_Z5wordsi.Frame.actor": "_Z5wordsPZ5wordsiE15_Z5wordsi.Frame.actor",
	} {
		if !newWantedFunction(name).is(symbol) {
			t.Errorf("%s is not %s", name, symbol)
		}
	}
	for name, symbol := range map[string]string{
		"net::Order::total": "_ZThn16_N3net5Order5totalEi",
		"words":             "_Z5wordsPZ5wordsiE15_Z5wordsi.Frame.actor",
		"words(int)":        "_Z5wordsi.resume",
	} {
		if newWantedFunction(name).is(symbol) {
			t.Errorf("%s is taken for %s", symbol, name)
		}
	}
	if newWantedFunction("std::vector<…>::push_front").is("_ZNSt6vectorIiSaIiEE9push_backERKi") {
		t.Error("push_front is push_back")
	}
}

// New names of Rust's have the types that a function is of and made for in
// brackets, unlike the source and old names.
func TestNamesOfRust(t *testing.T) {
	for symbol, names := range map[string][]string{
		"_RNvMNtCshmkZqTjk8a7_5known4shopNtB2_4Cart3add":                {"known::shop::Cart::add", "<known::shop::Cart>::add"},
		"_RINvNtCshmkZqTjk8a7_5known4shop7genericmEB4_":                 {"known::shop::generic", "known::shop::generic::<u32>"},
		"_RNvMs0_CskK7mfDs1mzF_1mINtB5_4CarthE3addB5_":                  {"m::Cart::add", "m::Cart<u8>::add", "<m::Cart<u8>>::add"},
		"_ZN1m13Cart$LT$T$GT$3add17h59bd3b614758e5a2E":                  {"m::Cart::add", "m::Cart<T>::add"},
		"_ZN5known4shop5_keep17h59bd3b614758e5a2E":                      {"known::shop::_keep"},
		"_RNvXs_NtCshmkZqTjk8a7_5known4shopNtB4_4CartNtB4_5Price5price": {"<known::shop::Cart as known::shop::Price>::price"},
	} {
		for _, name := range names {
			if !newWantedFunction(name).is(symbol) {
				t.Errorf("%s is not %s", name, readable(symbol))
			}
		}
		if newWantedFunction("known::shop::Cart").is(symbol) || newWantedFunction("add").is(symbol) || newWantedFunction("known::shop::Cart::price").is(symbol) {
			t.Errorf("a part of it is %s", readable(symbol))
		}
	}
}
