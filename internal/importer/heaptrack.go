package importer

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"mallow/internal/recording"
	"mallow/internal/recording/recorder"
)

// heaptrack reads what heaptrack 1.0 to 1.5 writes: lines that begin with a
// letter, numbers in base 16, strings and stacks before they are referred to.
// It tells of every allocation and release in order, but neither their
// addresses nor their threads, and no function but malloc and operator new.
type heaptrack struct {
	target  *target
	version uint64
	strings []string
	points  []point
	traces  []trace
	kinds   []blockKind
	live    int
	command string
	joined  bool
	ms      uint64
}

// point is an instruction, with what was inlined there.
type point struct {
	frames   []recorder.Frame // innermost first
	function recording.Function
}

// trace is a stack: a point, called from within another stack.
type trace struct {
	node     uint32             // in the image, without operator new
	function recording.Function // that was called there
	libc     bool
}

// blockKind are the blocks of a size and a stack, which heaptrack does not
// tell apart: the one that was made last is taken for the one that is released.
type blockKind struct {
	size  uint64
	trace uint32
	stack *recorder.Stack
	live  []recorder.Birth
}

const (
	newestHeaptrack = 3
	mostStrings     = 1 << 28 // bytes
	mostLive        = 1 << 24 // blocks at a time
)

func isHeaptrack(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("v "))
	if !ok {
		return false
	}
	c := hexReader{text: rest}
	_, ok = c.next()
	return ok
}

func readHeaptrack(s *source, t *target, r *Result) error {
	h := &heaptrack{target: t, traces: make([]trace, 1)}
	stacks := make(map[stackOfTrace]*recorder.Stack)
	room := mostStrings
	for line, ok := s.next(); ok; line, ok = s.next() {
		if s.cut {
			r.Notes = append(r.Notes, fmt.Sprintf("the file is cut off in line %d, which is left out", s.line))
			break
		}
		if len(line) == 0 {
			continue
		}
		c := hexReader{text: bytes.TrimPrefix(line[1:], []byte(" "))}
		var err error
		switch line[0] {
		case 'v':
			err = h.readVersion(s, line, &c)
		case 'X':
			h.command = string(c.text)
		case 's':
			room -= len(line) + 16
			err = h.readString(s, line, &c, room)
		case 'i':
			err = h.readPoint(s, line, &c)
		case 't':
			err = h.readTrace(s, line, &c)
		case 'a':
			err = h.readKind(s, line, &c, stacks)
		case '+':
			err = h.allocate(s, line, &c)
		case '-':
			err = h.release(s, line, &c)
		case 'c':
			if h.ms, ok = c.next(); !ok {
				err = s.wrong("a time, in ms and base 16, after c", line)
			}
			t.process.At(uint32(min(h.ms, 1<<32-1)))
		case 'A':
			h.joined = true
		case 'I', 'R', 'S', '#': // pages, what was resident, suppressions, comments
		case 'm', 'x':
			err = s.wrong("a file with symbols, not a raw one: heaptrack --interpret makes one of it", line)
		default:
			err = s.wrong("a line of heaptrack, which begins with one of v X I s i t a + - c R A S #", line)
		}
		if err != nil {
			return err
		}
	}
	if s.cause != nil {
		return s.cause
	}
	h.finish(r)
	return nil
}

func (h *heaptrack) readVersion(s *source, line []byte, c *hexReader) error {
	c.next()
	h.version, _ = c.next()
	if h.version > newestHeaptrack {
		return s.wrong(fmt.Sprintf("version %d of heaptrack's format at the most", newestHeaptrack), line)
	}
	if h.version == 0 {
		return s.wrong("version 1 to 3 of heaptrack's format: older ones are of 2016", line)
	}
	return nil
}

// readString takes a string: since version 3 its length stands before it.
func (h *heaptrack) readString(s *source, line []byte, c *hexReader, room int) error {
	text := c.text
	if h.version >= 3 {
		length, ok := c.next()
		if text = bytes.TrimPrefix(c.text, []byte(" ")); !ok || uint64(len(text)) != length {
			return s.wrong("a length in base 16 and a string so long after s", line)
		}
	}
	if room < 0 {
		return s.wrong(fmt.Sprintf("no more than %d bytes of strings in all", mostStrings), line)
	}
	h.strings = append(h.strings, string(text))
	return nil
}

// text returns a string by its number, from 1; "" for 0.
func (h *heaptrack) text(index uint64) (string, bool) {
	if index > uint64(len(h.strings)) {
		return "", false
	}
	if index == 0 {
		return "", true
	}
	return h.strings[index-1], true
}

// readPoint takes an address, its module, and functions with their files and
// lines, the innermost first; none where there are no symbols.
func (h *heaptrack) readPoint(s *source, line []byte, c *hexReader) error {
	address, ok1 := c.next()
	index, ok2 := c.next()
	module, ok3 := h.text(index)
	if !ok1 || !ok2 || !ok3 {
		return s.wrong("an address and the number of a string after i", line)
	}
	im := h.target.image
	p := point{}
	for function, more := c.next(); more; function, more = c.next() {
		file, hasFile := c.next()
		number, _ := c.next()
		name, ok1 := h.text(function)
		path, ok2 := h.text(file)
		if !ok1 || !ok2 {
			return s.wrong("numbers of strings that there are", line)
		}
		if !hasFile {
			path, number = "", 0
		}
		if len(p.frames) == 0 {
			p.function = newFunction(name)
		}
		if name == "" {
			name = unnamed(module, address)
		}
		p.frames = append(p.frames, im.Symbolic(name, path, module, uint32(min(number, 1<<31))))
	}
	if len(p.frames) == 0 {
		p.frames = []recorder.Frame{im.Symbolic(unnamed(module, address), "", module, 0)}
	}
	if len(h.points) >= mostNodes {
		return s.wrong(fmt.Sprintf("no more than %d addresses", mostNodes), line)
	}
	h.points = append(h.points, p)
	return nil
}

