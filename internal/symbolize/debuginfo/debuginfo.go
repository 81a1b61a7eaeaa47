package debuginfo

// Sections holds the debug sections of one file, decompressed; what the file
// does not have is nil. They are only read, and only while Data is in use.
type Sections struct {
	Info       []byte // .debug_info
	Abbrev     []byte // .debug_abbrev
	Line       []byte // .debug_line
	Str        []byte // .debug_str
	LineStr    []byte // .debug_line_str
	StrOffsets []byte // .debug_str_offsets
	Addr       []byte // .debug_addr
	Ranges     []byte // .debug_ranges
	RngLists   []byte // .debug_rnglists
}

// Frame is one function at an address. Line is 0 where it is unknown.
type Frame struct {
	Function Name
	File     string
	Line     int
	Inlined  bool // into the next frame
	// Code is where a function begins that was inlined here and has code of its
	// own; 0 where it has none, or a linkage name, which says as much.
	Code uint64
}

// Data answers from the debug information of one file. It is not safe for
// concurrent use.
type Data struct {
	s         Sections
	alt       *Data
	findSplit SplitFinder

	units []*unit    // by offset
	index rangeIndex // of units whose root says where their code is
	loose []*unit    // of the others that may hold code

	abbrevTables map[abbrevKey]*abbrevTable
	names        map[uint64]Name

	// budget is how much work, in bytes read, is left. Honest files need two or
	// three times their size; damaged ones could ask for its square.
	budget int
}

// New returns a reader of s. alt is the file that dwz moved shared entries to,
// or nil; findSplit is asked for split units when one of their addresses is
// looked up, and may be nil.
func New(s Sections, alt *Data, findSplit SplitFinder) *Data {
	d := newData(s, alt)
	d.findSplit = findSplit
	d.readUnits()
	for i, u := range d.units {
		switch {
		case !u.readRoot() || u.tag == tagPartialUnit:
		case len(u.ranges) > 0:
			d.index.add(u.ranges, i)
		case u.stmtList.present() || u.dwoName != "":
			d.loose = append(d.loose, u)
		}
	}
	d.index.seal()
	return d
}

func newData(s Sections, alt *Data) *Data {
	size := len(s.Info) + len(s.Abbrev) + len(s.Line) + len(s.Ranges) + len(s.RngLists)
	return &Data{
		s:            s,
		alt:          alt,
		abbrevTables: map[abbrevKey]*abbrevTable{},
		names:        map[uint64]Name{},
		budget:       8*size + 4<<20,
	}
}

// spend takes n from the budget and tells whether some is left.
func (d *Data) spend(n int) bool {
	d.budget -= n
	return d.budget > 0
}

// Exhausted tells that reading was given up because it took out of all
// proportion to the size of the file. What was answered before stands.
func (d *Data) Exhausted() bool { return d.budget <= 0 }

// HasLines tells whether any unit has a line table.
func (d *Data) HasLines() bool {
	for _, u := range d.units {
		if u.stmtList.present() {
			return true
		}
	}
	return false
}

// Frames returns the functions at addr, innermost first: those inlined there,
// then the one whose code it is. Without a known function there is one frame
// with file and line only; without these, none.
func (d *Data) Frames(addr uint64) []Frame {
	var frames []Frame
	d.index.find(addr, func(i int) bool {
		found := d.units[i].frames(addr)
		if len(frames) == 0 {
			frames = found
		}
		return len(found) > 0 && found[len(found)-1].Function.Text != ""
	})
	if len(frames) > 0 {
		return frames
	}
	for _, u := range d.loose {
		if frames = u.frames(addr); len(frames) > 0 {
			return frames
		}
	}
	return nil
}

func (u *unit) frames(addr uint64) []Frame {
	if u.data.Exhausted() {
		return nil
	}
	lines := u.lineTable()
	file, line := lines.at(addr)
	body := u.body()
	f := body.functionAt(addr)
	if f == nil {
		if file == "" {
			return nil
		}
		return []Frame{{File: file, Line: line}}
	}
	chain := body.inlined(f, addr)
	frames := make([]Frame, 0, len(chain)+1)
	for i := len(chain) - 1; i >= 0; i-- {
		call := chain[i]
		name := entryRef{body.data, uint64(call.entry)}.name()
		frame := Frame{Function: name, File: file, Line: line, Inlined: true}
		if !name.Linkage && name.Text != "" {
			frame.Code = body.codeOf(call)
		}
		frames = append(frames, frame)
		if line = int(uint32(call.callLine)); call.inFile {
			file = lines.file(call.callFile)
			continue
		}
		// Zig does not say the file: it is that in which the code around it begins.
		around := f.code
		if i > 0 {
			around = chain[i-1].ranges[0].start
		}
		file, _ = lines.at(around)
	}
	name := entryRef{body.data, uint64(f.entry)}.name()
	return append(frames, Frame{Function: name, File: file, Line: line})
}
