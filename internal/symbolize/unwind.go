package symbolize

import (
	"debug/elf"
	"encoding/binary"
	"sort"
)

// The unwind entries (.eh_frame) tell where code starts and ends even in a
// stripped file: every function that an exception or a backtrace may pass has
// one.

// codeRange is what one unwind entry covers, [start, end).
type codeRange struct{ start, end uint64 }

func (r codeRange) contains(addr uint64) bool { return r.start <= addr && addr < r.end }

// unwindIndex finds unwind entries of one file.
type unwindIndex struct {
	o       *object
	frames  section          // .eh_frame
	header  section          // .eh_frame_hdr, whose table is sorted
	table   []byte           // of the header: pairs of 4-byte offsets from its address
	scanned []codeRange      // when there is no such table
	codings map[uint64]uint8 // encoding of the addresses, by CIE
}

// section is bytes with the address where they are mapped.
type section struct {
	addr uint64
	data []byte
}

func (s section) at(addr uint64) []byte {
	if addr < s.addr || addr-s.addr >= uint64(len(s.data)) {
		return nil
	}
	return s.data[addr-s.addr:]
}

func (o *object) located(name string) section {
	if s := o.section(name); s != nil {
		return section{s.Addr, o.raw(s)}
	}
	return section{}
}

func (o *object) unwindIndex() *unwindIndex {
	x := &unwindIndex{o: o, codings: map[uint64]uint8{}}
	x.frames, x.header = o.located(".eh_frame"), o.located(".eh_frame_hdr")
	if x.frames.data == nil {
		x.findBySegments()
	}
	if x.readHeader(); x.table == nil {
		x.scan()
	}
	return x
}

// findBySegments serves files whose section table was removed.
func (x *unwindIndex) findBySegments() {
	for _, p := range x.o.file.Progs {
		if p.Type == elf.PT_GNU_EH_FRAME {
			x.header = section{p.Vaddr, x.o.window(p.Off, p.Filesz)}
		}
	}
	for _, p := range x.o.file.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr <= x.header.addr && x.header.addr < p.Vaddr+p.Filesz {
			x.frames = section{p.Vaddr, x.o.window(p.Off, p.Filesz)}
		}
	}
}

const (
	encodingOmit       = 0xff
	encodingSdata4     = 0x0b
	encodingPCRelative = 0x10
	encodingDataRel    = 0x30
	encodingIndirect   = 0x80
)

func (x *unwindIndex) readHeader() {
	h := x.header.data
	if len(h) < 12 || h[0] != 1 || h[2] != 0x03 || h[3] != encodingDataRel|encodingSdata4 {
		return
	}
	r := pointerReader{section: x.header, off: 4}
	r.read(h[1])
	count := uint64(binary.LittleEndian.Uint32(h[min(r.off, len(h)-4):]))
	table := h[min(r.off+4, len(h)):]
	if r.bad || count > uint64(len(table))/8 {
		return
	}
	x.table = table[:count*8]
}

// find returns the entry that covers addr.
func (x *unwindIndex) find(addr uint64) (codeRange, bool) {
	var r codeRange
	if x.table == nil {
		return findRange(x.scanned, addr)
	}
	i := sort.Search(len(x.table)/8, func(i int) bool { return x.tableAddr(8*i) > addr })
	if i == 0 {
		return r, false
	}
	var ok bool
	if r, _, ok = x.entry(x.tableAddr(8*(i-1) + 4)); !ok {
		return r, false
	}
	return r, r.contains(addr)
}

func (x *unwindIndex) tableAddr(off int) uint64 {
	return x.header.addr + uint64(int64(int32(binary.LittleEndian.Uint32(x.table[off:]))))
}

// scan reads all entries in order.
func (x *unwindIndex) scan() {
	addr := x.frames.addr
	for {
		r, next, ok := x.entry(addr)
		if ok {
			x.scanned = append(x.scanned, r)
		}
		if next <= addr {
			break
		}
		addr = next
	}
	sort.Slice(x.scanned, func(i, j int) bool { return x.scanned[i].start < x.scanned[j].start })
}

