package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
)

// object is an ELF file: an executable, a library or a separate debug file.
type object struct {
	*mapping
	file     *elf.File
	buildID  []byte
	inflated map[string][]byte // sections that were unpacked
	unpacked uint64            // bytes in inflated
}

var (
	err32Bit     = errors.New("a 32-bit program; mallow knows those of 64 bits")
	errBigEndian = errors.New("a big-endian program; mallow knows little-endian ones")
)

func openObject(path string) (*object, error) {
	m, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	o, err := newObject(m)
	if err != nil {
		m.close()
		return nil, err
	}
	return o, nil
}

func newObject(m *mapping) (*object, error) {
	file, err := elf.NewFile(bytes.NewReader(m.data))
	if err != nil {
		return nil, err
	}
	switch {
	case file.Class != elf.ELFCLASS64:
		return nil, err32Bit
	case file.Data != elf.ELFDATA2LSB:
		return nil, errBigEndian
	}
	o := &object{mapping: m, file: file, inflated: map[string][]byte{}}
	o.buildID = o.readBuildID()
	return o, nil
}

func (o *object) section(name string) *elf.Section { return o.file.Section(name) }

// raw returns the bytes of a section as they are in the file, nil if it has none.
func (o *object) raw(s *elf.Section) []byte {
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil
	}
	return o.window(s.Offset, s.FileSize)
}

func (o *object) window(off, size uint64) []byte {
	if off > uint64(len(o.data)) || size > uint64(len(o.data))-off {
		return nil
	}
	return o.data[off : off+size]
}

const noteBuildID = 3

// readBuildID looks into the note segments, which stay when sections are
// stripped, and then into the note sections, which debug files have.
func (o *object) readBuildID() []byte {
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_NOTE {
			if id := buildIDNote(o.window(p.Off, p.Filesz), p.Align); id != nil {
				return id
			}
		}
	}
	for _, s := range o.file.Sections {
		if s.Type == elf.SHT_NOTE {
			if id := buildIDNote(o.raw(s), s.Addralign); id != nil {
				return id
			}
		}
	}
	return nil
}

func buildIDNote(notes []byte, align uint64) []byte {
	if align != 8 {
		align = 4
	}
	for len(notes) >= 12 {
		nameSize := uint64(binary.LittleEndian.Uint32(notes))
		descSize := uint64(binary.LittleEndian.Uint32(notes[4:]))
		kind := binary.LittleEndian.Uint32(notes[8:])
		desc := 12 + roundUp(nameSize, align)
		next := desc + roundUp(descSize, align)
		if desc+descSize > uint64(len(notes)) {
			return nil
		}
		if kind == noteBuildID && nameSize == 4 && string(notes[12:16]) == "GNU\x00" && descSize > 0 {
			return bytes.Clone(notes[desc : desc+descSize])
		}
		if next >= uint64(len(notes)) {
			return nil
		}
		notes = notes[next:]
	}
	return nil
}

func roundUp(n, align uint64) uint64 { return (n + align - 1) &^ (align - 1) }
