package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
)

const symbolSize = 24 // Elf64_Sym

// symbol is what the table says about one asked address.
type symbol struct {
	value, size uint64
	bind        elf.SymBind
	kind        elf.SymType
	nameAt      uint32
	nameTable   []byte
	name        []byte // empty for none
}

// maxCandidates bounds the work of one look-up in a damaged table, in which
// every symbol may claim to cover every address.
const maxCandidates = 1 << 26

// lookup is a set of addresses whose symbols are wanted.
type lookup struct {
	addrs   []uint64         // sorted
	byStart map[uint64][]int // the addresses by the start of their unwind entry
	found   []symbol         // parallel to addrs
	work    int
}

func newLookup(addrs []uint64, starts []uint64) *lookup {
	l := &lookup{addrs: addrs, byStart: map[uint64][]int{}, found: make([]symbol, len(addrs))}
	for i, start := range starts {
		if start != 0 {
			l.byStart[start] = append(l.byStart[start], i)
		}
	}
	return l
}

// hasSymbolTable tells whether functions that are not exported have names.
func (o *object) hasSymbolTable() bool { return o.file.SectionByType(elf.SHT_SYMTAB) != nil }

// symbols passes once over the symbol tables of one kind and builds no string.
// A symbol must cover an address to name it: the nearest one before it may be
// another function's. One without a size (hand-written assembly) counts where
// an unwind entry starts at its value.
func (o *object) symbols(kind elf.SectionType, l *lookup) {
	for _, s := range o.file.Sections {
		if s.Type != kind || s.Link >= uint32(len(o.file.Sections)) {
			continue
		}
		table, names := o.raw(s), o.raw(o.file.Sections[s.Link])
		for ; len(table) >= symbolSize && l.work < maxCandidates; table = table[symbolSize:] {
			if binary.LittleEndian.Uint16(table[6:]) == uint16(elf.SHN_UNDEF) || !isCode(elf.ST_TYPE(table[4])) {
				continue
			}
			candidate := symbol{
				value:     binary.LittleEndian.Uint64(table[8:]),
				size:      binary.LittleEndian.Uint64(table[16:]),
				nameAt:    binary.LittleEndian.Uint32(table),
				nameTable: names,
				bind:      elf.ST_BIND(table[4]),
				kind:      elf.ST_TYPE(table[4]),
			}
			l.offer(candidate)
		}
	}
}

func (l *lookup) offer(s symbol) {
	if s.size == 0 {
		for _, i := range l.byStart[s.value] {
			l.take(i, s)
		}
		return
	}
	first, _ := slices.BinarySearch(l.addrs, s.value)
	for i := first; i < len(l.addrs) && l.addrs[i]-s.value < s.size; i++ {
		l.take(i, s)
	}
}

func (l *lookup) take(i int, s symbol) {
	l.work++
	if s.name = cString(s.nameTable, s.nameAt); len(s.name) > 0 && s.better(l.found[i]) {
		l.found[i] = s
	}
}

func isCode(t elf.SymType) bool {
	return t == elf.STT_FUNC || t == elf.STT_NOTYPE || t == elf.STT_GNU_IFUNC
}

func cString(names []byte, off uint32) []byte {
	if uint64(off) >= uint64(len(names)) {
		return nil
	}
	b := names[off:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return nil
}

// better orders the symbols of one address: the innermost, then functions,
// then the public name, then the name with the least decoration.
func (a symbol) better(b symbol) bool {
	switch {
	case len(b.name) == 0:
		return true
	case a.value != b.value:
		return a.value > b.value
	case (a.kind == elf.STT_NOTYPE) != (b.kind == elf.STT_NOTYPE):
		return b.kind == elf.STT_NOTYPE
	case (a.bind == elf.STB_LOCAL) != (b.bind == elf.STB_LOCAL):
		return b.bind == elf.STB_LOCAL
	case underscores(a.name) != underscores(b.name):
		return underscores(a.name) < underscores(b.name)
	case len(a.name) != len(b.name):
		return len(a.name) < len(b.name)
	}
	return slices.Compare(a.name, b.name) < 0
}

func underscores(name []byte) int {
	n := 0
	for n < len(name) && name[n] == '_' {
		n++
	}
	return n
}

// text returns the name without a symbol version ("memcpy@@GLIBC_2.14").
func (a symbol) text() string {
	name, _, _ := strings.Cut(string(a.name), "@")
	return name
}
