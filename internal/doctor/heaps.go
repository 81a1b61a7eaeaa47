package doctor

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/launch"
)

// OwnHeap is an allocator in a program that it calls past malloc: no recording
// has what that serves.
type OwnHeap struct {
	Name string
	// Setting is a variable of the environment, with the beginning of the value
	// that makes the program use malloc in its place; "" where there is none.
	Setting string
	// Build says how another build of the program would use malloc; "" where none does.
	Build string
}

// withoutIt is how a program is built without an allocator that it may do without.
const withoutIt = "build it to use malloc (Rust: without #[global_allocator])"

// offIn tells whether the program uses malloc in this environment.
func (h OwnHeap) offIn(environment []string) bool {
	return h.Setting != "" && slices.ContainsFunc(environment, func(entry string) bool { return strings.HasPrefix(entry, h.Setting) })
}

func (h OwnHeap) remedy() string {
	switch {
	case h.Setting != "":
		return "with " + h.Setting + " in the environment it uses malloc"
	default:
		return h.Build
	}
}

var (
	jemalloc     = OwnHeap{Name: "jemalloc", Build: withoutIt}
	rustJemalloc = OwnHeap{Name: "jemalloc (for Rust)", Build: withoutIt}
	mimalloc     = OwnHeap{Name: "mimalloc", Build: withoutIt}
	tcmalloc     = OwnHeap{Name: "TCMalloc", Build: withoutIt}
	rpmalloc     = OwnHeap{Name: "rpmalloc", Build: withoutIt}
	snmalloc     = OwnHeap{Name: "snmalloc", Build: withoutIt}
	rustSnmalloc = OwnHeap{Name: "snmalloc (for Rust)", Build: withoutIt}
	scudo        = OwnHeap{Name: "Scudo", Build: withoutIt}
	pymalloc     = OwnHeap{Name: "pymalloc", Setting: "PYTHONMALLOC=malloc"}
	zend         = OwnHeap{Name: "Zend memory manager", Setting: "USE_ZEND_ALLOC=0"}
	gslice       = OwnHeap{Name: "GSlice", Setting: "G_SLICE=always-malloc"}
	v8           = OwnHeap{Name: "V8 heap"}
	java         = OwnHeap{Name: "Java heap"}
	ruby         = OwnHeap{Name: "Ruby heap"}
	ocaml        = OwnHeap{Name: "OCaml heap"}
	haskell      = OwnHeap{Name: "Haskell heap"}
	boehm        = OwnHeap{Name: "Boehm collector"}
	dlang        = OwnHeap{Name: "D heap"}
	lisp         = OwnHeap{Name: "Lisp heap"}
	rlang        = OwnHeap{Name: "R heap"}
	luajit       = OwnHeap{Name: "LuaJIT heap"}
	tcl          = OwnHeap{Name: "Tcl allocator"}
	erlang       = OwnHeap{Name: "Erlang allocators", Setting: "ERL_FLAGS=+Mea min"}
	nim          = OwnHeap{Name: "Nim heap", Build: "build it with -d:useMalloc"}
)

// ownHeaps are functions whose definition in an executable shows an allocator
// that was linked into it. The linker leaves out those that are never called,
// as Rust's programs call few, so that one that releases stands beside each
// that allocates.
var ownHeaps = map[string]OwnHeap{
	"je_malloc":              jemalloc,
	"je_free":                jemalloc,
	"je_arena_malloc":        jemalloc,
	"_rjem_malloc":           rustJemalloc,
	"_rjem_sdallocx":         rustJemalloc,
	"mi_malloc":              mimalloc,
	"mi_free":                mimalloc,
	"tc_malloc":              tcmalloc,
	"TCMallocInternalMalloc": tcmalloc,
	"rpmalloc":               rpmalloc,
	"rpfree":                 rpmalloc,
	"snmalloc_alloc":         snmalloc,
	"sn_rust_alloc":          rustSnmalloc,
	"sn_rust_dealloc":        rustSnmalloc,
	"scudo_malloc":           scudo,
	"PyObject_Malloc":        pymalloc,
	"_emalloc":               zend,
	"_ZN2v87Isolate3NewERKNS0_12CreateParamsE": v8,
	"caml_main":                   ocaml,
	"hs_init_ghc":                 haskell,
	"ruby_init":                   ruby,
	"GC_malloc":                   boehm,
	"_d_run_main":                 dlang,
	"allocate_lisp_dynamic_space": lisp,
	"luaJIT_setmode":              luajit,
	"erts_sys_alloc":              erlang,
}

