package debuginfo

import "sort"

// lineTable is the line program of one unit, run once.
type lineTable struct {
	files     []string
	sequences []lineSequence
}

// lineSequence is a run of rows with rising addresses.
type lineSequence struct {
	addrRange
	rows []lineRow
}

type lineRow struct {
	addr uint64
	file uint32
	line uint32
}

// lineProgram is the header of a line program and the state of its machine.
type lineProgram struct {
	version        uint16
	dwarf64        bool
	addrSize       uint8
	minInstruction uint64
	lineBase       int64
	lineRange      uint64
	opcodeBase     uint8
	opcodeLengths  []byte
	rows           []lineRow
	table          *lineTable
	addr           uint64
	file           uint64
	line           uint64
}

func (u *unit) lineTable() *lineTable {
	if u.lines != nil {
		return u.lines
	}
	u.lines = &lineTable{}
	if u.stmtList.present() {
		u.readLineTable()
	}
	return u.lines
}

func (u *unit) readLineTable() {
	section := u.data.s.Line
	c := cursorAt(section, u.stmtList.u)
	n, dwarf64 := c.length()
	if c.bad || n > uint64(len(section)-c.off) {
		return
	}
	c.data = section[:c.off+int(n)]
	from := c.off
	p := lineProgram{table: u.lines, dwarf64: dwarf64, addrSize: u.addrSize, version: c.u16()}
	if p.version < 2 || p.version > 5 {
		return
	}
	if p.version >= 5 {
		p.addrSize = c.u8()
		c.skip(1) // segment selector size
	}
	headerLength := c.offset(dwarf64)
	program := uint64(c.off) + headerLength
	p.minInstruction = uint64(c.u8())
	if p.version >= 4 {
		c.skip(1) // operations per instruction: 1 but on VLIW machines
	}
	c.skip(1) // default_is_stmt
	p.lineBase = int64(int8(c.u8()))
	p.lineRange = uint64(c.u8())
	p.opcodeBase = c.u8()
	if p.opcodeBase == 0 || p.lineRange == 0 || headerLength > n {
		return
	}
	p.opcodeLengths = c.take(uint64(p.opcodeBase) - 1)
	if p.version >= 5 {
		u.readFilesV5(&c, dwarf64)
	} else {
		u.readFilesV4(&c)
	}
	if c.bad {
		return
	}
	c = cursorAt(c.data, program)
	p.run(&c, u)
	u.data.spend(c.off - from)
	sort.SliceStable(p.table.sequences, func(i, j int) bool {
		return p.table.sequences[i].start < p.table.sequences[j].start
	})
}

// readFilesV4 reads the tables of versions 2 to 4: directory 0 is the
// compilation directory, file 0 is none.
func (u *unit) readFilesV4(c *cursor) {
	dirs := []string{""}
	for {
		dir := c.cstring()
		if len(dir) == 0 {
			break
		}
		dirs = append(dirs, string(dir))
	}
	u.lines.files = append(u.lines.files, "")
	for {
		name := c.cstring()
		if len(name) == 0 || !u.data.spend(16) {
			return
		}
		u.lines.addFile(u.compDir, dirs, c.uleb(), string(name))
		c.uleb() // modification time
		c.uleb() // size
	}
}

func (t *lineTable) addFile(compDir string, dirs []string, dir uint64, name string) {
	parent := ""
	if dir < uint64(len(dirs)) {
		parent = dirs[dir]
	}
	t.files = append(t.files, sourcePath(compDir, parent, name))
}

// readFilesV5 reads the tables of version 5, whose rows say their own format.
// Directory 0 is the compilation directory itself, which is relative where the
// compiler was told to leave out where it was (-ffile-prefix-map).
func (u *unit) readFilesV5(c *cursor, dwarf64 bool) {
	forms := *u
	forms.dwarf64 = dwarf64 // an assembler may write other lines than the compiler units
	var dirs []string
	forms.readEntriesV5(c, func(name string, _ uint64) { dirs = append(dirs, name) })
	compDir := u.compDir
	if len(dirs) > 0 && dirs[0] != "" {
		compDir, dirs[0] = dirs[0], ""
	}
	forms.readEntriesV5(c, func(name string, dir uint64) { u.lines.addFile(compDir, dirs, dir, name) })
}

