package symbolize

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"iter"
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
	// Through are the stubs of the file, and the words that these jump by, through
	// which its other code may call what has a name of this one.
	Through []uint64
	// Shared are other functions whose code it is too, as they are called in the
	// source: aliases, and what compiler or linker found to be the same.
	Shared []string
}

// IsFormBefore tells whether two are forms of one constructor or destructor of
// C++, which differ in the digit of their symbols, and this one has the lower:
// D0 destroys an object and releases its memory, C1 and D1 are of a whole
// object, C2 and D2 of the part of a derived one.
func (c Code) IsFormBefore(other Code) bool {
	a, b := c.Symbol, other.Symbol
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	if at == 0 || at >= min(len(a), len(b)) || a[at+1:] != b[at+1:] || readable(a) != readable(b) {
		return false
	}
	const inherited = 'I' // behind C
	return '0' <= a[at] && a[at] < b[at] && b[at] <= '9' && (a[at-1] == 'C' || a[at-1] == 'D' || a[at-1] == inherited)
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
	for symbol, exported := range img.functions() {
		f.Known = f.Known || !exported
		name, _, _ := strings.Cut(symbol.Name, "@")
		if seen[symbol.Value] || !wanted.is(name) {
			continue
		}
		seen[symbol.Value] = true
		code := Code{Symbol: name, Address: symbol.Value, Indirect: elf.ST_TYPE(symbol.Info) == elf.STT_GNU_IFUNC}
		code.Bytes = bytes.Clone(img.file.codeAt(symbol.Value, symbol.Size)) // the file is closed later
		if clone := name[len(withoutClone(name)):]; isPart(clone) {
			f.Parts = append(f.Parts, code)
		} else {
			f.Copies = append(f.Copies, code)
		}
	}
	img.tellOthers(f.Copies)
	return f
}

// functions are the symbols of all code of the file, and whether only what it
// exports tells of them.
func (img *image) functions() iter.Seq2[elf.Symbol, bool] {
	return func(yield func(elf.Symbol, bool) bool) {
		pass := func(symbols []elf.Symbol, exported bool) bool {
			for _, symbol := range symbols {
				if symbol.Section != elf.SHN_UNDEF && isCode(elf.ST_TYPE(symbol.Info)) && !yield(symbol, exported) {
					return false
				}
			}
			return true
		}
		for _, o := range []*object{img.file, img.debug, img.file.minidebug()} {
			if o != nil {
				if symbols, err := o.file.Symbols(); err == nil && !pass(symbols, false) {
					return
				}
			}
		}
		if symbols, err := img.file.file.DynamicSymbols(); err == nil {
			pass(symbols, true)
		}
	}
}

// tellOthers fills in what else of the file has to do with some of its code.
func (img *image) tellOthers(copies []Code) {
	if len(copies) == 0 {
		return
	}
	at := make(map[uint64]*Code)
	ours := make(map[string]bool)
	for i := range copies {
		at[copies[i].Address] = &copies[i]
		ours[readable(copies[i].Symbol)] = true
	}
	named := make(map[string]*Code)
	for symbol := range img.functions() {
		code := at[symbol.Value]
		if code == nil {
			continue
		}
		name, _, _ := strings.Cut(symbol.Name, "@")
		named[name] = code
		if other := readable(name); !ours[other] && !slices.Contains(code.Shared, other) {
			code.Shared = append(code.Shared, other)
		}
	}
	for address, symbol := range img.ways(func(symbol string) bool { return named[symbol] != nil }) {
		named[symbol].Through = append(named[symbol].Through, address)
	}
}

// Inlined returns in how many places of the file at path the compiler has put
// the code of a function instead of a call, as far as the debug information
// says, and whether that has the function at all; copies are what CodeOf
// returned of it.
func (s *Symbolizer) Inlined(path, function string, copies []Code) (places int, defined bool) {
	file, err := openObject(path)
	if err != nil {
		return 0, false
	}
	img := &image{file: file, module: Module{Path: path}}
	defer img.close()
	s.guard(img, func() {
		s.openDebug(img, path)
		places, defined = img.inlined(newWantedFunction(function), copies)
	})
	return places, defined
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

var oneWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)