// heapLibraries are libraries that bring an allocator of their own, by the
// beginning of their names.
var heapLibraries = []struct {
	start string
	heap  OwnHeap
}{
	{"libpython", pymalloc}, {"libnode.so", v8}, {"libjli.so", java}, {"libjvm.so", java}, {"libruby", ruby}, {"libgc.so", boehm},
	{"libguile-", boehm}, {"libHSrts", haskell}, {"libcamlrun", ocaml}, {"libasmrun", ocaml}, {"libdruntime-", dlang}, {"libgdruntime.so", dlang},
	{"libR.so", rlang}, {"libluajit-", luajit}, {"libtcl8.", tcl}, {"libtcl9.", tcl},
}

// heapMessages are what allocators begin their messages with, by which they
// are known in an executable without a symbol table.
var heapMessages = []struct {
	start string
	heap  OwnHeap
}{
	{"mimalloc: warning: ", mimalloc},
	{"<jemalloc>: ", jemalloc},
	{"[(\"GHC RTS\", \"YES\")", haskell}, // what +RTS --info says
}

// nimAllocator begins the name of the function of Nim's own allocator, which ends
// in a number that differs from build to build.
const nimAllocator = "rawAlloc__system_"

// mostConstants is how much of the constants of a program is looked through.
const mostConstants = 64 << 20

// sanitizers own malloc and die when another library comes before theirs.
var sanitizers = map[string]string{
	"libasan":   "AddressSanitizer",
	"libtsan":   "ThreadSanitizer",
	"libmsan":   "MemorySanitizer",
	"liblsan":   "LeakSanitizer",
	"libhwasan": "HWAddressSanitizer",
}

var sanitizerFunctions = map[string]string{
	"__asan_init":   "AddressSanitizer",
	"__tsan_init":   "ThreadSanitizer",
	"__msan_init":   "MemorySanitizer",
	"__lsan_init":   "LeakSanitizer",
	"__hwasan_init": "HWAddressSanitizer",
}

// readHeaps finds out whose malloc the program runs on, which decides whether it
// can be recorded, and if asked for the whole the allocators beside it: that
// takes up to 0.1 s more in a large program, whose names and constants are
// looked through.
func (p *Program) readHeaps(object *elf.File, whole bool) {
	for _, library := range p.Needed {
		if name, ok := sanitizers[sanitizerStem(library)]; ok {
			p.Sanitizer = name
		}
		for _, of := range heapLibraries {
			if strings.HasPrefix(library, of.start) {
				p.OwnHeaps = append(p.OwnHeaps, of.heap)
			}
		}
		if strings.HasPrefix(library, "libglib-2.0.so") && hasSlices(fileOf(library)) {
			p.OwnHeaps = append(p.OwnHeaps, gslice)
		}
	}
	switch noteType(object) {
	case noteOfRecorder:
		p.Recorder = true
		return // its malloc is ours, and so are tcmalloc's names
	case noteOfMinimal:
		p.Minimal = true
	}
	wanted := slices.AppendSeq([]string{"malloc"}, maps.Keys(sanitizerFunctions))
	if whole {
		wanted = slices.AppendSeq(wanted, maps.Keys(ownHeaps))
	}
	for _, name := range definedFunctions(object, wanted) {
		if name == "malloc" {
			p.OwnMalloc = true
		} else if heap, ok := ownHeaps[name]; ok {
			p.OwnHeaps = append(p.OwnHeaps, heap)
		} else {
			p.Sanitizer = sanitizerFunctions[name]
		}
	}
	if whole && object.SectionByType(elf.SHT_SYMTAB) == nil && !p.OwnMalloc {
		p.OwnHeaps = append(p.OwnHeaps, heapsByMessage(object)...)
	}
	if whole && namesNim(object) {
		p.OwnHeaps = append(p.OwnHeaps, nim)
	}
	slices.SortFunc(p.OwnHeaps, func(a, b OwnHeap) int { return strings.Compare(a.Name, b.Name) })
	p.OwnHeaps = slices.Compact(p.OwnHeaps)
}

// sanitizerStem returns what GCC would call a library: libasan for libasan.so.8
// and for Clang's libclang_rt.asan-x86_64.so.
func sanitizerStem(library string) string {
	stem, _, _ := strings.Cut(library, ".so")
	if name, isClangs := strings.CutPrefix(stem, "libclang_rt."); isClangs {
		name, _, _ = strings.Cut(name, "-")
		return "lib" + name
	}
	return stem
}

