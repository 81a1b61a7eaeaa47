package debuginfo

// An abbreviation describes the attributes of a kind of entry. Because most
// entries are stepped over, each carries a program that skips its attributes,
// in which neighbouring forms of fixed size are one step.

type attrSpec struct {
	name     attr
	form     form
	implicit int64
}

type abbrev struct {
	tag      tag
	children bool
	ranged   bool // has DW_AT_low_pc or DW_AT_ranges
	sibling  bool // has DW_AT_sibling
	attrs    []attrSpec
	skips    []skipStep
}

// skipStep skips n bytes when form is zero, else one value of that form.
type skipStep struct {
	form form
	n    uint32
}

// encoding is what the size of a form depends on.
type encoding struct {
	version  uint16
	addrSize uint8
	dwarf64  bool
}

func (e encoding) offsetSize() uint32 {
	if e.dwarf64 {
		return 8
	}
	return 4
}

// fixedSize returns the size of a form that always takes the same room.
func (e encoding) fixedSize(f form) (size uint32, ok bool) {
	switch f {
	case formFlagPresent, formImplicitConst:
		return 0, true
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		return 1, true
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2, true
	case formStrx3, formAddrx3:
		return 3, true
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4, true
	case formData8, formRef8, formRefSup8, formRefSig8:
		return 8, true
	case formData16:
		return 16, true
	case formAddr:
		return uint32(e.addrSize), true
	case formRefAddr:
		if e.version <= 2 {
			return uint32(e.addrSize), true
		}
		return e.offsetSize(), true
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGnuRefAlt, formGnuStrpAlt:
		return e.offsetSize(), true
	}
	return 0, false
}

// skipForm steps over one value.
func (e encoding) skipForm(c *cursor, f form) {
	for f == formIndirect && !c.bad {
		f = form(c.uleb())
	}
	if n, ok := e.fixedSize(f); ok {
		c.skip(uint64(n))
		return
	}
	switch f {
	case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx,
		formGnuAddrIndex, formGnuStrIndex:
		for c.u8() >= 0x80 && !c.bad {
		}
	case formString:
		c.cstring()
	case formBlock1:
		c.skip(uint64(c.u8()))
	case formBlock2:
		c.skip(uint64(c.u16()))
	case formBlock4:
		c.skip(uint64(c.u32()))
	case formBlock, formExprloc:
		c.skip(c.uleb())
	default:
		c.bad = true
	}
}

func (a *abbrev) skip(c *cursor, e encoding) {
	for _, s := range a.skips {
		if s.form == 0 {
			c.skip(uint64(s.n))
		} else {
			e.skipForm(c, s.form)
		}
	}
}

func (a *abbrev) compile(e encoding) {
	for _, s := range a.attrs {
		switch s.name {
		case attrLowPC, attrRanges:
			a.ranged = true
		case attrSibling:
			a.sibling = true
		}
		n, ok := e.fixedSize(s.form)
		last := len(a.skips) - 1
		switch {
		case !ok:
			a.skips = append(a.skips, skipStep{form: s.form})
		case n == 0:
		case last >= 0 && a.skips[last].form == 0:
			a.skips[last].n += n
		default:
			a.skips = append(a.skips, skipStep{n: n})
		}
	}
}

// readAbbrev reads one declaration; ok is false at the end of the table.
func readAbbrev(c *cursor, e encoding) (code uint64, a abbrev, ok bool) {
	code = c.uleb()
	if code == 0 || c.bad {
		return 0, a, false
	}
	a.tag = tag(c.uleb())
	a.children = c.u8() != 0
	for !c.bad {
		s := attrSpec{name: attr(c.uleb()), form: form(c.uleb())}
		if s.form == formImplicitConst {
			s.implicit = c.sleb()
		}
		if s.name == 0 && s.form == 0 {
			break
		}
		a.attrs = append(a.attrs, s)
	}
	a.compile(e)
	return code, a, !c.bad
}

// abbrevTable finds abbreviations by code. Compilers number them from 1
// upwards, so the dense part nearly always holds all of them.
type abbrevTable struct {
	dense  []abbrev
	sparse map[uint64]*abbrev
}

func (t *abbrevTable) get(code uint64) *abbrev {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return t.sparse[code]
}

type abbrevKey struct {
	offset uint64
	encoding
}

// abbrevs returns the whole table of a unit.
func (d *Data) abbrevs(offset uint64, e encoding) *abbrevTable {
	key := abbrevKey{offset, e}
	if t := d.abbrevTables[key]; t != nil {
		return t
	}
	t := &abbrevTable{}
	d.abbrevTables[key] = t
	c := cursorAt(d.s.Abbrev, offset)
	for {
		from := c.off
		code, a, ok := readAbbrev(&c, e)
		if !ok || !d.spend(4*(c.off-from)) {
			return t
		}
		switch {
		case code == uint64(len(t.dense))+1:
			t.dense = append(t.dense, a)
		case t.get(code) == nil:
			if t.sparse == nil {
				t.sparse = map[uint64]*abbrev{}
			}
			t.sparse[code] = &a
		}
	}
}

// rootAbbrev reads only as far as the abbreviation of a unit's first entry,
// so that finding the units of an address does not read every table.
func (d *Data) rootAbbrev(offset uint64, e encoding, code uint64) *abbrev {
	c := cursorAt(d.s.Abbrev, offset)
	for {
		from := c.off
		got, a, ok := readAbbrev(&c, e)
		if !ok || !d.spend(4*(c.off-from)) {
			return nil
		}
		if got == code {
			return &a
		}
	}
}
