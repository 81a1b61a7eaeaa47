package symbolize

import (
	"debug/elf"
	"encoding/binary"
	"iter"
	"strings"
)

const (
	stubSize       = 16
	relocationSize = 24 // Elf64_Rela
)

// stubs names the addresses that are in the procedure linkage table, by the
// function that each stub jumps to.
func (img *image) stubs(addrs []uint64) map[uint64]string {
	if img.file == nil {
		return nil
	}
	slots := map[uint64][]uint64{} // addresses by the slot through which their stub jumps
	for table := range img.file.stubTables() {
		for _, addr := range addrs {
			if addr >= table.addr && addr-table.addr < uint64(len(table.data)) {
				if slot, ok := table.slot(addr - (addr-table.addr)%table.size); ok {
					slots[slot] = append(slots[slot], addr)
				}
			}
		}
	}
	named := map[uint64]string{}
	if len(slots) == 0 {
		return named
	}
	for slot, symbol := range img.file.slots() {
		for _, addr := range slots[slot] {
			named[addr] = string(symbol)
		}
	}
	return named
}

// ways finds the slots, and the stubs that jump through them, by which the
// file's code calls symbols.
func (img *image) ways(wanted func(symbol string) bool) map[uint64]string {
	found := make(map[uint64]string)
	for slot, symbol := range img.file.slots() {
		if wanted(string(symbol)) {
			found[slot] = string(symbol)
		}
	}
	if len(found) == 0 {
		return found
	}
	for table := range img.file.stubTables() {
		for stub := table.addr; stub-table.addr < uint64(len(table.data)); stub += table.size {
			slot, ok := table.slot(stub)
			if symbol := found[slot]; ok && symbol != "" {
				found[stub] = symbol
			}
		}
	}
	return found
}

// stubTable is a part of the procedure linkage table.
type stubTable struct {
	section
	size uint64 // of a stub
}

// stubTables understands only those of x86-64.
func (o *object) stubTables() iter.Seq[stubTable] {
	return func(yield func(stubTable) bool) {
		if o.file.Machine != elf.EM_X86_64 {
			return
		}
		for _, s := range o.file.Sections {
			if !strings.HasPrefix(s.Name, ".plt") || s.Flags&elf.SHF_EXECINSTR == 0 {
				continue
			}
			size := uint64(stubSize)
			if s.Name == ".plt.got" && s.Entsize == 8 {
				size = 8
			}
			if !yield(stubTable{section{s.Addr, o.raw(s)}, size}) {
				return
			}
		}
	}
}

// slot finds `jmp *slot(%rip)` in a stub, behind an endbr64 or bnd prefix.
func (t stubTable) slot(addr uint64) (slot uint64, ok bool) {
	code := t.at(addr)
	if uint64(len(code)) < t.size {
		return 0, false
	}
	for i := uint64(0); i+6 <= t.size; i++ {
		if code[i] == 0xff && code[i+1] == 0x25 {
			offset := int32(binary.LittleEndian.Uint32(code[i+2:]))
			return addr + i + 6 + uint64(int64(offset)), true
		}
	}
	return 0, false
}

// slots are the words into which the dynamic linker puts addresses, with the
// names of the symbols.
func (o *object) slots() iter.Seq2[uint64, []byte] {
	return func(yield func(uint64, []byte) bool) {
		for _, s := range o.file.Sections {
			if s.Type != elf.SHT_RELA || s.Link >= uint32(len(o.file.Sections)) {
				continue
			}
			symbols := o.file.Sections[s.Link]
			if symbols.Type != elf.SHT_DYNSYM || symbols.Link >= uint32(len(o.file.Sections)) {
				continue
			}
			table, names := o.raw(symbols), o.raw(o.file.Sections[symbols.Link])
			for r := o.raw(s); len(r) >= relocationSize; r = r[relocationSize:] {
				at := uint64(binary.LittleEndian.Uint32(r[12:])) * symbolSize
				if at == 0 || at+symbolSize > uint64(len(table)) {
					continue
				}
				if !yield(binary.LittleEndian.Uint64(r), cString(names, binary.LittleEndian.Uint32(table[at:]))) {
					return
				}
			}
		}
	}
}
