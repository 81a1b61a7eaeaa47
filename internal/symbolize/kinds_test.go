package symbolize

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestVdso(t *testing.T) {
	data := readVdso()
	if data == nil {
		t.Skip("the kernel gives this process no vdso")
	}
	o, err := newObject(&mapping{data: data})
	if err != nil {
		t.Fatal(err)
	}
	exported, err := o.file.DynamicSymbols()
	if err != nil || len(o.buildID) == 0 {
		t.Skipf("a vdso without build id or symbols: %v", err)
	}
	var addr uint64
	for _, s := range exported {
		if s.Name == "__vdso_clock_gettime" {
			addr = s.Value
		}
	}
	for path, want := range map[string]string{"linux-vdso.so.1": "clock_gettime", "[vdso]": "clock_gettime"} {
		for range 2 {
			s := New(Options{Cache: t.TempDir()})
			frames := s.Frames(Module{Path: path, BuildID: o.buildID}, []uint64{addr, addr + 3})
			if got := strings.TrimPrefix(frames[1][0].Function, "__vdso_"); got != want || len(s.Warnings()) > 0 {
				t.Errorf("%s: %v, warnings %q", path, frames, s.Warnings())
			}
			s.Close()
		}
	}
	other := bytes.Clone(o.buildID)
	other[0]++
	for _, id := range [][]byte{nil, other} { // another kernel's
		s := New(Options{})
		if got := s.Frames(Module{Path: "linux-vdso.so.1", BuildID: id}, []uint64{addr}); !strings.HasPrefix(got[0][0].Function, "linux-vdso.so.1+0x") {
			t.Errorf("got %v", got)
		}
		s.Close()
	}
}

