package doctor

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// smallText is the size in bytes up to which a program's own code is about as much as what the compiler's start files
// bring along, partly without tables.
const smallText = 1024

// hasUnwindTables tells whether .eh_frame describes most of the code. The start files alone leave a section there in
// programs that are built without tables. What cannot be read counts as tables: stacks are then tried.
func hasUnwindTables(object *elf.File) bool {
	frames := object.Section(".eh_frame")
	if frames == nil || frames.Type == elf.SHT_NOBITS {
		return false
	}
	text := object.Section(".text")
	data, err := frames.Data()
	if text == nil || text.Size <= smallText || err != nil {
		return true
	}
	covered, readable := coveredBytes(data, object.ByteOrder)
	return !readable || covered >= text.Size/2
}

// coveredBytes adds up the lengths of the functions that an .eh_frame section describes. readable is false where their
// addresses are not stored in four bytes, as all linkers store them on the platforms that mallow knows, or it is damaged.
func coveredBytes(data []byte, order binary.ByteOrder) (covered uint64, readable bool) {
	const headerSize = 8 // length and the distance to the CIE, 0 in a CIE itself
	for len(data) >= headerSize {
		length := uint64(order.Uint32(data))
		if length == 0 {
			return covered, true
		}
		if length < 4 || length > uint64(len(data)-4) {
			return 0, false
		}
		entry := data[headerSize : 4+length]
		if order.Uint32(data[4:]) == 0 {
			if !bytes.HasPrefix(entry, []byte("\x01z")) || !storesFourBytes(entry) {
				return 0, false
			}
		} else {
			if len(entry) < 8 {
				return 0, false
			}
			covered += uint64(order.Uint32(entry[4:]))
		}
		data = data[4+length:]
	}
	return covered, true
}

// storesFourBytes reads a CIE behind its header: version, augmentation, two factors, the return address's register, the
// size of the augmentation's data, and those data, of which R is how addresses are stored.
func storesFourBytes(cie []byte) bool {
	const fourBytes, eightBytes, storage = 3, 4, 0x07
	augmentation, rest, found := bytes.Cut(cie[1:], []byte{0})
	for range 4 { // LEB128 numbers, none of which is needed
		end := slices.IndexFunc(rest, func(b byte) bool { return b < 0x80 })
		if !found || end < 0 {
			return false
		}
		rest = rest[end+1:]
	}
	for _, kind := range augmentation[1:] {
		if len(rest) == 0 {
			return false
		}
		switch kind {
		case 'R':
			return rest[0]&storage == fourBytes
		case 'L':
			rest = rest[1:]
		case 'P':
			size := 1 + 4
			if rest[0]&storage == eightBytes {
				size = 1 + 8
			}
			if len(rest) < size {
				return false
			}
			rest = rest[size:]
		case 'S', 'B':
		default:
			return false
		}
	}
	return false
}
