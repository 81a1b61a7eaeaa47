package debuginfo

import (
	"slices"
	"sort"
)

// addrRange is [start, end).
type addrRange struct{ start, end uint64 }

func (r addrRange) contains(addr uint64) bool { return r.start <= addr && addr < r.end }

func contains(ranges []addrRange, addr uint64) bool {
	for _, r := range ranges {
		if r.contains(addr) {
			return true
		}
	}
	return false
}

// live tells whether a range is code that the linker kept: linkers write 0, -1
// or -2 for the start of what they dropped.
func (r addrRange) live() bool {
	return r.start != 0 && r.start < r.end && r.start < ^uint64(0)-1
}

// entryRanges returns where the code of an entry is, from its DW_AT_low_pc,
// DW_AT_high_pc and DW_AT_ranges.
func (u *unit) entryRanges(low, high, ranges value) []addrRange {
	if ranges.present() {
		return u.rangeList(ranges)
	}
	start, ok := u.address(low)
	if !ok || !high.present() {
		return nil
	}
	end, ok := u.address(high)
	if !ok {
		end = start + high.u
	}
	if r := (addrRange{start, end}); r.live() {
		return []addrRange{r}
	}
	return nil
}

func (u *unit) rangeList(v value) []addrRange {
	if u.version >= 5 {
		return u.rangeListV5(v)
	}
	off := v.u
	home := u
	if u.skeleton != nil {
		home = u.skeleton
		off += home.gnuRangesBase
	}
	return u.rangeListV4(home.data.s.Ranges, off, home.lowPC)
}

func (u *unit) rangeListV4(section []byte, off, base uint64) []addrRange {
	var list []addrRange
	c := cursorAt(section, off)
	escape := ^uint64(0) >> (64 - 8*uint(u.addrSize))
	for u.data.spend(16) {
		start, end := c.fixed(u.addrSize), c.fixed(u.addrSize)
		switch {
		case c.bad, start == 0 && end == 0:
			return list
		case start == escape:
			base = end
		default:
			// 1 and 1 is how a linker marks a range that it dropped.
			if r := (addrRange{base + start, base + end}); r.live() {
				list = append(list, r)
			}
		}
	}
	return list
}

func (u *unit) rangeListV5(v value) []addrRange {
	section, off := u.data.s.RngLists, v.u
	if v.form == formRnglistx {
		base := u.rngListsBase
		if base == 0 {
			base = 12 // a split unit's list stands behind the header
			if u.dwarf64 {
				base = 20
			}
		}
		size := uint64(u.offsetSize())
		if v.u > uint64(len(section))/size {
			return nil
		}
		c := cursorAt(section, base+v.u*size)
		off = base + c.offset(u.dwarf64)
		if c.bad {
			return nil
		}
	}
	var list []addrRange
	c := cursorAt(section, off)
	base := u.home().lowPC
	for u.data.spend(16) {
		var r addrRange
		known := true
		switch kind := c.u8(); kind {
		case rleEndOfList:
			return list
		case rleBaseAddressx:
			base, _ = u.addressAt(c.uleb())
			continue
		case rleStartxEndx:
			r.start, known = u.addressAt(c.uleb())
			r.end, _ = u.addressAt(c.uleb())
		case rleStartxLength:
			r.start, known = u.addressAt(c.uleb())
			r.end = r.start + c.uleb()
		case rleOffsetPair:
			r.start = base + c.uleb()
			r.end = base + c.uleb()
			known = base < ^uint64(0)-1 // else the linker dropped it
		case rleBaseAddress:
			base = c.fixed(u.addrSize)
			continue
		case rleStartEnd:
			r.start = c.fixed(u.addrSize)
			r.end = c.fixed(u.addrSize)
		case rleStartLength:
			r.start = c.fixed(u.addrSize)
			r.end = r.start + c.uleb()
		default:
			return list
		}
		if c.bad {
			return list
		}
		if known && r.live() {
			list = append(list, r)
		}
	}
	return list
}

// rangeIndex finds what covers an address when ranges may overlap or nest.
type rangeIndex struct {
	items  []indexedRange
	maxEnd []uint64 // greatest end among items[:i+1]
}

type indexedRange struct {
	addrRange
	item int32
}

func (x *rangeIndex) add(ranges []addrRange, item int) {
	for _, r := range ranges {
		x.items = append(x.items, indexedRange{r, int32(item)})
	}
}

// seal orders the index; it must be called once, before find. Of items that
// start at one address, functions of equal code that the linker made one
// (--icf), the first that was added is found first.
func (x *rangeIndex) seal() {
	slices.Reverse(x.items)
	sort.SliceStable(x.items, func(i, j int) bool { return x.items[i].start < x.items[j].start })
	x.maxEnd = make([]uint64, len(x.items))
	var most uint64
	for i, r := range x.items {
		most = max(most, r.end)
		x.maxEnd[i] = most
	}
}

// find calls visit for the items that cover addr, the latest start first,
// until it returns true.
func (x *rangeIndex) find(addr uint64, visit func(item int) bool) {
	i := sort.Search(len(x.items), func(i int) bool { return x.items[i].start > addr })
	for i--; i >= 0 && x.maxEnd[i] > addr; i-- {
		if x.items[i].end > addr && visit(int(x.items[i].item)) {
			return
		}
	}
}
