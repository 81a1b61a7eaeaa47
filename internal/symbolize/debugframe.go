package symbolize

import (
	"encoding/binary"
	"sort"
)

// Code that was built without .eh_frame may have its unwind entries in
// .debug_frame, of the file itself or of its debug file. They tell where
// functions start and end just as well.

// debugFrames returns what the entries of .debug_frame cover, sorted.
func (o *object) debugFrames() []codeRange {
	var ranges []codeRange
	for b := o.content(".debug_frame"); len(b) >= 8; {
		entry, next, wide := debugFrameEntry(b)
		if next == nil {
			break
		}
		b = next
		// The identifier of a common entry, which covers nothing, or where that lies.
		offset, common := 4, uint64(0xffffffff)
		if wide {
			offset, common = 8, ^uint64(0)
		}
		if len(entry) < offset+16 || readOffset(entry, wide) == common {
			continue
		}
		start, size := binary.LittleEndian.Uint64(entry[offset:]), binary.LittleEndian.Uint64(entry[offset+8:])
		if r := (codeRange{start, start + size}); start > 0 && r.end > start {
			ranges = append(ranges, r)
		}
	}
	sort.Slice(ranges, func(i, j int) bool { return ranges[i].start < ranges[j].start })
	return ranges
}

// debugFrameEntry splits off the first entry, without its length.
func debugFrameEntry(b []byte) (entry, rest []byte, wide bool) {
	n := uint64(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if wide = n == 0xffffffff; wide {
		if len(b) < 8 {
			return nil, nil, wide
		}
		n = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	if n > uint64(len(b)) {
		return nil, nil, wide
	}
	return b[:n], b[n:], wide
}

func readOffset(b []byte, wide bool) uint64 {
	if wide {
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

// findRange returns the one of sorted ranges that covers addr.
func findRange(ranges []codeRange, addr uint64) (r codeRange, ok bool) {
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].start > addr })
	if i == 0 {
		return r, false
	}
	return ranges[i-1], ranges[i-1].contains(addr)
}