// unnamed is the name of a function that has none: where its code lay.
func unnamed(module string, address uint64) string {
	if module == "" {
		return fmt.Sprintf("0x%x", address)
	}
	return fmt.Sprintf("%s@0x%x", filepath.Base(module), address)
}

// newFunction tells operator new and its kin from other functions.
func newFunction(name string) recording.Function {
	rest, is := strings.CutPrefix(name, "operator new")
	if !is {
		return 0
	}
	array := strings.HasPrefix(rest, "[](")
	aligned, nothrow := strings.Contains(rest, "std::align_val_t"), strings.Contains(rest, "std::nothrow_t")
	if !array && !strings.HasPrefix(rest, "(") {
		return 0
	}
	f := recording.New
	switch {
	case aligned && nothrow:
		f = recording.NewAlignedNothrow
	case aligned:
		f = recording.NewAligned
	case nothrow:
		f = recording.NewNothrow
	}
	if array {
		f++
	}
	return f
}

// readTrace takes a point and the trace that it was called from, 0 for none.
// Where operator new was called the stack ends before it, as in a recording of
// mallow's own.
func (h *heaptrack) readTrace(s *source, line []byte, c *hexReader) error {
	at, ok1 := c.next()
	outer, ok2 := c.next()
	if !ok1 || !ok2 || at == 0 || at > uint64(len(h.points)) || outer >= uint64(len(h.traces)) {
		return s.wrong("the number of an address and that of a trace before this one after t", line)
	}
	im := h.target.image
	if im.Nodes() >= mostNodes {
		return s.wrong(fmt.Sprintf("no more than %d frames of stacks", mostNodes), line)
	}
	p, parent := &h.points[at-1], h.traces[outer]
	next := trace{node: parent.node, function: p.function}
	if p.function == 0 || parent.node == 0 {
		for i := len(p.frames) - 1; i >= 0; i-- {
			next.node = im.Inside(next.node, p.frames[i])
		}
	} else if parent.function != 0 {
		next.function = parent.function // operator new[] that calls operator new
	}
	h.traces = append(h.traces, next)
	return nil
}

// stackOfTrace is what stacks are told apart by.
type stackOfTrace struct {
	node     uint32
	function recording.Function
}

// readKind takes a size and a trace.
func (h *heaptrack) readKind(s *source, line []byte, c *hexReader, stacks map[stackOfTrace]*recorder.Stack) error {
	size, ok1 := c.next()
	at, ok2 := c.next()
	if !ok1 || !ok2 || at >= uint64(len(h.traces)) || size > mostSize {
		return s.wrong("a size and the number of a trace after a", line)
	}
	if len(h.kinds) >= mostNodes {
		return s.wrong(fmt.Sprintf("no more than %d kinds of blocks", mostNodes), line)
	}
	of := h.traces[at]
	key := stackOfTrace{of.node, max(of.function, recording.Malloc)}
	if stacks[key] == nil {
		if len(stacks) >= mostStacks {
			return s.wrong(fmt.Sprintf("no more than %d stacks", mostStacks), line)
		}
		stack := h.target.image.StackAt(key.node, key.function, false)
		stacks[key] = &stack
	}
	h.kinds = append(h.kinds, blockKind{size: size, trace: uint32(at), stack: stacks[key]})
	return nil
}

func (h *heaptrack) kind(c *hexReader) *blockKind {
	index, ok := c.next()
	if !ok || index >= uint64(len(h.kinds)) {
		return nil
	}
	return &h.kinds[index]
}

func (h *heaptrack) allocate(s *source, line []byte, c *hexReader) error {
	k := h.kind(c)
	if k == nil {
		return s.wrong("the number of an a line before this one after +", line)
	}
	if h.live >= mostLive {
		return s.wrong(fmt.Sprintf("no more than %d blocks at a time", mostLive), line)
	}
	h.live++
	b := h.target.thread.Alloc(*k.stack, k.size)
	k.live = append(k.live, b.Birth())
	return nil
}

func (h *heaptrack) release(s *source, line []byte, c *hexReader) error {
	k := h.kind(c)
	if k == nil || len(k.live) == 0 {
		return s.wrong("the number of an a line of which a block lives after -", line)
	}
	h.live--
	last := len(k.live) - 1
	h.target.thread.Free(h.target.thread.Block(*k.stack, k.size, k.live[last]))
	k.live = k.live[:last]
	return nil
}

func (h *heaptrack) finish(r *Result) {
	t := h.target
	if h.command != "" {
		t.meta.Command = strings.Fields(h.command)
		if len(t.meta.Command) > 0 {
			t.image.Executable = t.meta.Command[0]
		}
	}
	r.Notes = append(r.Notes, "imported from heaptrack, which tells neither threads nor addresses nor who releases a block: of blocks of one size and stack the last one made is taken for the one released, and calloc, realloc and others are mallocs")
	if h.joined {
		r.Notes = append(r.Notes, "heaptrack was attached to a process that ran already: what it had allocated before is not in the recording")
	}
}

// hexReader reads numbers in base 16 between blanks.
type hexReader struct{ text []byte }

func (c *hexReader) next() (uint64, bool) {
	text := bytes.TrimLeft(c.text, " ")
	end := bytes.IndexByte(text, ' ')
	if end < 0 {
		end = len(text)
	}
	if end == 0 || end > 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[:end]), 16, 64)
	if err != nil {
		return 0, false
	}
	c.text = text[end:]
	return n, true
}
