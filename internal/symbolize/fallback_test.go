package symbolize

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func symbolsOf(t *testing.T, binary string) map[string]elf.Symbol {
	t.Helper()
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	symbols := map[string]elf.Symbol{}
	for _, s := range list {
		symbols[s.Name] = s
	}
	return symbols
}

func TestSymbolTable(t *testing.T) {
	binary := compile(t, "gcc", "nested.c", "-O2")
	symbols := symbolsOf(t, binary)
	for symbol, function := range map[string]string{
		"main": "main", "sum": "sum", "scaled": "scaled", "scaled.cold": "scaled", "complain.constprop.0": "complain",
	} {
		s := symbols[symbol]
		frames, warnings := ask(t, binary, []uint64{s.Value, s.Value + s.Size - 1, s.Value + s.Size})
		for i, inside := range []bool{true, true, false} {
			if got := frames[i][0]; (got == Frame{Function: function}) != inside {
				t.Errorf("%s, address %d: %v", symbol, i, got)
			}
		}
		if len(warnings) != 1 || warnings[0] != "program: built without -g; shown by function, without lines" {
			t.Errorf("warnings %q", warnings)
		}
	}
}

// A stripped program has only the names that it exports or imports. All other
// code is named by the start of its unwind entry, never by an exported neighbour.
func TestStripped(t *testing.T) {
	for _, header := range []string{"--eh-frame-hdr", "--no-eh-frame-hdr"} {
		t.Run(header, func(t *testing.T) {
			whole := compile(t, "gcc", "nested.c", "-O2", "-rdynamic", "-Wl,"+header)
			symbols := symbolsOf(t, whole)
			binary := duplicate(t, whole)
			strip(t, binary)
			for symbol, want := range map[string]string{
				"main":        "main",
				"scaled":      "scaled",
				"sum":         fmt.Sprintf("program+%#x", symbols["sum"].Value),
				"scaled.cold": fmt.Sprintf("program+%#x", symbols["scaled.cold"].Value),
				"times.0":     fmt.Sprintf("program+%#x", symbols["times.0"].Value),
			} {
				s := symbols[symbol]
				var addrs []uint64
				for addr := s.Value; addr < s.Value+s.Size; addr++ {
					addrs = append(addrs, addr)
				}
				frames, warnings := ask(t, binary, addrs)
				if len(warnings) != 1 || warnings[0] != "program: stripped; only what it exports is shown by function, without lines" {
					t.Errorf("warnings %q", warnings)
				}
				for i := range frames {
					if frames[i][0].Function != want {
						t.Errorf("%s at %#x: %q, want %q", symbol, addrs[i], frames[i][0].Function, want)
					}
				}
			}
		})
	}
}

func TestUnwindEntriesEqualSymbols(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-Wl,--no-eh-frame-hdr"}} {
		binary := compile(t, "g++", "inline.cc", flags...)
		o, err := openObject(binary)
		if err != nil {
			t.Fatal(err)
		}
		defer o.close()
		x := o.unwindIndex()
		checked := 0
		for name, s := range symbolsOf(t, binary) {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || name == "_start" {
				continue
			}
			for _, addr := range []uint64{s.Value, s.Value + s.Size/2, s.Value + s.Size - 1} {
				r, ok := x.find(addr)
				if !ok || r.start != s.Value || r.end != s.Value+s.Size {
					t.Errorf("%s [%#x, %#x): entry %#x", name, s.Value, s.Value+s.Size, r)
				}
				checked++
			}
		}
		if checked < 100 {
			t.Errorf("only %d addresses checked", checked)
		}
	}
}

func TestAssemblyWithoutSize(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a.s")
	code := `
	.text
	.globl main
	.type main, @function
main:	.cfi_startproc
	nop
	nop
	ret
	.cfi_endproc
bare:	nop
	nop
	ret
	.section .note.GNU-stack,"",@progbits
`
	if err := os.WriteFile(source, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "program")
	runIn(t, dir, "gcc", "-o", binary, source)
	symbols := symbolsOf(t, binary)
	start, bare := symbols["main"].Value, symbols["bare"].Value
	frames, _ := ask(t, binary, []uint64{start + 1, bare + 1})
	if got := frames[0][0].Function; got != "main" {
		t.Errorf("a symbol without size at the start of an unwind entry: %q", got)
	}
	if got, want := frames[1][0].Function, fmt.Sprintf("program+%#x", bare+1); got != want {
		t.Errorf("a symbol without size and unwind entry: %q, want %q", got, want)
	}
}

func TestStubs(t *testing.T) {
	stub := regexp.MustCompile(`(?m)^([0-9a-f]+) <(\w+)@plt>:$`)
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-fcf-protection=full"}, {"-O2", "-Wl,-z,now"}, {"-O2", "-Wl,-z,ibtplt"}} {
		whole := compile(t, "gcc", "nested.c", flags...)
		binary := duplicate(t, whole)
		strip(t, binary)
		found := stub.FindAllStringSubmatch(runIn(t, ".", "objdump", "-d", whole), -1)
		if len(found) < 4 {
			t.Fatalf("%v: objdump knows only %d stubs", flags, len(found))
		}
		for _, m := range found {
			var addr uint64
			if _, err := fmt.Sscanf(m[1], "%x", &addr); err != nil {
				t.Fatal(err)
			}
			frames, _ := ask(t, binary, []uint64{addr, addr + 4})
			for _, f := range frames {
				if f[0].Function != m[2]+"@plt" {
					t.Errorf("%v: stub at %#x is %q, want %s@plt", flags, addr, f[0].Function, m[2])
				}
			}
		}
	}
}

