package debuginfo

// value is an attribute as it stands in the entry; what it means (a string, an
// address, a reference) is found by its form, with the bases of its unit.
type value struct {
	form form
	u    uint64
	text []byte // formString only
}

func (v value) present() bool { return v.form != 0 }

// read reads one attribute value.
func (u *unit) read(c *cursor, s attrSpec) value {
	f := s.form
	for f == formIndirect && !c.bad {
		f = form(c.uleb())
	}
	v := value{form: f}
	switch f {
	case formImplicitConst:
		v.u = uint64(s.implicit)
	case formFlagPresent:
		v.u = 1
	case formSdata:
		v.u = uint64(c.sleb())
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGnuAddrIndex, formGnuStrIndex:
		v.u = c.uleb()
	case formString:
		v.text = c.cstring()
	case formStrx3, formAddrx3:
		v.u = uint64(c.u24())
	case formData16:
		c.skip(16)
	default:
		if n, ok := u.fixedSize(f); ok {
			v.u = c.fixed(uint8(n))
		} else {
			u.skipForm(c, f)
		}
	}
	return v
}

// text resolves a string, "" when there is none.
func (u *unit) text(v value) string {
	d := u.data
	switch v.form {
	case formString:
		return string(v.text)
	case formStrp:
		return stringAt(d.s.Str, v.u)
	case formLineStrp:
		return stringAt(d.s.LineStr, v.u)
	case formStrpSup, formGnuStrpAlt:
		if d.alt != nil {
			return stringAt(d.alt.s.Str, v.u)
		}
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGnuStrIndex:
		size := uint64(u.offsetSize())
		if v.u > uint64(len(d.s.StrOffsets))/size {
			return ""
		}
		c := cursorAt(d.s.StrOffsets, u.strOffsetsBase+v.u*size)
		if off := c.offset(u.dwarf64); !c.bad {
			return stringAt(d.s.Str, off)
		}
	}
	return ""
}

// address resolves an address; ok is false when the value is not one.
func (u *unit) address(v value) (addr uint64, ok bool) {
	switch v.form {
	case formAddr:
		return v.u, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGnuAddrIndex:
		return u.addressAt(v.u)
	}
	return 0, false
}

// addressAt returns an entry of the address table of the unit (of its skeleton
// when it is split).
func (u *unit) addressAt(index uint64) (uint64, bool) {
	home := u.home()
	table := home.data.s.Addr
	if u.addrSize == 0 || index > uint64(len(table))/uint64(u.addrSize) {
		return 0, false
	}
	c := cursorAt(table, home.addrBase+index*uint64(u.addrSize))
	addr := c.fixed(u.addrSize)
	return addr, !c.bad
}

// entryRef names an entry of this or of the alternate file.
type entryRef struct {
	data *Data
	off  uint64
}

// reference resolves a reference to another entry.
func (u *unit) reference(v value) (ref entryRef, ok bool) {
	switch v.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		if v.u >= uint64(u.end-u.offset) {
			return ref, false
		}
		return entryRef{u.data, uint64(u.offset) + v.u}, true
	case formRefAddr:
		return entryRef{u.data, v.u}, true
	case formGnuRefAlt, formRefSup4, formRefSup8:
		return entryRef{u.data.alt, v.u}, u.data.alt != nil
	}
	return ref, false
}