// Without symbols and .eh_frame, .debug_frame tells functions apart.
func TestDebugFrame(t *testing.T) {
	for _, width := range []string{"-gdwarf32", "-gdwarf64"} {
		binary := duplicate(t, compile(t, "gcc", "nested.c", "-O2", "-g", width, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"))
		symbols := symbolsOf(t, binary)
		strip(t, binary, "--keep-section=.debug_frame")
		sum := symbols["sum"]
		frames, _ := ask(t, binary, []uint64{sum.Value, sum.Value + sum.Size - 1, sum.Value - 1})
		want := placeholder(Module{Path: binary}, sum.Value)
		if frames[0][0].Function != want || frames[1][0].Function != want || frames[2][0].Function == want {
			t.Errorf("%s: %v, want %s twice", width, frames, want)
		}
	}
}

func TestDamagedDebugFrame(t *testing.T) {
	for _, b := range [][]byte{
		{1}, make([]byte, 8), bytes.Repeat([]byte{0xff}, 64), {0xff, 0xff, 0xff, 0xff, 1}, {4, 0, 0, 0, 1, 2, 3, 4, 0xff, 0xff, 0, 0, 1, 1},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		binary := duplicate(t, compile(t, "gcc", "nested.c", "-s"))
		runIn(t, filepath.Dir(binary), "objcopy", "--add-section=.debug_frame="+path, binary)
		o, err := openObject(binary)
		if err != nil {
			t.Fatal(err)
		}
		if r := o.debugFrames(); len(r) > 0 {
			t.Errorf("%v: %v", b, r)
		}
		o.close()
	}
}

// The names of a Go program are those of its source.
func TestGoNames(t *testing.T) {
	binary := compile(t, "go", "shapes.go", "build", "-buildvcs=false")
	of := symbolsOf(t, binary)["main.main"]
	addrs := make([]uint64, of.Size)
	for i := range addrs {
		addrs[i] = of.Value + uint64(i)
	}
	frames, _ := ask(t, binary, addrs)
	var seen strings.Builder
	for _, all := range frames {
		for _, f := range all {
			seen.WriteString("\n" + f.Function)
		}
	}
	for _, want := range []string{"main.main\n", "main.largest[", "fmt.Println\n"} {
		if !strings.Contains(seen.String(), "\n"+want) {
			t.Errorf("no %s in %s", want, seen.String())
		}
	}
}

// Programs that mallow does not know are named as such.
func TestOtherMachines(t *testing.T) {
	header := func(class elf.Class, data elf.Data) []byte {
		b := make([]byte, 64)
		copy(b, elf.ELFMAG)
		b[elf.EI_CLASS], b[elf.EI_DATA], b[elf.EI_VERSION] = byte(class), byte(data), byte(elf.EV_CURRENT)
		b[20], b[23] = 1, 1 // the version, whatever the order of bytes
		if data == elf.ELFDATA2LSB {
			b[23] = 0
		} else {
			b[20] = 0
		}
		return b
	}
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"32 bits":    {header(elf.ELFCLASS32, elf.ELFDATA2LSB), "(a 32-bit program; mallow knows those of 64 bits)"},
		"big-endian": {header(elf.ELFCLASS64, elf.ELFDATA2MSB), "(a big-endian program; mallow knows little-endian ones)"},
	} {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, test.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, warnings := ask(t, path, []uint64{0x10})
		if len(warnings) != 1 || !strings.Contains(warnings[0], test.want) {
			t.Errorf("%s: %q", name, warnings)
		}
	}
}

// A function that no other file sees has one name, whether it was inlined or
// called: or one line would be two.
func TestNamesOfWhatIsInlinedAndCalled(t *testing.T) {
	for _, compiler := range []string{"g++", "clang++"} {
		binary := compile(t, compiler, "partly.cc", "-O2", "-g")
		frames, _ := ask(t, binary, codeAddresses(t, binary, 1<<20))
		seen := make(map[string]bool)
		inlined := make(map[string]int)
		for _, all := range frames {
			for _, f := range all {
				if strings.Contains(f.Function, "net::") {
					seen[f.Function] = true
				}
				if f.Inlined {
					inlined[f.Function]++
				}
			}
		}
		for _, name := range []string{
			"net::(anonymous namespace)::free_one(int)",
			"double net::(anonymous namespace)::of_type<double>(double)",
			"net::(anonymous namespace)::Local::member(int) const",
		} {
			if !seen[name] || inlined[name] == 0 {
				t.Errorf("%s: %s is not there, or not where it is inlined: %v", compiler, name, inlined)
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s: %v", compiler, seen)
		}
	}
}

// The type of a closure has no name, and g++ calls its constructors <lambda>.
func TestMembersOfClosures(t *testing.T) {
	binary := compile(t, "g++", "closure.cc", "-std=c++17", "-O2", "-g")
	frames, _ := ask(t, binary, codeAddresses(t, binary, 1<<20))
	seen := make(map[string]bool)
	for _, all := range frames {
		for _, f := range all {
			seen[f.Function] = true
			if strings.Contains(f.Function, "(anonymous)") {
				t.Errorf("%s", f.Function)
			}
		}
	}
	for _, name := range []string{"main()::{lambda}::<lambda>", "main()::{lambda}::~<lambda>"} {
		if !seen[name] {
			t.Errorf("no %s", name)
		}
	}
}

// What is local to a function is named by where that is declared, which is not
// where its code is described.
func TestMembersOfLocalClasses(t *testing.T) {
	binary := compile(t, "g++", "local.cc", "-O1", "-g", "-fno-builtin")
	frames, _ := ask(t, binary, codeAddresses(t, binary, 1<<20))
	inlined := make(map[string]bool)
	for _, all := range frames {
		for _, f := range all {
			if f.Inlined {
				inlined[f.Function] = true
			}
		}
	}
	for _, name := range []string{
		"Box<(anonymous namespace)::Member>::Grow<int>()::Guard::~Guard",
		"Box<(anonymous namespace)::Member>::Inner::Use",
	} {
		if !inlined[name] {
			t.Errorf("no %s: %v", name, inlined)
		}
	}
}

// Debian's packages are compiled so: where they were is left out, and files are
// relative to the root of the source.
func TestRelativeCompilationDirectory(t *testing.T) {
	for _, version := range []string{"4", "5"} {
		dir := t.TempDir()
		copyFile(t, filepath.Join("testdata", "nested.c"), filepath.Join(dir, "src", "nested.c"))
		source := filepath.Join(dir, "src")
		runIn(t, source, "gcc", "-O1", "-gdwarf-"+version, "-ffile-prefix-map="+dir+"=.", "-o", "program", "nested.c")
		binary := filepath.Join(source, "program")
		frames, _ := ask(t, binary, []uint64{symbolsOf(t, binary)["main"].Value})
		if f := frames[0][len(frames[0])-1]; f.File != "src/nested.c" {
			t.Errorf("DWARF %s: %+v", version, f)
		}
	}
}

// Functions of equal code that the linker made one (--icf) have the name and
// the lines of the first, not the one's name and the other's lines. (With gold
// and gcc they have: gold drops no entry, and gcc writes the last one first.)
func TestFoldedFunctions(t *testing.T) {
	for linker, program := range map[string]string{"lld": "ld.lld", "gold": "ld.gold", "mold": "mold"} {
		for _, compiler := range []string{"clang", "gcc"} {
			if linker == "gold" && compiler == "gcc" {
				continue
			}
			t.Run(linker+" "+compiler, func(t *testing.T) {
				need(t, program)
				binary := compile(t, compiler, "folded.c", "-O2", "-g", "-ffunction-sections", "-fuse-ld="+linker, "-Wl,--icf=all")
				symbols := symbolsOf(t, binary)
				of := symbols["first"]
				if symbols["second"].Value != of.Value {
					if linker == "mold" {
						t.Skip("they were not folded: mold of Debian 13 does not")
					}
					t.Fatalf("they were not folded: %v", symbols)
				}
				addrs := make([]uint64, of.Size)
				for i := range addrs {
					addrs[i] = of.Value + uint64(i)
				}
				frames, _ := ask(t, binary, addrs)
				for i, at := range frames {
					if f := at[len(at)-1]; f.Function != "first" || f.Line < 4 || f.Line > 8 {
						t.Fatalf("%#x: %v", addrs[i], at)
					}
				}
			})
		}
	}
}

// Zig does not say in which file something was inlined: it is the one of the
// function around it, not the unit's.
func TestInlinedInNoFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"unit.c": "#include \"outer.h\"\nint main(void) { return outer(1); }\n",
		"inner.h": "int got;\nstatic inline __attribute__((always_inline)) int inner(int x) {\n  got = x;\n  return got * got;\n}\n" +
			"static inline __attribute__((always_inline)) int middle(int x) {\n  got = x + 1;\n  return inner(x);\n}\n",
		"outer.h": "#include \"inner.h\"\n__attribute__((noinline)) int outer(int x) {\n  got = x + 2;\n  return middle(x);\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runIn(t, dir, "gcc", "-O0", "-gdwarf-5", "-dA", "-S", "unit.c")
	assembly, err := os.ReadFile(filepath.Join(dir, "unit.s"))
	if err != nil {
		t.Fatal(err)
	}
	silent := regexp.MustCompile(`\.uleb128 0x58(\s.*DW_AT_call_file)`).ReplaceAll(assembly, []byte(".uleb128 0x3f01$1"))
	if bytes.Equal(silent, assembly) {
		t.Fatal("no DW_AT_call_file")
	}
	if err := os.WriteFile(filepath.Join(dir, "unit.s"), silent, 0o600); err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "gcc", "-o", "unit", "unit.s")
	frames, _ := ask(t, filepath.Join(dir, "unit"), codeAddresses(t, filepath.Join(dir, "unit"), most))
	seen := false
	for _, at := range frames {
		if len(at) == 3 {
			seen = true
			if got := fmt.Sprint(filepath.Base(at[1].File), " ", at[1].Line, " ", filepath.Base(at[2].File), " ", at[2].Line); got != "inner.h 8 outer.h 4" {
				t.Fatalf("%s: %v", got, at)
			}
		}
	}
	if !seen {
		t.Error("nothing was inlined")
	}
}