func TestMinidebug(t *testing.T) {
	binary := duplicate(t, compile(t, "gcc", "nested.c", "-O2"))
	dir := filepath.Dir(binary)
	symbols := symbolsOf(t, binary)
	inner := filepath.Join(dir, "inner")
	runIn(t, dir, "objcopy", "--only-keep-debug", binary, inner)
	runIn(t, dir, "xz", inner) // as distributions do
	section := inner + ".xz"
	strip(t, binary)
	runIn(t, dir, "objcopy", "--add-section=.gnu_debugdata="+section, binary)
	frames, _ := ask(t, binary, []uint64{symbols["sum"].Value})
	if frames[0][0].Function != "sum" {
		t.Errorf("got %v", frames[0])
	}
}

func TestOtherFileThanRecorded(t *testing.T) {
	binary := duplicate(t, compile(t, "gcc", "nested.c", "-O2", "-g"))
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	mainAt := symbolsOf(t, binary)["main"].Value
	id := buildID(t, binary)
	other := append(bytes.Clone(id[:len(id)-1]), id[len(id)-1]^1)
	size, modTime := uint64(info.Size()), uint64(info.ModTime().UnixNano())
	tests := []struct {
		name string
		m    Module
		used bool
	}{
		{"all equal", Module{BuildID: id, Size: size, ModTimeNs: modTime}, true},
		{"nothing known", Module{}, true},
		{"touched and copied, same build id", Module{BuildID: id, Size: size + 1, ModTimeNs: modTime - 1}, true},
		{"another build id", Module{BuildID: other, Size: size, ModTimeNs: modTime}, false},
		{"another size", Module{Size: size + 1, ModTimeNs: modTime}, false},
		{"another time", Module{Size: size, ModTimeNs: modTime + uint64(time.Second)}, false},
		{"deleted, and the same again", Module{Path: " (deleted)", BuildID: id}, true},
		{"deleted, and another", Module{Path: " (deleted)"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.m.Path = binary + test.m.Path
			s := New(Options{DebugDirs: []string{}})
			defer s.Close()
			got := s.Frames(test.m, []uint64{mainAt})[0][0]
			if used := got.Function == "main" && got.Line > 0; used != test.used {
				t.Errorf("got %v", got)
			}
			if !test.used && got.Function != fmt.Sprintf("program+%#x", mainAt) {
				t.Errorf("got %v", got)
			}
			s.Frames(test.m, []uint64{mainAt, mainAt + 1})
			w := s.Warnings()
			if test.used != (len(w) == 0) || !test.used && !strings.Contains(w[0], "changed since the recording") {
				t.Errorf("warnings %q", w)
			}
		})
	}
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                            "unknown+0x10",
		"[vdso]":                      "[vdso]+0x10",
		"relative/name":               "name+0x10",
		"/nonexistent/x.so":           "x.so+0x10",
		"/tmp/jit-1.so (deleted)":     "jit-1.so+0x10",
		fifo:                          "fifo+0x10",
		"/dev/zero":                   "zero+0x10",
		dir:                           filepath.Base(dir) + "+0x10",
		text:                          "text+0x10",
		empty:                         "empty+0x10",
		"/proc/self/mem":              "mem+0x10",
		dir + "/a\x00b":               "a\x00b+0x10",
		strings.Repeat("/long", 2000): "long+0x10",
	} {
		s := New(Options{DebugDirs: []string{}})
		frames := s.Frames(Module{Path: path}, []uint64{0x10})
		if len(frames) != 1 || len(frames[0]) != 1 || frames[0][0] != (Frame{Function: want}) {
			t.Errorf("%q: %v, want %s", path, frames, want)
		}
		if s.HasLines(Module{Path: path}) {
			t.Errorf("%q has lines", path)
		}
		s.Close()
	}
}

func TestManyAtOnce(t *testing.T) {
	binary := compile(t, "g++", "inline.cc", "-O2", "-g")
	addrs := codeAddresses(t, binary, 2000)
	want, _ := ask(t, binary, addrs)
	s := New(Options{})
	defer s.Close()
	done := make(chan string)
	for range 8 {
		go func() {
			for i, addr := range addrs {
				got := s.Frames(Module{Path: binary}, []uint64{addr})
				if fmt.Sprint(got[0]) != fmt.Sprint(want[i]) {
					done <- fmt.Sprintf("%#x: %v, want %v", addr, got[0], want[i])
					return
				}
				if i == 50 {
					break
				}
			}
			done <- ""
		}()
	}
	for range 8 {
		if problem := <-done; problem != "" {
			t.Error(problem)
		}
	}
}
