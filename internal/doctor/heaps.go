package doctor

import (
	"bytes"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/launch"
)

// ownHeaps are functions whose definition in an executable shows an allocator
// that was linked into it. The linker leaves out those that are never called,
// as Rust's programs call few, so that one that releases stands beside each
// that allocates.
var ownHeaps = map[string]string{
	"je_malloc":              "jemalloc",
	"je_free":                "jemalloc",
	"je_arena_malloc":        "jemalloc",
	"_rjem_malloc":           "jemalloc (for Rust)",
	"_rjem_sdallocx":         "jemalloc (for Rust)",
	"mi_malloc":              "mimalloc",
	"mi_free":                "mimalloc",
	"tc_malloc":              "TCMalloc",
	"TCMallocInternalMalloc": "TCMalloc",
	"rpmalloc":               "rpmalloc",
	"rpfree":                 "rpmalloc",
	"snmalloc_alloc":         "snmalloc",
	"sn_rust_alloc":          "snmalloc (for Rust)",
	"sn_rust_dealloc":        "snmalloc (for Rust)",
	"scudo_malloc":           "Scudo",
}

// heapMessages are what allocators begin their messages with, by which they
// are known in an executable without a symbol table.
var heapMessages = []struct{ start, heap string }{
	{"mimalloc: warning: ", "mimalloc"},
	{"<jemalloc>: ", "jemalloc"},
}

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

func (p *Program) readHeaps(object *elf.File) {
	for _, library := range p.Needed {
		stem, _, _ := strings.Cut(library, ".so")
		if name, ok := sanitizers[stem]; ok {
			p.Sanitizer = name
		}
	}
	switch noteType(object) {
	case noteOfRecorder:
		p.Recorder = true
		return // its malloc is ours, and so are tcmalloc's names
	case noteOfMinimal:
		p.Minimal = true
	}
	wanted := []string{"malloc"}
	for name := range ownHeaps {
		wanted = append(wanted, name)
	}
	for name := range sanitizerFunctions {
		wanted = append(wanted, name)
	}
	for _, name := range definedFunctions(object, wanted) {
		if name == "malloc" {
			p.OwnMalloc = true
		} else if heap, ok := ownHeaps[name]; ok {
			p.OwnHeaps = append(p.OwnHeaps, heap)
		} else if sanitizer, ok := sanitizerFunctions[name]; ok {
			p.Sanitizer = sanitizer
		}
	}
	if object.SectionByType(elf.SHT_SYMTAB) == nil && !p.OwnMalloc {
		p.OwnHeaps = append(p.OwnHeaps, heapsByMessage(object)...)
	}
	slices.Sort(p.OwnHeaps)
	p.OwnHeaps = slices.Compact(p.OwnHeaps)
}

func heapsByMessage(object *elf.File) (heaps []string) {
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

// Unseen says, a sentence each, what of the memory of a program that can be
// recorded no recording has.
func (p *Program) Unseen() (notes []string) {
	if p.Recorder {
		return nil
	}
	if len(p.OwnHeaps) > 0 {
		notes = append(notes, fmt.Sprintf("what %s allocates by its own %s is not recorded: build it to use malloc (Rust: without #[global_allocator])",
			launch.Quote(filepath.Base(p.Path)), strings.Join(p.OwnHeaps, ", ")))
	}
	if p.GoVersion != "" {
		notes = append(notes, fmt.Sprintf("%s is a Go program with C: Go's own heap is not recorded, mallow go shows it", launch.Quote(filepath.Base(p.Path))))
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