// fileOf returns the whole name of the file that a library's name leads to, ""
// where it is in none of the usual folders.
func fileOf(library string) string {
	for _, folder := range []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"} {
		if file, err := filepath.EvalSymlinks(filepath.Join(folder, library)); err == nil {
			return filepath.Base(file)
		}
	}
	return ""
}

// hasSlices tells by the name of its file whether a GLib cuts small blocks from
// larger ones: up to 2.75 it does. Of 2.74.6 that is libglib-2.0.so.0.7400.6.
func hasSlices(file string) bool {
	var version, revision int
	_, err := fmt.Sscanf(file, "libglib-2.0.so.0.%d.%d", &version, &revision)
	return err == nil && version < 7600
}

func heapsByMessage(object *elf.File) (heaps []OwnHeap) {
	constants := object.Section(".rodata")
	if constants == nil || constants.Size > mostConstants {
		return nil
	}
	text, err := constants.Data()
	if err != nil {
		return nil
	}
	for _, message := range heapMessages {
		if bytes.Contains(text, []byte(message.start)) {
			heaps = append(heaps, message.heap)
		}
	}
	return heaps
}

func namesNim(object *elf.File) bool {
	names := object.Section(".strtab")
	if names == nil {
		return false
	}
	text, err := names.Data()
	return err == nil && bytes.Contains(text, []byte("\x00"+nimAllocator))
}

// HeapsIn returns those of OwnHeaps that the program uses in this environment.
func (p *Program) HeapsIn(environment []string) []OwnHeap {
	return slices.DeleteFunc(slices.Clone(p.OwnHeaps), func(heap OwnHeap) bool { return heap.offIn(environment) })
}

// HeapNames returns the names of OwnHeaps.
func (p *Program) HeapNames() (names []string) {
	for _, heap := range p.OwnHeaps {
		names = append(names, heap.Name)
	}
	return names
}

// Unseen says, a sentence each, what of the memory of a program that can be
// recorded no recording has, in this environment.
func (p *Program) Unseen(environment []string) (notes []string) {
	if p.Recorder {
		return nil
	}
	name := launch.Quote(filepath.Base(p.Path))
	for _, heap := range p.HeapsIn(environment) {
		note := fmt.Sprintf("what %s allocates by its own %s is not recorded", name, heap.Name)
		if remedy := heap.remedy(); remedy != "" {
			note += ": " + remedy
		}
		notes = append(notes, note)
	}
	if p.GoVersion != "" {
		notes = append(notes, name+" is a Go program with C: Go's own heap is not recorded, mallow go shows it")
	}
	return notes
}

// definedFunctions returns those of names that the object defines as functions
// for more than one source file. It looks at raw tables, since a browser has
// millions of symbols and the question is asked before every start.
func definedFunctions(object *elf.File, names []string) []string {
	var found []string
	for _, section := range object.Sections {
		if section.Type != elf.SHT_SYMTAB && section.Type != elf.SHT_DYNSYM || int(section.Link) >= len(object.Sections) {
			continue
		}
		symbols, err := section.Data()
		if err != nil {
			continue
		}
		text, err := object.Sections[section.Link].Data()
		if err != nil {
			continue
		}
		for _, name := range definedIn(object, symbols, text, names) {
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// symbolBytes is the size of a 64-bit symbol: name, info, other, section,
// value, size.
const symbolBytes = 24

func definedIn(object *elf.File, symbols, text []byte, names []string) []string {
	if object.Class != elf.ELFCLASS64 {
		return nil
	}
	at := make(map[uint32]string)
	for _, name := range names {
		for _, offset := range offsetsOf(text, name) {
			at[offset] = name
		}
	}
	if len(at) == 0 {
		return nil
	}
	var found []string
	for ; len(symbols) >= symbolBytes; symbols = symbols[symbolBytes:] {
		name, wanted := at[object.ByteOrder.Uint32(symbols)]
		if !wanted {
			continue
		}
		info, section := symbols[4], elf.SectionIndex(object.ByteOrder.Uint16(symbols[6:]))
		kind, binding := elf.ST_TYPE(info), elf.ST_BIND(info)
		isFunction := kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC
		if isFunction && binding != elf.STB_LOCAL && section != elf.SHN_UNDEF {
			found = append(found, name)
		}
	}
	return found
}

// offsetsOf finds name in a string table, where it may be the end of a longer
// string.
func offsetsOf(text []byte, name string) []uint32 {
	pattern := append([]byte(name), 0)
	var offsets []uint32
	for start := 0; ; {
		i := bytes.Index(text[start:], pattern)
		if i < 0 {
			return offsets
		}
		offsets = append(offsets, uint32(start+i))
		start += i + 1
	}
}
