package debuginfo

// functionIndex holds where the functions of a unit are. The entries below a
// function are read when one of its addresses is asked for.
type functionIndex struct {
	functions []function
	index     rangeIndex
	copies    map[uint64]uint64 // where code begins, by the entry that it is an instance of; nil before it is asked for
}

type function struct {
	entry int    // offset of its entry in Info
	code  uint64 // where it begins
	tree  *inlineTree
}

// inlineTree holds the inlined calls of a function in the order of their
// entries: the subtree of node i is nodes[i+1:nodes[i].next].
type inlineTree struct {
	nodes []inlinedCall
}

type inlinedCall struct {
	ranges   []addrRange
	entry    int
	inFile   bool // callFile is known
	callFile uint64
	callLine uint64
	next     int
}

// nestsFunctions tells whether the entry of a class may hold functions with
// code: Rust puts methods there, and GCC the body of a lambda. In C it cannot.
func (u *unit) nestsFunctions() bool {
	switch u.language {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c: // C89, C, C99, C11, C17
		return false
	}
	return true
}

// stepsOver tells whether all entries below one of this tag can be left out.
func (u *unit) stepsOver(t tag) bool {
	switch t {
	case tagEnumerationType, tagSubroutineType, tagArrayType:
		return true
	case tagClassType, tagStructureType, tagUnionType, tagInterfaceType:
		return !u.nestsFunctions()
	}
	return false
}

// siblingOf reads the attributes of an entry for its DW_AT_sibling and leaves
// the cursor there; it must lie ahead, or a damaged file would loop.
func (u *unit) siblingOf(c *cursor, a *abbrev) (found bool) {
	target := 0
	for _, s := range a.attrs {
		if s.name != attrSibling {
			u.skipForm(c, s.form)
			continue
		}
		if ref, ok := u.reference(u.read(c, s)); ok && ref.data == u.data && ref.off < uint64(u.end) {
			target = int(ref.off)
		}
	}
	if target <= c.off {
		return false
	}
	c.off = target
	return true
}

func (u *unit) indexFunctions() *functionIndex {
	if u.functions != nil {
		return u.functions
	}
	x := &functionIndex{}
	u.functions = x
	table := u.abbrevs()
	c := cursor{data: u.data.s.Info[:u.end], off: u.entries}
	for depth := 0; c.off < u.end && !c.bad; {
		entry := c.off
		code := c.uleb()
		if code == 0 {
			if depth--; depth <= 0 {
				break
			}
			continue
		}
		a := table.get(code)
		if a == nil {
			break
		}
		switch {
		case a.tag == tagSubprogram && a.ranged:
			if ranges := u.readRanges(&c, a); len(ranges) > 0 {
				x.index.add(ranges, len(x.functions))
				x.functions = append(x.functions, function{entry: entry, code: ranges[0].start})
			}
		case a.sibling && a.children && u.stepsOver(a.tag):
			if u.siblingOf(&c, a) {
				continue
			}
		default:
			a.skip(&c, u.encoding)
		}
		if a.children {
			depth++
		} else if depth == 0 {
			break
		}
	}
	u.data.spend(c.off - u.entries)
	x.index.seal()
	return x
}

func (u *unit) readRanges(c *cursor, a *abbrev) []addrRange {
	var low, high, ranges value
	for _, s := range a.attrs {
		switch s.name {
		case attrLowPC:
			low = u.read(c, s)
		case attrHighPC:
			high = u.read(c, s)
		case attrRanges:
			ranges = u.read(c, s)
		default:
			u.skipForm(c, s.form)
		}
	}
	if c.bad {
		return nil
	}
	return u.entryRanges(low, high, ranges)
}

// functionAt returns the function of the unit that covers addr: of nested
// ones the innermost.
func (u *unit) functionAt(addr uint64) *function {
	x := u.indexFunctions()
	var f *function
	x.index.find(addr, func(item int) bool {
		f = &x.functions[item]
		return true
	})
	return f
}

// codeOf returns where the code of the function begins that was inlined at
// call, if the unit has it too; else 0. There the symbol table has its name.
func (u *unit) codeOf(call *inlinedCall) uint64 {
	if !u.scopedLanguage() { // without overloads the plain name says as much
		return 0
	}
	e, ok := entryRef{u.data, uint64(call.entry)}.functionEntry()
	if !ok || e.next.data != u.data {
		return 0
	}
	x := u.indexFunctions()
	if x.copies == nil {
		x.copies = make(map[uint64]uint64)
		for i := range x.functions {
			const entryBytes = 16 // about
			if !u.data.spend(entryBytes) {
				break
			}
			f := &x.functions[i]
			of, ok := entryRef{u.data, uint64(f.entry)}.functionEntry()
			if !ok || of.next.data != u.data {
				continue
			}
			if _, known := x.copies[of.next.off]; !known {
				x.copies[of.next.off] = f.code
			}
		}
	}
	return x.copies[e.next.off]
}

// inlined returns the inlined calls around addr, outermost first.
func (u *unit) inlined(f *function, addr uint64) []*inlinedCall {
	if f.tree == nil {
		f.tree = u.readInlineTree(f.entry)
	}
	var chain []*inlinedCall
	nodes := f.tree.nodes
	for i, end := 0, len(nodes); i < end; {
		n := &nodes[i]
		if contains(n.ranges, addr) {
			chain = append(chain, n)
			end = n.next
			i++
		} else {
			i = n.next
		}
	}
	return chain
}

func (u *unit) readInlineTree(entry int) *inlineTree {
	t := &inlineTree{}
	table := u.abbrevs()
	c := cursor{data: u.data.s.Info[:u.end], off: entry}
	const noNode = -1
	var open []int // the nodes of the entries that the cursor is within
	closeNode := func(node int) {
		if node != noNode {
			t.nodes[node].next = len(t.nodes)
		}
	}
	for c.off < u.end && !c.bad {
		at := c.off
		code := c.uleb()
		if code == 0 {
			if len(open) == 0 {
				break
			}
			closeNode(open[len(open)-1])
			open = open[:len(open)-1]
			if len(open) == 0 {
				break
			}
			continue
		}
		a := table.get(code)
		if a == nil {
			break
		}
		node := noNode
		if a.tag == tagInlinedSubroutine {
			node = len(t.nodes)
			t.nodes = append(t.nodes, u.readInlinedCall(&c, a, at))
		} else {
			a.skip(&c, u.encoding)
		}
		if a.children {
			open = append(open, node)
			continue
		}
		closeNode(node)
		if len(open) == 0 {
			break
		}
	}
	for i := len(open) - 1; i >= 0; i-- {
		closeNode(open[i])
	}
	u.data.spend(c.off - entry)
	return t
}

func (u *unit) readInlinedCall(c *cursor, a *abbrev, entry int) inlinedCall {
	n := inlinedCall{entry: entry}
	var low, high, ranges value
	for _, s := range a.attrs {
		switch s.name {
		case attrLowPC:
			low = u.read(c, s)
		case attrHighPC:
			high = u.read(c, s)
		case attrRanges:
			ranges = u.read(c, s)
		case attrCallFile:
			n.inFile, n.callFile = true, u.read(c, s).u
		case attrCallLine:
			n.callLine = u.read(c, s).u
		default:
			u.skipForm(c, s.form)
		}
	}
	if !c.bad {
		n.ranges = u.entryRanges(low, high, ranges)
	}
	return n
}
