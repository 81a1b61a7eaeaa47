package debuginfo

import "encoding/binary"

// cursor reads little-endian numbers from a section. A read beyond the end
// yields zero and sets bad; loops must stop on bad.
type cursor struct {
	data []byte
	off  int
	bad  bool
}

func cursorAt(data []byte, off uint64) cursor {
	if off > uint64(len(data)) {
		return cursor{data: data, off: len(data), bad: true}
	}
	return cursor{data: data, off: int(off)}
}

// take returns the next n bytes, or nil when there are fewer.
func (c *cursor) take(n uint64) []byte {
	if c.bad || n > uint64(len(c.data)-c.off) {
		c.bad = true
		return nil
	}
	b := c.data[c.off : c.off+int(n)]
	c.off += int(n)
	return b
}

func (c *cursor) skip(n uint64) { c.take(n) }

func (c *cursor) u8() uint8 {
	if c.off >= len(c.data) {
		c.bad = true
		return 0
	}
	v := c.data[c.off]
	c.off++
	return v
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u24() uint32 {
	if b := c.take(3); b != nil {
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// fixed reads a number of size bytes; sizes other than 1, 2, 4 and 8 are bad.
func (c *cursor) fixed(size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	case 8:
		return c.u64()
	}
	c.bad = true
	return 0
}

// offset reads a section offset: 4 bytes, or 8 in 64-bit DWARF.
func (c *cursor) offset(dwarf64 bool) uint64 {
	if dwarf64 {
		return c.u64()
	}
	return uint64(c.u32())
}

// length reads the initial length of a unit and tells whether it is 64-bit DWARF.
func (c *cursor) length() (n uint64, dwarf64 bool) {
	v := c.u32()
	switch {
	case v == 0xffffffff:
		return c.u64(), true
	case v >= 0xfffffff0:
		c.bad = true
	}
	return uint64(v), false
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 || c.bad {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		b := c.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b < 0x80 || c.bad {
			if shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// cstring reads up to a terminating zero, which it consumes.
func (c *cursor) cstring() []byte {
	for i := c.off; i < len(c.data); i++ {
		if c.data[i] == 0 {
			b := c.data[c.off:i]
			c.off = i + 1
			return b
		}
	}
	c.bad = true
	return nil
}

// stringAt returns the zero-terminated string at off, "" when there is none.
func stringAt(section []byte, off uint64) string {
	c := cursorAt(section, off)
	return string(c.cstring())
}
