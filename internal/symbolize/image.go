package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"mallow/internal/symbolize/debuginfo"
	"mallow/internal/symbolize/debuginfod"
)

// image is what is known of one module: its file, where that is still the one
// that ran, and its separate debug file.
type image struct {
	mu     sync.Mutex
	module Module
	opened bool
	file   *object            // nil when gone or replaced
	debug  *object            // the separate debug file, nil without
	alt    *object            // the file that dwz moved shared entries of debug or file to
	splits map[string]*object // files of split units by path, nil for those that are not there

	info     *debuginfo.Data // nil without DWARF
	infoRead bool
	mini     *object // unpacked from the file, nil without
	miniRead bool
	unwind   *unwindIndex
	covered  []codeRange // by .debug_frame

	coveredRead bool

	frames map[uint64][]Frame
	names  readableNames

	missingSplit string // a file of a split unit that was not found

	brought  []moduleNames // of the recordings themselves
	cached   *moduleNames  // kept from an earlier run, nil without
	fresh    bool          // it has names that are not in the cache
	damaged  bool
	warnings []string
}

func newImage(m Module) *image {
	return &image{module: m, frames: map[uint64][]Frame{}, names: readableNames{}}
}

// recall takes the frames of addrs from names that were kept and returns the
// addresses that are not in there.
func (img *image) recall(addrs []uint64, kept *moduleNames) []uint64 {
	if kept == nil {
		return addrs
	}
	var missing []uint64
	for _, addr := range addrs {
		if frames, ok := kept.table.find(addr); ok {
			img.frames[addr] = frames
		} else {
			missing = append(missing, addr)
		}
	}
	return missing
}

const deletedSuffix = " (deleted)"

// open finds the files of img.module, and what is kept of them, at the first
// call.
func (s *Symbolizer) open(img *image) {
	if img.opened {
		return
	}
	img.opened = true
	absence := ""
	s.guard(img, func() { absence = s.openFiles(img) })
	img.cached = s.cache.find(img)
	switch {
	case absence == "":
	case img.cached != nil:
		s.warn(img, "%s; its functions are named as they were when mallow last saw it", absence)
	default:
		s.warn(img, "%s; its functions are named only as far as debug files know them", absence)
	}
}

// openFiles returns why the file of the module is not used, "" if it is.
func (s *Symbolizer) openFiles(img *image) (absence string) {
	m := img.module
	path := strings.TrimSuffix(m.Path, deletedSuffix)
	if m.isVdso() {
		img.file = m.ownVdso()
		return ""
	}
	if !strings.HasPrefix(path, "/") {
		return "" // generated code, or a name from another tool
	}
	file, err := openObject(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		absence = "no longer at " + path
	case err != nil:
		absence = fmt.Sprintf("cannot be read (%v)", cause(err))
	case !m.sameFile(file):
		absence = "the file changed since the recording" + m.buildIDs(file)
		file.close()
	default:
		img.file = file
	}
	if absence != "" {
		img.file = s.fetched(img, m.BuildID, debuginfod.Executable)
	}
	s.openDebug(img, path)
	if img.file != nil {
		absence = ""
	}
	return absence
}

// buildIDs tells two versions of a file apart, as far as they have ids.
func (m Module) buildIDs(o *object) string {
	switch {
	case len(m.BuildID) == 0:
		return ""
	case len(o.buildID) == 0:
		return fmt.Sprintf(" (build id %s then, none now)", shortID(m.BuildID))
	}
	return fmt.Sprintf(" (build id %s then, %s now)", shortID(m.BuildID), shortID(o.buildID))
}

func shortID(id []byte) string { return hex.EncodeToString(id[:min(len(id), 6)]) }

