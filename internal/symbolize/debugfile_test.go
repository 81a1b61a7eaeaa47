package symbolize

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The tests below change how the debug information of a program is stored, not
// what it says: the answers must stay equal to those for the plain file, which
// TestAgreesWithOtherTools compares with other tools.

type plainProgram struct {
	binary string
	addrs  []uint64
	frames [][]Frame
}

func plain(t *testing.T, compiler, source string, flags ...string) plainProgram {
	t.Helper()
	p := plainProgram{binary: compile(t, compiler, source, flags...)}
	p.addrs = codeAddresses(t, p.binary, 4000)
	p.frames, _ = ask(t, p.binary, p.addrs)
	if depth := len(p.frames[len(p.frames)/2]); depth == 0 {
		t.Fatal("no frames")
	}
	return p
}

// same demands equal answers for another file of the same code.
func (p plainProgram) same(t *testing.T, binary string, wantWarnings ...string) {
	t.Helper()
	frames, warnings := ask(t, binary, p.addrs)
	p.equal(t, frames)
	if strings.Join(warnings, "\n") != strings.Join(wantWarnings, "\n") {
		t.Errorf("warnings %q, want %q", warnings, wantWarnings)
	}
}

// equal demands these frames.
func (p plainProgram) equal(t *testing.T, frames [][]Frame) {
	t.Helper()
	different := 0
	for i := range p.addrs {
		if reflect.DeepEqual(frames[i], p.frames[i]) {
			continue
		}
		if different++; different <= 3 {
			t.Errorf("%#x:\n  here  %v\n  plain %v", p.addrs[i], frames[i], p.frames[i])
		}
	}
	if different > 0 {
		t.Errorf("%d of %d addresses differ", different, len(p.addrs))
	}
}

func strip(t *testing.T, binary string, flags ...string) {
	t.Helper()
	runIn(t, filepath.Dir(binary), "strip", append(flags, binary)...)
}

func TestDebugFileByBuildID(t *testing.T) {
	p := plain(t, "g++", "inline.cc", "-O2", "-g")
	binary := duplicate(t, p.binary)
	id := hex.EncodeToString(buildID(t, binary))
	file := filepath.Join(filepath.Dir(binary), "debug", ".build-id", id[:2], id[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	runIn(t, filepath.Dir(binary), "objcopy", "--only-keep-debug", binary, file)
	strip(t, binary)
	p.same(t, binary)

	t.Run("the program itself is gone", func(t *testing.T) {
		s := New(Options{DebugDirs: []string{filepath.Join(filepath.Dir(binary), "debug")}})
		defer s.Close()
		m := Module{Path: binary + ".old (deleted)", BuildID: buildID(t, p.binary)}
		frames := s.Frames(m, p.addrs)
		named := 0
		for i := range frames {
			if reflect.DeepEqual(frames[i], p.frames[i]) {
				named++
			}
		}
		// The unwind entries went with the program, and with them the names of
		// what has no symbol.
		if named < len(frames)*9/10 {
			t.Errorf("%d of %d addresses named", named, len(frames))
		}
		if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "no longer at") {
			t.Errorf("warnings %q", w)
		}
	})

	t.Run("another build's file lies there", func(t *testing.T) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		copyFile(t, compile(t, "gcc", "nested.c", "-g"), file)
		frames, warnings := ask(t, binary, p.addrs[:1])
		if frames[0][0].File != "" || len(warnings) != 1 {
			t.Errorf("frames %v, warnings %q", frames[0], warnings)
		}
	})
}

