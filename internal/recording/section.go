package recording

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

var le = binary.LittleEndian

// section is one entry of the section table with everything cut to what the
// file can hold: offset + used*item never lies beyond the end of the file.
type section struct {
	kind   sectionKind
	offset int64
	used   int64 // items
	item   int64 // bytes of one item
	stored int64 // bytes in the file, of a compressed section; 0 of another
}

func (s section) bytes() int64 { return s.used * s.item }

// parseSection checks an entry of the table against the size of the file.
// missing is the number of items that the entry claims and the file lacks.
func parseSection(entry []byte, fileSize int64) (s section, missing uint64, err error) {
	s.kind = sectionKind(le.Uint32(entry[0:]))
	item := le.Uint32(entry[4:])
	offset := le.Uint64(entry[8:])
	reserved := le.Uint64(entry[16:])
	used := le.Uint64(entry[24:])
	stored := le.Uint64(entry[32:])

	if want, known := itemBytes[s.kind]; known && item != want {
		return s, 0, fmt.Errorf("items of %d bytes, not %d", item, want)
	}
	if item == 0 {
		return s, 0, fmt.Errorf("items of 0 bytes")
	}
	if offset%headerBytes != 0 || offset < headerBytes {
		return s, 0, fmt.Errorf("offset %d", offset)
	}
	s.item = int64(item)
	room := reserved
	switch {
	case offset >= uint64(fileSize):
		room = 0
	case room > uint64(fileSize)-offset:
		room = uint64(fileSize) - offset
	}
	if stored > 0 {
		stored = min(stored, room)
		s.stored, room = int64(stored), stored*mostRatio
		if stored == 0 {
			return s, used, nil
		}
	}
	fit := min(used, room/uint64(item))
	s.offset, s.used = int64(offset), int64(fit)
	return s, used - fit, nil
}

// readAhead calls take with the first items of a section, chunk by chunk. A
// compressed one is unpacked while the chunks before are taken.
func (s section) readAhead(r io.ReaderAt, items int64, take func(chunk []byte)) error {
	from, end, err := s.reader(r)
	if err != nil {
		return err
	}
	defer end()
	left := items * s.item
	if s.stored == 0 || left <= chunkBytes {
		buffer := make([]byte, min(chunkBytes, left))
		for ; left > 0; left -= int64(len(buffer)) {
			buffer = buffer[:min(chunkBytes, left)]
			if _, err := io.ReadFull(from, buffer); err != nil {
				return err
			}
			take(buffer)
		}
		return nil
	}
	const ahead = 4
	free, full := make(chan []byte, ahead), make(chan []byte, ahead)
	for range ahead {
		free <- make([]byte, chunkBytes)
	}
	go func() {
		defer close(full)
		for ; left > 0 && err == nil; left -= chunkBytes {
			chunk := (<-free)[:min(chunkBytes, left)]
			if _, err = io.ReadFull(from, chunk); err == nil {
				full <- chunk
			}
		}
	}()
	for chunk := range full {
		take(chunk)
		free <- chunk[:chunkBytes]
	}
	return err
}

// chunkBytes is the unit in which sections are read; a multiple of the size
// of every item, and of a page.
const chunkBytes = 1 << 18

// readDense calls take with the used part of a section, chunk by chunk, each
// chunk a whole number of items. Files are sparse: their sizes say nothing
// about what they hold. Sections read by readDense are written without gaps,
// so a chunk of zeros means that the rest was never written; reading ends
// there, and time and memory stay linear in what the file really holds. It
// returns the number of items taken.
func readDense(r io.ReaderAt, s section, take func(chunk []byte)) (int64, error) {
	from, end, err := s.reader(r)
	if err != nil {
		return 0, err
	}
	defer end()
	buffer := make([]byte, min(chunkBytes, s.bytes()))
	var done int64
	for done < s.bytes() {
		chunk := buffer[:min(int64(len(buffer)), s.bytes()-done)]
		if _, err := io.ReadFull(from, chunk); err != nil {
			return done / s.item, err
		}
		if len(chunk) == chunkBytes && allZero(chunk) {
			break
		}
		take(chunk)
		done += int64(len(chunk))
	}
	return done / s.item, nil
}

// dense returns how many of a section's bytes readDense would take.
func dense(b []byte) int {
	for at := 0; at+chunkBytes <= len(b); at += chunkBytes {
		if allZero(b[at:][:chunkBytes]) {
			return at
		}
	}
	return len(b)
}

func allZero(b []byte) bool {
	for len(b) >= 8 {
		if le.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// roomAtOnce are the items that room believes a file to have before they are
// seen.
const roomAtOnce = 1 << 20

// room makes room in list for n more of at most used items: for all of them if
// they are few, else by doubling, so that a file that only claims many items
// costs little memory.
func room[T any](list []T, n int, used int64) []T {
	if cap(list)-len(list) >= n {
		return list
	}
	more := min(used-int64(len(list)), max(roomAtOnce, int64(len(list))))
	return slices.Grow(list, max(n, int(more)))
}