func (u *unit) readEntriesV5(c *cursor, add func(name string, dir uint64)) {
	formats := make([]attrSpec, 0, 8)
	for range c.u8() {
		formats = append(formats, attrSpec{name: attr(c.uleb()), form: form(c.uleb())})
	}
	count := c.uleb()
	if len(formats) == 0 {
		return
	}
	for ; count > 0 && !c.bad && u.data.spend(16); count-- {
		from := c.off
		var name string
		var dir uint64
		for _, f := range formats {
			switch v := u.read(c, f); f.name {
			case lnctPath:
				name = u.text(v)
			case lnctDirectoryIndex:
				dir = v.u
			}
		}
		if c.off == from {
			return // rows without content, however many are claimed
		}
		add(name, dir)
	}
}

func (p *lineProgram) reset() {
	p.rows = nil
	p.addr, p.file, p.line = 0, 1, 1
}

func (p *lineProgram) emit() {
	row := lineRow{addr: p.addr, file: uint32(p.file), line: uint32(p.line)}
	// Of rows for one address the last one counts.
	if last := len(p.rows) - 1; last >= 0 && p.rows[last].addr == p.addr {
		p.rows[last] = row
		return
	}
	p.rows = append(p.rows, row)
}

// endSequence keeps the rows if their code was kept and their addresses rise,
// as the standard demands.
func (p *lineProgram) endSequence() {
	if len(p.rows) > 0 {
		r := addrRange{p.rows[0].addr, p.addr}
		rising := sort.SliceIsSorted(p.rows, func(i, j int) bool { return p.rows[i].addr < p.rows[j].addr })
		if r.live() && rising {
			p.table.sequences = append(p.table.sequences, lineSequence{r, p.rows})
		}
	}
	p.reset()
}

func (p *lineProgram) run(c *cursor, u *unit) {
	p.reset()
	for c.off < len(c.data) && !c.bad {
		op := c.u8()
		switch {
		case op >= p.opcodeBase:
			step := uint64(op - p.opcodeBase)
			p.addr += step / p.lineRange * p.minInstruction
			p.line += uint64(p.lineBase + int64(step%p.lineRange))
			p.emit()
		case op == 0:
			p.extended(c, u)
		default:
			p.standard(c, op)
		}
	}
}

func (p *lineProgram) standard(c *cursor, op uint8) {
	switch op {
	case lnsCopy:
		p.emit()
	case lnsAdvancePC:
		p.addr += c.uleb() * p.minInstruction
	case lnsAdvanceLine:
		p.line += uint64(c.sleb())
	case lnsSetFile:
		p.file = c.uleb()
	case lnsConstAddPC:
		p.addr += uint64(255-p.opcodeBase) / p.lineRange * p.minInstruction
	case lnsFixedAdvancePC:
		p.addr += uint64(c.u16())
	default:
		for range p.opcodeLengths[op-1] {
			c.uleb()
		}
	}
}

func (p *lineProgram) extended(c *cursor, u *unit) {
	b := c.take(c.uleb())
	if len(b) == 0 {
		return
	}
	args := cursor{data: b, off: 1}
	switch b[0] {
	case lneEndSequence:
		p.endSequence()
	case lneSetAddress:
		p.addr = args.fixed(uint8(min(len(b)-1, 255)))
	case lneDefineFile:
		name := string(args.cstring())
		p.table.addFile(u.compDir, nil, args.uleb(), name)
	}
}

// at returns the file and line of addr, "" and 0 when no row covers it.
func (t *lineTable) at(addr uint64) (file string, line int) {
	i := sort.Search(len(t.sequences), func(i int) bool { return t.sequences[i].start > addr }) - 1
	if i < 0 {
		return "", 0
	}
	for i > 0 && t.sequences[i-1].start == t.sequences[i].start {
		i-- // of functions that the linker made one the first, as in rangeIndex
	}
	// Others overlap only in damaged files, so the latest start decides.
	if !t.sequences[i].contains(addr) {
		return "", 0
	}
	rows := t.sequences[i].rows
	row := rows[sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr })-1]
	return t.file(uint64(row.file)), int(row.line)
}

func (t *lineTable) file(index uint64) string {
	if index < uint64(len(t.files)) {
		return t.files[index]
	}
	return ""
}