func TestDebugFileByLink(t *testing.T) {
	p := plain(t, "g++", "inline.cc", "-O2", "-g", "-Wl,--build-id=none")
	for _, place := range []string{"", ".debug", "debug"} {
		t.Run("in "+place, func(t *testing.T) {
			binary := duplicate(t, p.binary)
			dir := filepath.Dir(binary)
			folder := filepath.Join(dir, place)
			if place == "debug" {
				folder = filepath.Join(dir, place, dir)
			}
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(folder, "program.debug")
			runIn(t, folder, "objcopy", "--only-keep-debug", binary, file)
			strip(t, binary)
			runIn(t, folder, "objcopy", "--add-gnu-debuglink="+file, binary)
			p.same(t, binary)

			// One changed byte, and it is not the program's file any more.
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)/2] ^= 1
			if err := os.WriteFile(file, content, 0o644); err != nil {
				t.Fatal(err)
			}
			frames, warnings := ask(t, binary, p.addrs[:1])
			want := `program: its debug file is not installed; shown by function, without lines`
			if frames[0][0].File != "" || len(warnings) != 1 || warnings[0] != want {
				t.Errorf("frames %v, warnings %q", frames[0], warnings)
			}
		})
	}
}

func TestDebugLinkLeadsNowhereElse(t *testing.T) {
	for link, want := range map[string]string{
		"../../../etc/passwd\x00": "passwd",
		"/dev/zero\x00\x00\x00":   "zero",
		"..\x00":                  "",
		"/\x00":                   "",
		"":                        "",
	} {
		binary := duplicate(t, compile(t, "gcc", "nested.c", "-s"))
		section := filepath.Join(t.TempDir(), "link")
		if err := os.WriteFile(section, []byte(link+"\x00\x00\x00\x00\x00\x00\x00\x00"), 0o644); err != nil {
			t.Fatal(err)
		}
		runIn(t, filepath.Dir(binary), "objcopy", "--add-section=.gnu_debuglink="+section, binary)
		o, err := openObject(binary)
		if err != nil {
			t.Fatal(err)
		}
		if name, _ := o.debugLink(); name != want {
			t.Errorf("link %q gives %q, want %q", link, name, want)
		}
		o.close()
	}
}

