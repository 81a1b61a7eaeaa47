package launch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// emptyLibrary returns a shared library for 32-bit x86 that does nothing. A
// 32-bit child would otherwise say on its stderr that ld.so cannot preload a
// 64-bit libmallow, and programs must not notice that they are recorded.
//
// It is one writable segment: header, program headers, dynamic section.
func emptyLibrary() []byte {
	const (
		headerBytes  = 52
		programBytes = 32
		symbolBytes  = 16
		entries      = 5
		entryBytes   = 8
		dynamicAt    = headerBytes + 3*programBytes
		symbolsAt    = dynamicAt + entries*entryBytes
		stringsAt    = symbolsAt + symbolBytes
		total        = stringsAt + 1
	)
	identity := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	parts := []any{
		elf.Header32{
			Ident: identity, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_386), Version: uint32(elf.EV_CURRENT),
			Phoff: headerBytes, Ehsize: headerBytes, Phentsize: programBytes, Phnum: 3,
		},
		elf.Prog32{Type: uint32(elf.PT_LOAD), Filesz: total, Memsz: total, Flags: uint32(elf.PF_R | elf.PF_W), Align: 4096},
		elf.Prog32{
			Type: uint32(elf.PT_DYNAMIC), Off: dynamicAt, Vaddr: dynamicAt, Paddr: dynamicAt,
			Filesz: entries * entryBytes, Memsz: entries * entryBytes, Flags: uint32(elf.PF_R | elf.PF_W), Align: 4,
		},
		// Without this one ld.so would make the program's stack executable.
		elf.Prog32{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W), Align: 16},
		elf.Dyn32{Tag: int32(elf.DT_STRTAB), Val: stringsAt},
		elf.Dyn32{Tag: int32(elf.DT_STRSZ), Val: 1},
		elf.Dyn32{Tag: int32(elf.DT_SYMTAB), Val: symbolsAt},
		elf.Dyn32{Tag: int32(elf.DT_SYMENT), Val: symbolBytes},
		elf.Dyn32{Tag: int32(elf.DT_NULL)},
		elf.Sym32{},
		byte(0),
	}
	var library bytes.Buffer
	for _, part := range parts {
		binary.Write(&library, binary.LittleEndian, part) // a Buffer takes everything
	}
	return library.Bytes()
}
