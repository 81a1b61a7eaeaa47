package debuginfo

import "encoding/binary"

// With -gsplit-dwarf the linked file keeps a skeleton of each unit (where its
// code is, its lines, its table of addresses); the functions are in a .dwo file
// of their own, or with others in a .dwp package.

// SplitUnit says where the rest of a unit was put.
type SplitUnit struct {
	Name    string // of the .dwo file, as the compiler wrote it
	CompDir string
	ID      uint64
}

// SplitFinder returns the sections (without the suffix .dwo) of a split unit;
// ok is false when they are not found.
type SplitFinder func(SplitUnit) (s Sections, ok bool)

// body returns the unit that holds the functions: of a skeleton the split unit
// if it was found, else the unit itself.
func (u *unit) body() *unit {
	if u.dwoName == "" || u.data.findSplit == nil {
		return u
	}
	if u.split == nil {
		u.split = u.openSplit()
	}
	return u.split
}

func (u *unit) openSplit() *unit {
	s, ok := u.data.findSplit(SplitUnit{Name: u.dwoName, CompDir: u.compDir, ID: u.dwoID})
	if !ok {
		return u
	}
	d := newData(s, nil)
	d.readUnits()
	for _, split := range d.units {
		split.skeleton = u
		if split.readRoot() && split.tag == tagCompileUnit && split.dwoID == u.dwoID {
			return split
		}
	}
	return u
}

// Package narrows the sections of a .dwp file to one unit. index is its
// .debug_cu_index.
func (s Sections) Package(index []byte, id uint64) (Sections, bool) {
	p, ok := readPackage(index)
	if !ok {
		return s, false
	}
	row, ok := p.row(id)
	if !ok {
		return s, false
	}
	for column := range p.columns {
		off, size := p.contribution(row, column)
		switch p.section(column) {
		case packageInfo:
			s.Info = window(s.Info, off, size)
		case packageAbbrev:
			s.Abbrev = window(s.Abbrev, off, size)
		case packageStrOffsets:
			s.StrOffsets = window(s.StrOffsets, off, size)
		case packageRngLists:
			if p.version == 5 {
				s.RngLists = window(s.RngLists, off, size)
			}
		}
	}
	return s, true
}

func window(b []byte, off, size uint32) []byte {
	if uint64(off)+uint64(size) > uint64(len(b)) {
		return nil
	}
	return b[off : off+size]
}

const (
	packageInfo       = 1
	packageAbbrev     = 3
	packageStrOffsets = 6
	packageRngLists   = 8 // in version 2 a macro section
)

// unitPackage is the index of a package: a hash table from unit ids to rows,
// and for each row where its part of each section is.
type unitPackage struct {
	version              uint32
	columns, rows, slots uint32
	ids                  []byte // of slots u64
	indices              []byte // of slots u32, row + 1
	sections             []byte // of columns u32
	offsets, sizes       []byte // of rows x columns u32
}

func readPackage(index []byte) (p unitPackage, ok bool) {
	c := cursor{data: index}
	p.version = c.u32() & 0xffff // version 5 has two bytes and two of padding
	p.columns, p.rows, p.slots = c.u32(), c.u32(), c.u32()
	p.ids = c.take(8 * uint64(p.slots))
	p.indices = c.take(4 * uint64(p.slots))
	p.sections = c.take(4 * uint64(p.columns))
	cells := uint64(p.columns) * uint64(p.rows)
	if cells > uint64(len(index)) {
		return p, false
	}
	p.offsets = c.take(4 * cells)
	p.sizes = c.take(4 * cells)
	return p, !c.bad && (p.version == 2 || p.version == 5)
}

func (p *unitPackage) row(id uint64) (row uint32, ok bool) {
	for slot := range p.slots {
		if binary.LittleEndian.Uint64(p.ids[8*slot:]) == id {
			row = binary.LittleEndian.Uint32(p.indices[4*slot:])
			return row - 1, row > 0 && row <= p.rows
		}
	}
	return 0, false
}

func (p *unitPackage) section(column uint32) uint32 {
	return binary.LittleEndian.Uint32(p.sections[4*column:])
}

func (p *unitPackage) contribution(row, column uint32) (off, size uint32) {
	cell := 4 * (uint64(row)*uint64(p.columns) + uint64(column))
	return binary.LittleEndian.Uint32(p.offsets[cell:]), binary.LittleEndian.Uint32(p.sizes[cell:])
}