func newWantedFunction(text string) wantedFunction {
	text = tags.ReplaceAllString(strings.ReplaceAll(text, "<…>", ""), "") // reports leave long template arguments out
	w := wantedFunction{text: text}
	class, last := signature.Method(text)
	last = strings.TrimPrefix(last, "~")
	// Operators and lambdas have other names there, and so have some classes of the library, and their constructors.
	if _, name := signature.Split(class); oneWord.MatchString(last) && !(strings.HasPrefix(class, "std::") && name == last) {
		w.part = last
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

func (w wantedFunction) is(symbol string) bool {
	base := withoutClone(symbol)
	if base == w.text || symbol == w.text {
		return true
	}
	if !strings.HasPrefix(base, "_") || !strings.Contains(base, w.part) || len(base) > maxMangled || isAdded(base) {
		return false
	}
	for _, options := range readings {
		text, err := demangled(base, options...)
		if err == nil && w.isWritten(text) {
			return true
		}
		if err == nil && ofRust.MatchString(base) {
			if path := rustPath(text); path == w.text || withoutArguments(path) == w.text {
				return true
			}
		}
	}
	return false
}

// isAdded tells whether a symbol is that of code that the compiler adds to a
// function, and that is no call of it: what a coroutine does when it is resumed
// or released, and thunks, which correct `this` and go on to the function.
func isAdded(symbol string) bool {
	at := strings.LastIndexByte(symbol, '.')
	return at > 0 && slices.Contains([]string{".actor", ".destroy", ".resume", ".cleanup"}, symbol[at:]) ||
		strings.HasPrefix(symbol, "_ZT") || strings.HasPrefix(symbol, "_ZG")
}

// isWritten tells whether a name is what a person may have written for it, or
// read in a report: without tags, namespaces that have no name, what C++ puts
// before the names of template functions, parameters of functions around it.
func (w wantedFunction) isWritten(name string) bool {
	name = tags.ReplaceAllString(name, "")
	if name == w.text {
		return true
	}
	name = signature.WithoutAnonymous(name)
	head, marks := name, ""
	if at := strings.LastIndexByte(name, ')'); at >= 0 { // what follows may be " const"
		head, marks = name[:at+1], name[at+1:]
	}
	return name == w.text || signature.WithoutReturnType(head)+marks == w.text ||
		signature.WithoutReturnType(signature.WithoutParameters(name)) == w.text
}

// tags are what the library of C++ adds to functions that return a std::string.
var tags = regexp.MustCompile(`\[abi:\w+\]`)

// ofRust are its new names and its old ones.
var ofRust = regexp.MustCompile(`^_R|^_ZN.*17h[0-9a-f]{16}E$`)

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

// withoutArguments leaves out what types are made for: mine::Cart::add of
// mine::Cart<u8>::add.
func withoutArguments(path string) string {
	var b strings.Builder
	for p := range signature.Outside(path, func(open signature.Part) bool { return open.Text == "<" && open.Start > 0 }) {
		b.WriteString(p.Text)
	}
	return b.String()
}

// mostDebugInfo is up to how much debug information is searched for inlined
// calls: some seconds' worth.
const mostDebugInfo = 64 << 20

// inlined counts the places where the compiler put the function's code into
// its callers.
func (img *image) inlined(wanted wantedFunction, copies []Code) (places int, defined bool) {
	search := inlineSearch{wanted: wanted, symbols: make(map[string]bool), addresses: make(map[uint64]bool), forms: make(map[uint64]bool)}
	for _, c := range copies {
		search.symbols[withoutClone(c.Symbol)] = true
		search.addresses[c.Address] = true
		search.forms[c.Address] = slices.ContainsFunc(copies, c.IsFormBefore)
	}
	for _, o := range []*object{img.file, img.debug} {
		if o == nil || !o.hasDebugInfo() || len(o.content(".debug_info")) > mostDebugInfo {
			continue
		}
		if data, err := o.file.DWARF(); err == nil {
			return search.count(data.Reader())
		}
	}
	return 0, false
}

// inlineSearch tells the entries of a function from those of others.
type inlineSearch struct {
	wanted    wantedFunction
	symbols   map[string]bool // of the function's code
	addresses map[uint64]bool // and where it begins
	// forms are addresses of those that another form may have been put into: that is
	// no call.
	forms map[uint64]bool
}

func (s *inlineSearch) count(r *dwarf.Reader) (places int, defined bool) {
	named := make(map[dwarf.Offset]bool)
	declared := make(map[dwarf.Offset]dwarf.Offset)
	inlined := make(map[dwarf.Offset]int)
	intoForm := make(map[dwarf.Offset]map[uint64]bool) // which forms have it in them
	var scopes []string
	var within []uint64 // the functions around, by their addresses
	for {
		entry, err := r.Next()
		if entry == nil || err != nil {
			break
		}
		switch entry.Tag {
		case 0: // the end of a scope
			scopes, within = scopes[:max(0, len(scopes)-1)], within[:max(0, len(within)-1)]
		case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagTypeUnit:
			scopes, within = scopes[:0], within[:0]
		case dwarf.TagSubprogram:
			if s.is(entry, scopes) {
				named[entry.Offset] = true
				only, _ := entry.Val(dwarf.AttrDeclaration).(bool)
				defined = defined || !only
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
				if around := slices.IndexFunc(within, func(address uint64) bool { return s.forms[address] }); around >= 0 {
					if intoForm[origin] == nil {
						intoForm[origin] = make(map[uint64]bool)
					}
					intoForm[origin][within[around]] = true
				}
			}
		}
		if entry.Children {
			address, _ := entry.Val(dwarf.AttrLowpc).(uint64)
			scopes, within = append(scopes, scopeOf(entry)), append(within, address)
		}
	}
	for origin, n := range inlined {
		if named[origin] || named[declared[origin]] {
			places += n - len(intoForm[origin])
		}
	}
	return places, defined
}

// is tells whether a function is the one that is wanted, by its linkage name,
// or where the compiler leaves that out by its own within its scopes.
func (s *inlineSearch) is(entry *dwarf.Entry, scopes []string) bool {
	if linkage, _ := entry.Val(dwarf.AttrLinkageName).(string); linkage != "" {
		return s.symbols[linkage] || s.wanted.is(linkage)
	}
	if artificial, _ := entry.Val(dwarf.AttrArtificial).(bool); artificial {
		return false // what a coroutine does when it is resumed has the coroutine's name
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