// cause drops the operation and the path from a file error.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// sameFile tells whether o is the file that was mapped. The build id decides
// when the recording has one; else size and time do. What lies at the path of a
// deleted file is another one unless its build id says otherwise.
func (m Module) sameFile(o *object) bool {
	if len(m.BuildID) > 0 {
		return bytes.Equal(m.BuildID, o.buildID)
	}
	if strings.HasSuffix(m.Path, deletedSuffix) {
		return false
	}
	if m.Size != 0 && m.Size != uint64(o.info.Size()) {
		return false
	}
	return m.ModTimeNs == 0 || m.ModTimeNs == uint64(o.info.ModTime().UnixNano())
}

func (img *image) close() {
	img.mu.Lock()
	defer img.mu.Unlock()
	for _, o := range append(slices.Collect(maps.Values(img.splits)), img.file, img.debug, img.alt) {
		if o != nil {
			o.close()
		}
	}
	img.file, img.debug, img.alt, img.splits = nil, nil, nil, nil
	img.info, img.infoRead = nil, true
	img.mini, img.unwind = nil, nil
}

// debugInfo returns the DWARF of the image, reading its units at the first call.
func (img *image) debugInfo() *debuginfo.Data {
	if img.infoRead {
		return img.info
	}
	img.infoRead = true
	var alt *debuginfo.Data
	if img.alt != nil {
		alt = debuginfo.New(img.alt.debugSections(""), nil, nil)
	}
	for _, o := range []*object{img.file, img.debug} {
		if o != nil && o.hasDebugInfo() {
			img.info = debuginfo.New(o.debugSections(""), alt, img.findSplit)
			break
		}
	}
	return img.info
}

func (o *object) hasDebugInfo() bool {
	for _, name := range []string{".debug_info", ".zdebug_info"} {
		if s := o.section(name); s != nil && s.Type != elf.SHT_NOBITS {
			return true
		}
	}
	return false
}

func (img *image) hasLines() bool {
	if img.cached != nil && !img.infoRead {
		return img.cached.Lines
	}
	info := img.debugInfo()
	return info != nil && info.HasLines()
}

