package doctor

import (
	"bytes"
	"debug/elf"
)

// The types of the note that libmallow leaves in what it is linked into; see
// libmallow/record/note.h.
const (
	noteOfRecorder = 1
	noteOfMinimal  = 2
)

// noteType is the type of libmallow's note in the object, 0 where there is none.
func noteType(object *elf.File) uint32 {
	const mostBytes = 1 << 16
	for _, segment := range object.Progs {
		if segment.Type != elf.PT_NOTE || segment.Filesz > mostBytes {
			continue
		}
		notes := make([]byte, segment.Filesz)
		if _, err := segment.ReadAt(notes, 0); err != nil {
			continue
		}
		for len(notes) > 12 {
			name, content := uint64(object.ByteOrder.Uint32(notes)), uint64(object.ByteOrder.Uint32(notes[4:]))
			if bytes.HasPrefix(notes[12:], []byte("mallow\x00")) && name == 7 {
				return object.ByteOrder.Uint32(notes[8:])
			}
			next := 12 + (name+3)/4*4 + (content+3)/4*4
			if next > uint64(len(notes)) {
				break
			}
			notes = notes[next:]
		}
	}
	return 0
}