func TestDwz(t *testing.T) {
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		p := plain(t, "g++", "inline.cc", "-O2", version)
		t.Run("one file "+version, func(t *testing.T) {
			binary := duplicate(t, p.binary)
			runIn(t, filepath.Dir(binary), "dwz", binary)
			p.same(t, binary)
		})
		t.Run("shared file "+version, func(t *testing.T) {
			binary := duplicate(t, p.binary)
			dir := filepath.Dir(binary)
			other := filepath.Join(dir, "other")
			copyFile(t, p.binary, other) // all entries are common
			runIn(t, dir, "dwz", "-m", filepath.Join(dir, "shared.debug"), binary, other)
			p.same(t, binary)

			// Without it what only it names is missing; files and lines stay.
			if err := os.Remove(filepath.Join(dir, "shared.debug")); err != nil {
				t.Fatal(err)
			}
			frames, warnings := ask(t, binary, p.addrs)
			for i := range frames {
				if len(frames[i]) != len(p.frames[i]) || frames[i][0].Line != p.frames[i][0].Line {
					t.Fatalf("%#x: %v, with the shared file %v", p.addrs[i], frames[i], p.frames[i])
				}
			}
			if len(warnings) != 1 || !strings.Contains(warnings[0], "shared.debug") {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
}

func TestCompressedSections(t *testing.T) {
	p := plain(t, "g++", "inline.cc", "-O2", "-g")
	for _, how := range []string{"zlib", "zlib-gnu", "zstd"} {
		t.Run(how, func(t *testing.T) {
			binary := duplicate(t, p.binary)
			runIn(t, filepath.Dir(binary), "objcopy", "--compress-debug-sections="+how, binary)
			p.same(t, binary)
		})
	}
}

func TestSplitUnits(t *testing.T) {
	for _, compiler := range []string{"g++", "clang++"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(compiler+version, func(t *testing.T) {
				p := plain(t, compiler, "inline.cc", "-O2", version)
				binary := filepath.Join(t.TempDir(), "program")
				dir := filepath.Dir(binary)
				source, err := filepath.Abs("testdata/inline.cc")
				if err != nil {
					t.Fatal(err)
				}
				runIn(t, dir, compiler, "-O2", version, "-gsplit-dwarf", "-c", "-o", "inline.o", source)
				runIn(t, dir, compiler, "-o", binary, "inline.o")
				p.same(t, binary)

				t.Run("moved", func(t *testing.T) {
					moved := duplicate(t, binary)
					copyFile(t, filepath.Join(dir, "inline.dwo"), filepath.Join(filepath.Dir(moved), "inline.dwo"))
					if err := os.Rename(filepath.Join(dir, "inline.dwo"), filepath.Join(dir, "elsewhere")); err != nil {
						t.Fatal(err)
					}
					p.same(t, moved)
					if err := os.Rename(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "inline.dwo")); err != nil {
						t.Fatal(err)
					}
				})
				t.Run("package", func(t *testing.T) {
					moved := duplicate(t, binary)
					runIn(t, dir, "llvm-dwp", "-e", binary, "-o", moved+".dwp")
					if err := os.Remove(filepath.Join(dir, "inline.dwo")); err != nil {
						t.Fatal(err)
					}
					p.same(t, moved)
				})
			})
		}
	}
}

// A package of several units must give each its own part of every section.
// llvm-dwp of LLVM 14 does not come to an end with two units in DWARF 5.
func TestPackageOfSeveralUnits(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "program")
	var objects []string
	for i, source := range []string{"nested.c", "inline.cc"} {
		path, err := filepath.Abs(filepath.Join("testdata", source))
		if err != nil {
			t.Fatal(err)
		}
		object := fmt.Sprintf("unit%d.o", i)
		flags := []string{"-O2", "-gdwarf-4", "-gsplit-dwarf", "-c", "-o", object, path}
		if source == "nested.c" {
			runIn(t, dir, "gcc", append(flags, "-Dmain=nested_main")...)
		} else {
			runIn(t, dir, "g++", flags...)
		}
		objects = append(objects, object)
	}
	runIn(t, dir, "g++", append([]string{"-o", binary}, objects...)...)
	p := plainProgram{binary: binary, addrs: codeAddresses(t, binary, 4000)}
	var warnings []string
	if p.frames, warnings = ask(t, binary, p.addrs); len(warnings) > 0 {
		t.Fatalf("warnings %q", warnings)
	}
	moved := duplicate(t, binary)
	runIn(t, dir, "llvm-dwp", "-e", binary, "-o", moved+".dwp")
	for i := range objects {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("unit%d.dwo", i))); err != nil {
			t.Fatal(err)
		}
	}
	p.same(t, moved)

	if err := os.Remove(moved + ".dwp"); err != nil {
		t.Fatal(err)
	}
	frames, warnings := ask(t, moved, p.addrs)
	for i := range frames {
		if frames[i][0].Line != p.frames[i][0].Line || frames[i][len(frames[i])-1].Function == "" {
			t.Fatalf("without split units %#x: %v", p.addrs[i], frames[i])
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "the split debug file") {
		t.Errorf("warnings %q", warnings)
	}
}

// The debug package of libc is what a distribution makes: found by build id,
// processed by dwz, most of it C.
func TestDebugPackageOfLibc(t *testing.T) {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	s := New(Options{})
	defer s.Close()
	m := Module{Path: libc}
	if !s.HasLines(m) {
		t.Skip("the debug package of libc is not installed (libc6-dbg)")
	}
	addrs := codeAddresses(t, libc, most)
	ours := s.Frames(m, addrs)
	theirs := llvm.frames(t, libc, addrs)
	// Names are left out: one function of libc has many.
	a := compare(addrs, ours, theirs, func(string, string) bool { return true })
	if a.differences() > 0 || a.between > len(addrs)/20 {
		t.Errorf("%+v", a)
	}
	f, err := elf.Open(libc)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	exported, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]uint64{}
	for _, e := range exported {
		known[e.Name] = e.Value
	}
	for _, name := range []string{"malloc", "fopen", "strdup", "qsort", "getaddrinfo", "realloc", "vasprintf"} {
		got := s.Frames(m, []uint64{known[name]})[0]
		if last := got[len(got)-1]; last.Function != name || last.Line == 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