// entry reads the entry at addr. ok is false for a common entry (CIE) and for
// what cannot be read; next is 0 at the end.
func (x *unwindIndex) entry(addr uint64) (r codeRange, next uint64, ok bool) {
	b := x.frames.at(addr)
	if len(b) < 8 {
		return r, 0, false
	}
	length := uint64(binary.LittleEndian.Uint32(b))
	if length == 0 || length > uint64(len(b)-4) || length < 4 {
		return r, 0, false // 64-bit entries are written by no compiler
	}
	next = addr + 4 + length
	back := uint64(binary.LittleEndian.Uint32(b[4:]))
	if back == 0 {
		return r, next, false
	}
	coding, ok := x.coding(addr + 4 - back)
	if !ok || coding == encodingOmit || coding&encodingIndirect != 0 {
		return r, next, false
	}
	p := pointerReader{section: section{x.frames.addr, x.frames.data[:next-x.frames.addr]}, off: int(addr + 8 - x.frames.addr)}
	start := p.read(coding)
	size := p.read(coding & 0x0f)
	return codeRange{start, start + size}, next, !p.bad && size > 0
}

// coding returns how the entries of the common entry at addr encode addresses.
func (x *unwindIndex) coding(addr uint64) (uint8, bool) {
	if coding, ok := x.codings[addr]; ok {
		return coding, coding != encodingOmit
	}
	coding := x.readCoding(addr)
	x.codings[addr] = coding
	return coding, coding != encodingOmit
}

func (x *unwindIndex) readCoding(addr uint64) uint8 {
	b := x.frames.at(addr)
	if len(b) < 9 {
		return encodingOmit
	}
	augmentation := cString(b, 9)
	p := pointerReader{section: section{0, b}, off: 9 + len(augmentation) + 1}
	p.uleb() // code alignment
	p.uleb() // data alignment
	if b[8] == 1 {
		p.off++
	} else {
		p.uleb() // return address register
	}
	if len(augmentation) == 0 || augmentation[0] != 'z' {
		return 0
	}
	p.uleb() // size of the augmentation
	for _, what := range augmentation[1:] {
		switch what {
		case 'R':
			return p.u8()
		case 'L':
			p.off++
		case 'P':
			p.read(p.u8())
		case 'S', 'B':
		default:
			return encodingOmit
		}
	}
	return 0
}

// pointerReader reads the encoded addresses of unwind information.
type pointerReader struct {
	section
	off int
	bad bool
}

func (p *pointerReader) fixed(size int) uint64 {
	if p.off < 0 || p.off > len(p.data)-size {
		p.bad = true
		return 0
	}
	var b [8]byte
	copy(b[:], p.data[p.off:p.off+size])
	p.off += size
	return binary.LittleEndian.Uint64(b[:])
}

func (p *pointerReader) u8() uint8 { return uint8(p.fixed(1)) }

func (p *pointerReader) uleb() uint64 {
	var v uint64
	for shift := uint(0); !p.bad; shift += 7 {
		b := p.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			break
		}
	}
	return v
}

// read reads one address. Encodings that no compiler uses for code are bad.
func (p *pointerReader) read(coding uint8) uint64 {
	place := p.addr + uint64(p.off)
	var v uint64
	switch coding & 0x0f {
	case 0x00, 0x04, 0x0c:
		v = p.fixed(8)
	case 0x02:
		v = p.fixed(2)
	case 0x03:
		v = p.fixed(4)
	case 0x0a:
		v = uint64(int64(int16(p.fixed(2))))
	case encodingSdata4:
		v = uint64(int64(int32(p.fixed(4))))
	default:
		p.bad = true
	}
	switch coding & 0x70 {
	case 0:
	case encodingPCRelative:
		v += place
	default:
		p.bad = true
	}
	return v
}
