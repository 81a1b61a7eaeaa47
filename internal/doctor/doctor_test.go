package doctor

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build compiles C source and returns the program.
func build(t *testing.T, source string, options ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	file := program + ".c"
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("gcc", append([]string{"-o", program, file}, options...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, output)
	}
	return program
}

const plain = "int main(void) { return 0; }\n"

func TestOwnMalloc(t *testing.T) {
	const own = "#include <stddef.h>\nvoid* malloc(size_t n) { (void)n; return NULL; }\n" + plain
	const hidden = "#include <stddef.h>\n__attribute__((visibility(\"hidden\"))) void* malloc(size_t n) { (void)n; return NULL; }\n" + plain
	const local = "#include <stddef.h>\nstatic void* malloc(size_t n) { (void)n; return NULL; }\nint main(void) { return malloc(1) != NULL; }\n"
	const caller = "#include <stdlib.h>\nint main(void) { return malloc(1) == NULL; }\n"
	// A name whose end is malloc shares its string with it.
	const longer = "void* my_malloc(void) { return 0; }\n" + plain
	for name, test := range map[string]struct {
		source  string
		options []string
		own     bool
	}{
		"exported":       {own, []string{"-rdynamic"}, true},
		"in the program": {own, nil, true},
		"stripped":       {own, []string{"-s", "-rdynamic"}, true},
		"hidden":         {hidden, nil, true},
		"of one file":    {local, []string{"-fno-builtin"}, false},
		"only called":    {caller, []string{"-fno-builtin"}, false},
		"longer name":    {longer, []string{"-rdynamic"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Inspect(build(t, test.source, test.options...))
			if err != nil || p.OwnMalloc != test.own {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

func TestLinking(t *testing.T) {
	for option, want := range map[string]string{
		"-shared":     "is a shared library, not a program",
		"-static":     "is linked statically, so no other malloc can be put under it",
		"-static-pie": "is linked statically, so no other malloc can be put under it",
	} {
		p, err := Inspect(build(t, plain, "-fPIC", option))
		if err != nil {
			t.Fatal(err)
		}
		if r := p.Refusal(); r == nil || r.Reason != want {
			t.Errorf("%s: %+v, not %q", option, r, want)
		}
	}
}

func TestLinkedMalloc(t *testing.T) {
	for library, from := range map[string]string{
		"libc.so.6":               "glibc's",
		"libmallow.so":            "that of libmallow.so",
		"libmallow_minimal.so":    "that of libmallow_minimal.so",
		"libjemalloc.so.2":        "that of libjemalloc.so.2",
		"libtbbmalloc_proxy.so.2": "that of libtbbmalloc_proxy.so.2",
		"libtbbmalloc.so.2":       "glibc's",
	} {
		p := &Program{Needed: []string{"libm.so.6", library}}
		if got, want := p.mallocLine(), from+", replaced by libmallow while it is recorded"; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestOwnHeap(t *testing.T) {
	const releasing = "void mi_free(void* p) { (void)p; }\n" + plain
	const warning = "const char* volatile message = \"mimalloc: warning: \";\nint main(void) { return message == 0; }\n"
	for name, test := range map[string]struct {
		source  string
		options []string
		own     bool
	}{
		"allocates":                   {"void* mi_malloc(unsigned long n) { (void)n; return 0; }\n" + plain, nil, true},
		"the linker left one":         {releasing, nil, true},
		"stripped, warns":             {warning, []string{"-s"}, true},
		"stripped":                    {releasing, []string{"-s"}, false},
		"only names it, with symbols": {warning, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			d, err := Diagnose(build(t, test.source, test.options...))
			if err == nil {
				err = d.Write(&said)
			}
			if err != nil || d.Refusal != nil || strings.Contains(said.String(), "what it allocates by its own mimalloc is not seen") != test.own {
				t.Errorf("%v\n%s", err, &said)
			}
			if unseen := d.Program.Unseen(nil); (len(unseen) == 1 && strings.Contains(unseen[0], "by its own mimalloc is not recorded")) != test.own {
				t.Errorf("unseen: %q", unseen)
			}
		})
	}
}

// Interpreters have heaps of their own for what a script makes; some can be told to use malloc.
func TestInterpreter(t *testing.T) {
	p, err := Inspect(build(t, "void* PyObject_Malloc(unsigned long n) { (void)n; return 0; }\n"+plain, "-rdynamic"))
	if err != nil {
		t.Fatal(err)
	}
	for environment, unseen := range map[string]int{"PATH=/bin": 1, "PYTHONMALLOC=pymalloc": 1, "PYTHONMALLOC=malloc": 0, "PYTHONMALLOC=malloc_debug": 0} {
		if notes := p.Unseen([]string{environment}); len(notes) != unseen {
			t.Errorf("%s: %q", environment, notes)
		}
	}
}

// A program must not be started with libmallow ahead of a sanitizer: it would end at once.
func TestSanitizerLibraries(t *testing.T) {
	for library, want := range map[string]string{
		"libasan.so.8":                         "AddressSanitizer",
		"libtsan.so.2":                         "ThreadSanitizer",
		"libclang_rt.asan-x86_64.so":           "AddressSanitizer",
		"libclang_rt.asan.so":                  "AddressSanitizer",
		"libclang_rt.tsan-x86_64.so":           "ThreadSanitizer",
		"libclang_rt.hwasan-x86_64.so":         "HWAddressSanitizer",
		"libubsan.so.1":                        "",
		"libclang_rt.ubsan_standalone.so":      "",
		"libclang_rt.asan_of_mine-x86_64.so":   "",
		"libclang_rt.scudo_standalone-i386.so": "",
	} {
		p, err := Inspect(build(t, plain, "-Wl,--no-as-needed", build(t, "", "-shared", "-fPIC", "-Wl,-soname,"+library)))
		if err != nil {
			t.Fatal(err)
		}
		if p.Sanitizer != want {
			t.Errorf("%s: %q, not %q", library, p.Sanitizer, want)
		}
	}
}

// The run times of languages have heaps of their own. They are known by one of
// their functions, by the library that they are in, or by what they say.
func TestRunTimes(t *testing.T) {
	stripped := []string{"-rdynamic", "-s"}
	for what, test := range map[string]struct {
		heap    string
		options []string
	}{
		"hs_init_ghc":                 {"Haskell heap", nil},
		` [("GHC RTS", "YES")`:        {"Haskell heap", stripped},
		"caml_main":                   {"OCaml heap", stripped},
		"ruby_init":                   {"Ruby heap", stripped},
		"_d_run_main":                 {"D heap", nil},
		"allocate_lisp_dynamic_space": {"Lisp heap", stripped},
		"luaJIT_setmode":              {"LuaJIT heap", stripped},
		"erts_sys_alloc":              {"Erlang allocators", stripped},
		"rawAlloc__system_4554":       {"Nim heap", nil},
		"rawAlloc__system_u12":        {"Nim heap", nil},
		"allocImpl__system_1725":      {"", nil}, // Nim with -d:useMalloc
		"libguile-3.0.so.1":           {"Boehm collector", nil},
		"libHSrts-ghc9.0.2.so":        {"Haskell heap", nil},
		"libdruntime-ldc-shared.so.1": {"D heap", nil},
		"libR.so":                     {"R heap", nil},
		"libtcl8.6.so":                {"Tcl allocator", nil},
		"libtclap.so":                 {"", nil},
	} {
		t.Run(what, func(t *testing.T) {
			source, options := "void "+what+"(void) {}\n"+plain, test.options
			switch {
			case strings.HasPrefix(what, " "):
				source = fmt.Sprintf("const char* volatile message = %q;\nint main(void) { return message == 0; }\n", what)
			case strings.HasPrefix(what, "lib"):
				source, options = plain, []string{"-Wl,--no-as-needed", build(t, "", "-shared", "-fPIC", "-Wl,-soname,"+what)}
			}
			p, err := Inspect(build(t, source, options...))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.HeapNames(), ", "); got != test.heap {
				t.Errorf("%q, not %q", got, test.heap)
			}
		})
	}
}

func TestSlices(t *testing.T) {
	for file, want := range map[string]bool{"libglib-2.0.so.0.7400.6": true, "libglib-2.0.so.0.7600.1": false, "libglib-2.0.so.0": false, "": false} {
		if hasSlices(file) != want {
			t.Errorf("%q: %v", file, !want)
		}
	}
}

func TestDebugging(t *testing.T) {
	for name, test := range map[string]struct {
		options []string
		want    Program
	}{
		"with -g":       {[]string{"-g"}, Program{Lines: true, Symbols: true, UnwindTables: true}},
		"without":       {nil, Program{Symbols: true, UnwindTables: true}},
		"stripped":      {[]string{"-s"}, Program{UnwindTables: true}},
		"with build id": {[]string{"-Wl,--build-id=0x0123456789"}, Program{Symbols: true, UnwindTables: true, BuildID: "0123456789"}},
	} {
		t.Run(name, func(t *testing.T) {
			options := append([]string{"-Wl,--build-id=none"}, test.options...)
			p, err := Inspect(build(t, plain, options...))
			if err != nil {
				t.Fatal(err)
			}
			got := Program{Lines: p.Lines, Symbols: p.Symbols, UnwindTables: p.UnwindTables, BuildID: p.BuildID}
			if got.Lines != test.want.Lines || got.Symbols != test.want.Symbols || got.UnwindTables != test.want.UnwindTables || got.BuildID != test.want.BuildID {
				t.Errorf("%+v, not %+v", got, test.want)
			}
		})
	}
}

func TestSeparateDebugFile(t *testing.T) {
	program := build(t, plain, "-g")
	debug := program + ".debug"
	for _, command := range [][]string{
		{"objcopy", "--only-keep-debug", program, debug},
		{"objcopy", "--strip-debug", "--add-gnu-debuglink=" + debug, program},
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, output)
		}
	}
	if p, err := Inspect(program); err != nil || p.Lines || p.DebugFile != debug {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestScripts(t *testing.T) {
	folder := t.TempDir()
	script := func(name, line string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(line), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := build(t, plain)
	simple := script("simple", "#! "+program+" -x\nrest")
	nested := script("nested", "#!"+simple+"\n")
	throughEnv := script("env", "#!/usr/bin/env -S A=1 "+program+" x\n")
	endless := script("endless", "#!"+filepath.Join(folder, "endless")+"\n")
	nameless := script("nameless", "#!\n")
	for path, depth := range map[string]int{program: 0, simple: 1, nested: 2, throughEnv: 1} {
		if p, err := Inspect(path); err != nil || p.Path != program || len(p.Scripts) != depth {
			t.Errorf("%s: %+v, %v", path, p, err)
		}
	}
	for _, path := range []string{endless, nameless} {
		if _, err := Inspect(path); err == nil {
			t.Errorf("%s is taken for a program", path)
		}
	}
	// The kernel takes the end of a line of Windows for a part of the name.
	for interpreter, says := range map[string]string{
		"/no/such/program": "/no/such/program, which is not there", program + "\r": program + `\r", which is not there`,
		folder: folder + ": is a directory",
	} {
		path := script("without", "#!"+interpreter+"\nrest")
		if _, err := Inspect(path); err == nil || !strings.HasPrefix(err.Error(), path+": names the interpreter ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, not %s", interpreter, err, says)
		}
	}
}

// A program must not be refused because its file is damaged in a part that
// only mallow reads, and nothing in a file may end mallow.
func TestDamaged(t *testing.T) {
	content, err := os.ReadFile(build(t, plain, "-g"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	for at := 0; at < len(content); at += 13 {
		changed := bytes.Clone(content)
		changed[at] ^= 0xff
		if err := os.WriteFile(damaged, changed, 0o755); err != nil {
			t.Fatal(err)
		}
		Diagnose(damaged)
	}
	for size := 0; size < len(content); size += 97 {
		if err := os.WriteFile(damaged, content[:size], 0o755); err != nil {
			t.Fatal(err)
		}
		Diagnose(damaged)
	}
}

func TestCapabilityAttribute(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if privilegeOf(file).Any() || grantsCapabilities(file) {
		t.Error("a plain file grants something")
	}
}
