package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"github.com/klauspost/compress/zlib"
	"io"

	"github.com/klauspost/compress/zstd"

	"mallow/internal/symbolize/debuginfo"
)

// maxInflated bounds what the sections of one file may unpack to, and maxRatio
// by how much one may grow: a small file must not take all memory.
const (
	maxInflated = 2 << 30
	maxRatio    = 1032 // the most that deflate can reach
)

// content returns the bytes of a debug section, decompressed, nil if the file
// lacks it or it is damaged.
func (o *object) content(name string) []byte {
	s := o.section(name)
	if s != nil && s.Flags&elf.SHF_COMPRESSED == 0 {
		return o.raw(s)
	}
	old := o.section(".z" + name[1:])
	if s == nil && old == nil {
		return nil
	}
	if b, ok := o.inflated[name]; ok {
		return b
	}
	left := maxInflated - o.unpacked
	var b []byte
	if s != nil {
		b = inflateELF(o.raw(s), left)
	} else {
		b = inflateGNU(o.raw(old), left)
	}
	o.inflated[name] = b
	o.unpacked += uint64(len(b))
	return b
}

// inflateGNU unpacks a .zdebug section: "ZLIB", the size, big-endian, the data.
func inflateGNU(raw []byte, most uint64) []byte {
	if len(raw) < 12 || string(raw[:4]) != "ZLIB" {
		return nil
	}
	return inflateZlib(raw[12:], binary.BigEndian.Uint64(raw[4:]), most)
}

const (
	compressZlib = 1
	compressZstd = 2
)

// inflateELF unpacks an SHF_COMPRESSED section, which starts with an Elf64_Chdr.
func inflateELF(raw []byte, most uint64) []byte {
	if len(raw) < 24 {
		return nil
	}
	size := binary.LittleEndian.Uint64(raw[8:])
	switch binary.LittleEndian.Uint32(raw) {
	case compressZlib:
		return inflateZlib(raw[24:], size, most)
	case compressZstd:
		return inflateZstd(raw[24:], size, most)
	}
	return nil
}

func inflateZlib(packed []byte, size, most uint64) []byte {
	if size > most || size/maxRatio > uint64(len(packed)) {
		return nil
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	return readExactly(r, size)
}

func inflateZstd(packed []byte, size, most uint64) []byte {
	if size > most {
		return nil
	}
	r, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(maxInflated))
	if err != nil {
		return nil
	}
	defer r.Close()
	return readExactly(r, size)
}

// readExactly reads size bytes. It grows with what really comes, so that a
// false size costs nothing.
func readExactly(r io.Reader, size uint64) []byte {
	var b bytes.Buffer
	b.Grow(int(min(size, 16<<20)))
	n, err := io.Copy(&b, io.LimitReader(r, int64(size)))
	if err != nil || uint64(n) != size {
		return nil
	}
	return b.Bytes()
}

// debugSections gathers what package debuginfo reads. suffix is ".dwo" in
// files of split units.
func (o *object) debugSections(suffix string) debuginfo.Sections {
	return debuginfo.Sections{
		Info:       o.content(".debug_info" + suffix),
		Abbrev:     o.content(".debug_abbrev" + suffix),
		Line:       o.content(".debug_line" + suffix),
		Str:        o.content(".debug_str" + suffix),
		LineStr:    o.content(".debug_line_str" + suffix),
		StrOffsets: o.content(".debug_str_offsets" + suffix),
		Addr:       o.content(".debug_addr" + suffix),
		Ranges:     o.content(".debug_ranges" + suffix),
		RngLists:   o.content(".debug_rnglists" + suffix),
	}
}
