package debuginfo

import (
	"path"
	"sort"
)

// unit is one compilation unit. Of most units only the header and the root
// entry are ever read; the functions and the lines come when one of its
// addresses is asked for.
type unit struct {
	encoding
	data    *Data
	offset  int // of the header, in Info
	entries int // of the root entry
	end     int

	abbrevOffset uint64
	tag          tag
	language     uint64
	compDir      string
	lowPC        uint64
	stmtList     value
	ranges       []addrRange

	strOffsetsBase uint64
	addrBase       uint64
	rngListsBase   uint64
	gnuRangesBase  uint64

	dwoName  string
	dwoID    uint64
	skeleton *unit // of a split unit
	split    *unit // of a skeleton; itself when there is none

	table     *abbrevTable
	functions *functionIndex
	lines     *lineTable
	scopes    []scope
}

// home returns the unit in the linked file: the skeleton of a split unit.
func (u *unit) home() *unit {
	if u.skeleton != nil {
		return u.skeleton
	}
	return u
}

func (u *unit) abbrevs() *abbrevTable {
	if u.table == nil {
		u.table = u.data.abbrevs(u.abbrevOffset, u.encoding)
	}
	return u.table
}

// readUnits reads the headers and root entries of all units of Info.
func (d *Data) readUnits() {
	for off := 0; off < len(d.s.Info); {
		u, next := d.readHeader(off)
		if next <= off || !d.spend(64) {
			return
		}
		off = next
		if u != nil {
			d.units = append(d.units, u)
		}
	}
}

// readHeader reads the unit header at off. The unit is nil when its kind holds
// no code or is unknown; next is 0 when the section is damaged.
func (d *Data) readHeader(off int) (u *unit, next int) {
	c := cursorAt(d.s.Info, uint64(off))
	n, dwarf64 := c.length()
	if c.bad || n > uint64(len(d.s.Info)-c.off) {
		return nil, 0
	}
	u = &unit{data: d, offset: off, end: c.off + int(n)}
	next = u.end
	u.dwarf64 = dwarf64
	u.version = c.u16()
	kind := uint8(unitCompile)
	switch {
	case u.version >= 2 && u.version <= 4:
		u.abbrevOffset = c.offset(dwarf64)
		u.addrSize = c.u8()
	case u.version == 5:
		kind = c.u8()
		u.addrSize = c.u8()
		u.abbrevOffset = c.offset(dwarf64)
	default:
		return nil, next
	}
	switch kind {
	case unitCompile, unitPartial:
	case unitSkeleton, unitSplitCompile:
		u.dwoID = c.u64()
	default:
		return nil, next
	}
	if c.bad || c.off > u.end || u.addrSize != 8 && u.addrSize != 4 {
		return nil, next
	}
	u.entries = c.off
	return u, next
}

// readRoot reads the attributes of the root entry that say where the unit's
// code is and how the rest of the unit is to be read.
func (u *unit) readRoot() bool {
	d := u.data
	c := cursor{data: d.s.Info[:u.end], off: u.entries}
	a := d.rootAbbrev(u.abbrevOffset, u.encoding, c.uleb())
	if a == nil {
		return false
	}
	u.tag = a.tag
	if u.version >= 5 {
		// The tables of a split unit start behind their header unless a base is given.
		u.strOffsetsBase = 2 * uint64(u.offsetSize())
	}
	var compDir, dwoName, low, high, ranges value
	for _, s := range a.attrs {
		v := u.read(&c, s)
		switch s.name {
		case attrCompDir:
			compDir = v
		case attrDwoName, attrGnuDwoName:
			dwoName = v
		case attrGnuDwoID:
			u.dwoID = v.u
		case attrLanguage:
			u.language = v.u
		case attrStmtList:
			u.stmtList = v
		case attrLowPC:
			low = v
		case attrHighPC:
			high = v
		case attrRanges:
			ranges = v
		case attrStrOffsetsBase:
			u.strOffsetsBase = v.u
		case attrAddrBase, attrGnuAddrBase:
			u.addrBase = v.u
		case attrRngListsBase:
			u.rngListsBase = v.u
		case attrGnuRangesBase:
			u.gnuRangesBase = v.u
		}
	}
	if c.bad {
		return false
	}
	u.compDir = u.text(compDir)
	u.dwoName = u.text(dwoName)
	u.lowPC, _ = u.address(low)
	u.ranges = u.entryRanges(low, high, ranges)
	return true
}

// unitAt returns the unit that holds the entry at off, nil if none does.
func (d *Data) unitAt(off uint64) *unit {
	i := sort.Search(len(d.units), func(i int) bool { return uint64(d.units[i].end) > off })
	if i < len(d.units) && uint64(d.units[i].entries) <= off {
		return d.units[i]
	}
	return nil
}

// sourcePath joins the parts of a file name as far as they are relative.
func sourcePath(compDir, dir, file string) string {
	switch {
	case file == "":
		return ""
	case file[0] == '/':
	case dir != "" && dir[0] == '/':
		file = dir + "/" + file
	case compDir != "":
		file = compDir + "/" + dir + "/" + file
	case dir != "":
		file = dir + "/" + file
	}
	return path.Clean(file)
}