// unanswered returns those of addrs that were not asked before, sorted.
func (img *image) unanswered(addrs []uint64) []uint64 {
	var missing []uint64
	for _, addr := range addrs {
		if _, ok := img.frames[addr]; !ok {
			missing = append(missing, addr)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// answer finds the frames of sorted addresses: from DWARF first, then the
// outermost function from the symbol tables where DWARF has no linkage name.
func (img *image) answer(addrs []uint64) {
	for _, addr := range addrs {
		img.frames[addr] = []Frame{{Function: placeholder(img.module, addr)}}
	}
	starts := img.unwindStarts(addrs)
	symbols := img.symbols(addrs, starts)
	stubs := img.stubs(addrs)
	found := img.lookUp(addrs)
	inlined := img.inlinedSymbols(found)
	for i, addr := range addrs {
		frames := img.convert(found[i], symbols[i], inlined)
		if len(frames) == 0 {
			frames = []Frame{{}}
		}
		if last := &frames[len(frames)-1]; last.Function == "" {
			switch {
			case len(symbols[i].name) > 0:
				last.Function = img.names.of(symbols[i].text())
			case stubs[addr] != "":
				last.Function = img.names.of(stubs[addr]) + "@plt"
			case starts[i] != 0:
				last.Function = placeholder(img.module, starts[i])
			default:
				last.Function = placeholder(img.module, addr)
			}
		}
		img.frames[addr] = frames
	}
}

// lookUp asks the DWARF, and makes the names readable that it found.
func (img *image) lookUp(addrs []uint64) [][]debuginfo.Frame {
	found := make([][]debuginfo.Frame, len(addrs))
	info := img.debugInfo()
	if info == nil {
		return found
	}
	var names []string
	for i, addr := range addrs {
		found[i] = info.Frames(addr)
		for _, f := range found[i] {
			if f.Function.Linkage {
				names = append(names, f.Function.Text)
			}
		}
	}
	img.names.prepare(names)
	return found
}

// inlinedSymbols finds the symbols of functions that were inlined and have code
// of their own as well, by where that begins.
func (img *image) inlinedSymbols(found [][]debuginfo.Frame) map[uint64]symbol {
	var codes []uint64
	for _, frames := range found {
		for _, f := range frames {
			if f.Code != 0 {
				codes = append(codes, f.Code)
			}
		}
	}
	if codes == nil {
		return nil
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	of := make(map[uint64]symbol, len(codes))
	for i, s := range img.symbols(codes, img.unwindStarts(codes)) {
		of[codes[i]] = s
	}
	return of
}

// convert makes names readable: s is the symbol of the outermost function,
// inlined are those of the others. A function has the same name everywhere.
func (img *image) convert(found []debuginfo.Frame, s symbol, inlined map[uint64]symbol) []Frame {
	frames := make([]Frame, len(found))
	for i, f := range found {
		name := f.Function.Text
		switch {
		case f.Function.Linkage:
			name = img.names.of(name)
		case name == "":
		case !f.Inlined:
			name = img.withSymbol(name, s)
		case f.Code != 0:
			name = img.withSymbol(name, inlined[f.Code])
		}
		frames[i] = Frame{Function: name, File: f.File, Line: f.Line, Inlined: f.Inlined}
	}
	return frames
}

// withSymbol chooses between the plain name of DWARF and the symbol for the same
// code: a mangled symbol says more, and a public one is what callers write
// where the library's own name is internal (fopen for _IO_new_fopen).
func (img *image) withSymbol(name string, s symbol) string {
	if len(s.name) == 0 {
		return name
	}
	internal := s.name[0] == '_'
	full := img.names.of(s.text())
	if internal && full != s.text() || !internal && s.bind != elf.STB_LOCAL && name[0] == '_' {
		return full
	}
	return name
}

// miniDebug unpacks the symbol table of a stripped file, if it brings one and
// there is no better.
func (img *image) miniDebug() *object {
	if img.file == nil || img.debug != nil || img.miniRead {
		return img.mini
	}
	img.miniRead = true
	img.mini = img.file.minidebug()
	return img.mini
}

func (img *image) unwindStarts(addrs []uint64) []uint64 {
	starts := make([]uint64, len(addrs))
	if img.file != nil && img.unwind == nil {
		img.unwind = img.file.unwindIndex()
	}
	for i, addr := range addrs {
		if img.unwind != nil {
			if r, ok := img.unwind.find(addr); ok {
				starts[i] = r.start
				continue
			}
		}
		if r, ok := findRange(img.debugFrames(), addr); ok {
			starts[i] = r.start
		}
	}
	return starts
}

// debugFrames returns what .debug_frame covers, of the first file that has it.
func (img *image) debugFrames() []codeRange {
	if !img.coveredRead {
		img.coveredRead = true
		for _, o := range []*object{img.file, img.debug} {
			if o != nil && len(img.covered) == 0 {
				img.covered = o.debugFrames()
			}
		}
	}
	return img.covered
}

func (img *image) symbols(addrs, starts []uint64) []symbol {
	l := newLookup(addrs, starts)
	for _, o := range []*object{img.file, img.debug, img.miniDebug()} {
		if o != nil {
			o.symbols(elf.SHT_SYMTAB, l)
			o.symbols(elf.SHT_DYNSYM, l)
		}
	}
	return l.found
}

// warnAbout says what the files of m lack.
func (s *Symbolizer) warnAbout(img *image) {
	if img.missingSplit != "" {
		s.warn(img, "the split debug file %q is not there; inlined functions are missing", img.missingSplit)
	}
	if img.info != nil && img.info.Exhausted() {
		s.noteDamage(img)
	}
	if img.file == nil || img.module.isVdso() || img.hasLines() {
		return
	}
	if link, _ := img.file.debugLink(); link != "" && img.debug == nil {
		s.warn(img, "its debug file is not installed; shown by function, without lines")
		return
	}
	if img.debug == nil && img.miniDebug() == nil && !img.file.hasSymbolTable() {
		s.warn(img, "stripped; only what it exports is shown by function, without lines")
		return
	}
	s.warn(img, "built without -g; shown by function, without lines")
}
