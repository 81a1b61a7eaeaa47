package symbolize

import (
	"debug/elf"
	"encoding/binary"
	"strings"
)

const (
	stubSize       = 16
	relocationSize = 24 // Elf64_Rela
)

// stubs names the addresses that are in the procedure linkage table, by the
// function that each stub jumps to. Only x86-64 stubs are understood.
func (img *image) stubs(addrs []uint64) map[uint64]string {
	o := img.file
	if o == nil || o.file.Machine != elf.EM_X86_64 {
		return nil
	}
	slots := map[uint64][]uint64{} // addresses by the slot through which their stub jumps
	for _, s := range o.file.Sections {
		if !strings.HasPrefix(s.Name, ".plt") || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		size := uint64(stubSize)
		if s.Name == ".plt.got" && s.Entsize == 8 {
			size = 8
		}
		code := section{s.Addr, o.raw(s)}
		for _, addr := range addrs {
			if addr >= s.Addr && addr-s.Addr < s.Size {
				stub := addr - (addr-s.Addr)%size
				if slot, ok := stubSlot(code.at(stub), stub, size); ok {
					slots[slot] = append(slots[slot], addr)
				}
			}
		}
	}
	if len(slots) == 0 {
		return nil
	}
	return o.slotNames(slots)
}

// stubSlot finds `jmp *slot(%rip)` in a stub, behind an endbr64 or bnd prefix.
func stubSlot(code []byte, addr, size uint64) (slot uint64, ok bool) {
	if uint64(len(code)) < size {
		return 0, false
	}
	for i := uint64(0); i+6 <= size; i++ {
		if code[i] == 0xff && code[i+1] == 0x25 {
			offset := int32(binary.LittleEndian.Uint32(code[i+2:]))
			return addr + i + 6 + uint64(int64(offset)), true
		}
	}
	return 0, false
}

// slotNames finds which symbols the dynamic linker puts into the slots.
func (o *object) slotNames(slots map[uint64][]uint64) map[uint64]string {
	named := map[uint64]string{}
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
			addrs := slots[binary.LittleEndian.Uint64(r)]
			at := uint64(binary.LittleEndian.Uint32(r[12:])) * symbolSize
			if len(addrs) == 0 || at+symbolSize > uint64(len(table)) {
				continue
			}
			for _, addr := range addrs {
				named[addr] = string(cString(names, binary.LittleEndian.Uint32(table[at:])))
			}
		}
	}
	return named
}
