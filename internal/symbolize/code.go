package symbolize

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"mallow/internal/signature"
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
	// plain is it without parameters, with its namespaces: the only name that
	// debug information has of a function that no other file sees.
	plain []string
}

var identifiers = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

func newWantedFunction(text string) wantedFunction {
	text = strings.ReplaceAll(text, "<…>", "") // reports leave long template arguments out
	w := wantedFunction{text: text}
	head, _, _ := strings.Cut(withoutTemplates(text), "(")
	if all := identifiers.FindAllString(head, -1); len(all) > 0 {
		w.part = all[len(all)-1]
	}
	w.plain = []string{signature.WithoutParameters(text)}
	for _, options := range readings[1:] {
		if name, err := demangled(withoutClone(text), options...); err == nil {
			w.plain = append(w.plain, signature.WithoutAnonymous(name))
		}
	}
	return w
}

// readings are the forms of a mangled name that a person may write.
var readings = [][]demangle.Option{
	{demangle.NoClones, demangle.MaxLength(maxDemangledLog)},
	{demangle.NoClones, demangle.MaxLength(maxDemangledLog), demangle.NoParams},
	{demangle.NoClones, demangle.MaxLength(maxDemangledLog), demangle.NoParams, demangle.NoTemplateParams},
}

func withoutTemplates(text string) string {
	head, _, _ := strings.Cut(text, "<")
	return head
}

func (w wantedFunction) is(symbol string) bool {
	base := withoutClone(symbol)
	if base == w.text || symbol == w.text {
		return true
	}
	if !strings.HasPrefix(base, "_") || !strings.Contains(base, w.part) || len(base) > maxMangled {
		return false
	}
	for _, options := range readings {
		text, err := demangled(base, options...)
		if err == nil && (text == w.text || signature.WithoutAnonymous(text) == w.text) {
			return true
		}
		if err == nil && strings.HasPrefix(base, "_R") && rustPath(text) == w.text {
			return true
		}
	}
	return false
}

// rustPath is a new name of Rust's as the source and old names have it, without
// what the function is made for: mine::Cart::add of <mine::Cart>::add, and
// mine::keep of mine::keep::<u32>.
func rustPath(name string) string {
	if inner, rest, ok := signature.CutBrackets(name); ok && !strings.Contains(inner, " as ") {
		name = inner + rest
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(name, "::<")
		b.WriteString(before)
		_, rest, ok := signature.CutBrackets("<" + after)
		if !found || !ok {
			return b.String()
		}
		name = rest
	}
}

// mostDebugInfo is up to how much debug information is searched for inlined
// calls: some seconds' worth.
const mostDebugInfo = 64 << 20

// inlined counts the places where the compiler put the function's code into
// its callers.
func (img *image) inlined(wanted wantedFunction, copies []Code) int {
	search := inlineSearch{wanted: wanted, symbols: make(map[string]bool), addresses: make(map[uint64]bool)}
	for _, c := range copies {
		search.symbols[withoutClone(c.Symbol)] = true
		search.addresses[c.Address] = true
	}
	for _, o := range []*object{img.file, img.debug} {
		if o == nil || !o.hasDebugInfo() || len(o.content(".debug_info")) > mostDebugInfo {
			continue
		}
		if data, err := o.file.DWARF(); err == nil {
			return search.count(data.Reader())
		}
	}
	return 0
}

// inlineSearch tells the entries of a function from those of others.
type inlineSearch struct {
	wanted    wantedFunction
	symbols   map[string]bool // of the function's code
	addresses map[uint64]bool // and where it begins
}

func (s *inlineSearch) count(r *dwarf.Reader) int {
	named := make(map[dwarf.Offset]bool)
	declared := make(map[dwarf.Offset]dwarf.Offset)
	inlined := make(map[dwarf.Offset]int)
	var scopes []string
	for {
		entry, err := r.Next()
		if entry == nil || err != nil {
			break
		}
		switch entry.Tag {
		case 0: // the end of a scope
			scopes = scopes[:max(0, len(scopes)-1)]
		case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagTypeUnit:
			scopes = scopes[:0]
		case dwarf.TagSubprogram:
			if s.is(entry, scopes) {
				named[entry.Offset] = true
			}
			if declaration, ok := entry.Val(dwarf.AttrSpecification).(dwarf.Offset); ok {
				declared[entry.Offset] = declaration
			}
			// The code that was not inlined tells where else it was.
			origin, copied := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			if address, ok := entry.Val(dwarf.AttrLowpc).(uint64); ok && copied && s.addresses[address] {
				named[origin] = true
			}
		case dwarf.TagInlinedSubroutine:
			if origin, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				inlined[origin]++
			}
		}
		if entry.Children {
			scopes = append(scopes, scopeOf(entry))
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

// is tells whether a function is the one that is wanted, by its linkage name,
// or where the compiler leaves that out by its own within its scopes.
func (s *inlineSearch) is(entry *dwarf.Entry, scopes []string) bool {
	if linkage, _ := entry.Val(dwarf.AttrLinkageName).(string); linkage != "" {
		return s.symbols[linkage] || s.wanted.is(linkage)
	}
	name, _ := entry.Val(dwarf.AttrName).(string)
	return name != "" && (name == s.wanted.text || slices.Contains(s.wanted.plain, strings.Join(scopes, "")+name))
}

// scopeOf returns what stands before the names of what is declared within an
// entry.
func scopeOf(entry *dwarf.Entry) string {
	switch entry.Tag {
	case dwarf.TagNamespace, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType:
		if name, _ := entry.Val(dwarf.AttrName).(string); name != "" {
			return name + "::"
		}
	}
	return ""
}
