package symbolize

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Code is the machine code of a function.
type Code struct {
	Symbol   string
	Address  uint64 // in the file
	Bytes    []byte // nil where the symbol does not say how many there are
	Indirect bool   // chosen at run time: the code only finds the real one
}

// FunctionCode is what a file has of a function.
type FunctionCode struct {
	// Copies are the function, others of that name, and copies that the compiler
	// made for some of the calls.
	Copies []Code
	// Parts are pieces of it that the compiler put elsewhere.
	Parts []Code
	// Known tells whether the file says what functions it has: it has a symbol
	// table that is not only of what it exports.
	Known bool
}

// CodeOf finds a function in the file at path: by its symbol, or by its name
// in the source with or without parameters and template arguments.
func (s *Symbolizer) CodeOf(path, function string) (f FunctionCode, err error) {
	file, err := openObject(path)
	if err != nil {
		return f, fmt.Errorf("%s: %w", path, cause(err))
	}
	img := &image{file: file, module: Module{Path: path}}
	defer img.close()
	s.guard(img, func() {
		s.openDebug(img, path)
		f = img.codeOf(function)
	})
	return f, nil
}

func (img *image) codeOf(function string) FunctionCode {
	var f FunctionCode
	wanted := newWantedFunction(function)
	seen := make(map[uint64]bool)
	take := func(symbols []elf.Symbol, _ error) {
		for _, symbol := range symbols {
			kind := elf.ST_TYPE(symbol.Info)
			name, _, _ := strings.Cut(symbol.Name, "@")
			if symbol.Section == elf.SHN_UNDEF || !isCode(kind) || seen[symbol.Value] || !wanted.is(name) {
				continue
			}
			seen[symbol.Value] = true
			code := Code{Symbol: name, Address: symbol.Value, Indirect: kind == elf.STT_GNU_IFUNC}
			code.Bytes = bytes.Clone(img.file.codeAt(symbol.Value, symbol.Size)) // the file is closed later
			if clone := name[len(withoutClone(name)):]; isPart(clone) {
				f.Parts = append(f.Parts, code)
			} else {
				f.Copies = append(f.Copies, code)
			}
		}
	}
	for _, o := range []*object{img.file, img.debug, img.file.minidebug()} {
		if o != nil {
			symbols, err := o.file.Symbols()
			f.Known = f.Known || len(symbols) > 0
			take(symbols, err)
		}
	}
	take(img.file.file.DynamicSymbols())
	return f
}

// Inlined returns in how many places of the file at path the compiler has put
// the code of a function instead of a call, as far as the debug information
// says; copies are what CodeOf returned of it.
func (s *Symbolizer) Inlined(path, function string, copies []Code) (places int) {
	file, err := openObject(path)
	if err != nil {
		return 0
	}
	img := &image{file: file, module: Module{Path: path}}
	defer img.close()
	s.guard(img, func() {
		s.openDebug(img, path)
		places = img.inlined(newWantedFunction(function), copies)
	})
	return places
}

// isPart tells whether a symbol's suffix is that of a piece of a function, and
// not of a copy of it.
func isPart(suffix string) bool {
	return strings.Contains(suffix, ".cold") || strings.Contains(suffix, ".part.")
}

// codeAt returns the bytes of the file that are loaded at an address.
func (o *object) codeAt(address, size uint64) []byte {
	if size == 0 {
		return nil
	}
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return o.window(p.Off+address-p.Vaddr, min(size, p.Filesz-(address-p.Vaddr)))
		}
	}
	return nil
}

// wantedFunction is a name as a person writes it.
type wantedFunction struct {
	text string
	part string // of every mangled form of it
}

var identifiers = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

func newWantedFunction(text string) wantedFunction {
	w := wantedFunction{text: text}
	head, _, _ := strings.Cut(withoutTemplates(text), "(")
	if all := identifiers.FindAllString(head, -1); len(all) > 0 {
		w.part = all[len(all)-1]
	}
	return w
}

func withoutTemplates(text string) string {
	head, _, _ := strings.Cut(text, "<")
	return head
}

func (w wantedFunction) is(symbol string) bool {
	base := withoutClone(symbol)
	if base == w.text {
		return true
	}
	if !strings.HasPrefix(base, "_") || !strings.Contains(base, w.part) || len(base) > maxMangled {
		return false
	}
	for _, options := range [][]demangle.Option{{}, {demangle.NoParams}, {demangle.NoParams, demangle.NoTemplateParams}} {
		text, err := demangle.ToString(base, append(options, demangle.NoClones, demangle.MaxLength(maxDemangledLog))...)
		if err == nil && text == w.text {
			return true
		}
	}
	return false
}

// mostDebugInfo is up to how much debug information is searched for inlined
// calls: some seconds' worth.
const mostDebugInfo = 64 << 20

// inlined counts the places where the compiler put the function's code into
// its callers.
func (img *image) inlined(wanted wantedFunction, copies []Code) int {
	symbols := make(map[string]bool)
	for _, c := range copies {
		symbols[withoutClone(c.Symbol)] = true
	}
	for _, o := range []*object{img.file, img.debug} {
		if o == nil || !o.hasDebugInfo() || len(o.content(".debug_info")) > mostDebugInfo {
			continue
		}
		if data, err := o.file.DWARF(); err == nil {
			return countInlined(data.Reader(), wanted, symbols)
		}
	}
	return 0
}

func countInlined(r *dwarf.Reader, wanted wantedFunction, symbols map[string]bool) int {
	named := make(map[dwarf.Offset]bool)
	declared := make(map[dwarf.Offset]dwarf.Offset)
	inlined := make(map[dwarf.Offset]int)
	for {
		entry, err := r.Next()
		if entry == nil || err != nil {
			break
		}
		switch entry.Tag {
		case dwarf.TagSubprogram:
			linkage, _ := entry.Val(dwarf.AttrLinkageName).(string)
			name, _ := entry.Val(dwarf.AttrName).(string)
			if linkage != "" && (symbols[linkage] || wanted.is(linkage)) || linkage == "" && name == wanted.text {
				named[entry.Offset] = true
			}
			if declaration, ok := entry.Val(dwarf.AttrSpecification).(dwarf.Offset); ok {
				declared[entry.Offset] = declaration
			}
		case dwarf.TagInlinedSubroutine:
			if origin, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				inlined[origin]++
			}
		}
	}
	count := 0
	for origin, n := range inlined {
		if named[origin] || named[declared[origin]] {
			count += n
		}
	}
	return count
}
