package symbolize

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"sort"
)

// nameTable holds the frames of addresses of one module in the form in which
// they are kept: numbers in rows, texts once. format/recording.md specifies it.
type nameTable struct {
	addresses []byte // of u64, rising
	first     []byte // of u32: where the frames of each begin
	frames    []byte // of frameRow
	textEnds  []byte // of u32
	texts     []byte
	read      []string // the texts that were asked for
}

const (
	tableHead    = 16
	addressBytes = 8
	frameRow     = 16 // function, file, line, flags: u32 each

	flagInlined = 1
	flagLast    = 2 // the next row belongs to another address

	// mostInlined bounds the frames of one address: a damaged table must not
	// make each of its addresses stand for all its rows.
	mostInlined = 1024
)

var (
	errNotATable  = errors.New("damaged table of names")
	le            = binary.LittleEndian
	noFramesKnown = []Frame{{}}
)

// newNameTable checks all of b, so that look-ups need not. b must not change
// while the table is in use.
func newNameTable(b []byte) (*nameTable, error) {
	if len(b) < tableHead {
		return nil, errNotATable
	}
	addresses, frames := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
	texts, bytes := uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[12:]))
	if uint64(len(b)) != tableHead+addresses*(addressBytes+4)+frames*frameRow+texts*4+bytes {
		return nil, errNotATable
	}
	rest := b[tableHead:]
	take := func(n uint64) []byte {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	t := &nameTable{addresses: take(addresses * addressBytes), first: take(addresses * 4)}
	t.frames, t.textEnds, t.texts = take(frames*frameRow), take(texts*4), take(bytes)
	if !t.sound() {
		return nil, errNotATable
	}
	t.read = make([]string, texts)
	return t, nil
}

func (t *nameTable) len() int { return len(t.first) / 4 }

func (t *nameTable) address(i int) uint64 { return le.Uint64(t.addresses[i*addressBytes:]) }

// sound tells whether every number of the table is one of its own.
func (t *nameTable) sound() bool {
	var last uint64
	for i := range t.len() {
		addr := t.address(i)
		if i > 0 && addr <= last || le.Uint32(t.first[4*i:]) >= uint32(len(t.frames)/frameRow) {
			return false
		}
		last = addr
	}
	var end uint32
	for b := t.textEnds; len(b) > 0; b = b[4:] {
		next := le.Uint32(b)
		if next < end {
			return false
		}
		end = next
	}
	texts := uint32(len(t.textEnds) / 4)
	run := 0
	for b := t.frames; len(b) > 0; b = b[frameRow:] {
		if run++; run > mostInlined || le.Uint32(b) >= texts || le.Uint32(b[4:]) >= texts {
			return false
		}
		if le.Uint32(b[12:])&flagLast != 0 {
			run = 0
		}
	}
	return run == 0 && uint64(end) == uint64(len(t.texts))
}

// find returns the frames of an address.
func (t *nameTable) find(addr uint64) ([]Frame, bool) {
	i := sort.Search(t.len(), func(i int) bool { return t.address(i) >= addr })
	if i == t.len() || t.address(i) != addr {
		return nil, false
	}
	return t.framesAt(i), true
}

func (t *nameTable) framesAt(i int) []Frame {
	rows := t.frames[int(le.Uint32(t.first[4*i:]))*frameRow:]
	n := 1
	for le.Uint32(rows[(n-1)*frameRow+12:])&flagLast == 0 {
		n++
	}
	frames := make([]Frame, n)
	for k := range frames {
		row := rows[k*frameRow:]
		frames[k] = Frame{
			Function: t.text(le.Uint32(row)),
			File:     t.text(le.Uint32(row[4:])),
			Line:     int(le.Uint32(row[8:])),
			Inlined:  le.Uint32(row[12:])&flagInlined != 0,
		}
	}
	return frames
}

func (t *nameTable) text(i uint32) string {
	if t.read[i] == "" {
		var from uint32
		if i > 0 {
			from = le.Uint32(t.textEnds[4*(i-1):])
		}
		t.read[i] = string(t.texts[from:le.Uint32(t.textEnds[4*i:])])
	}
	return t.read[i]
}

// encodeNames writes the table of some addresses. Equal content gives equal
// bytes.
func encodeNames(named map[uint64][]Frame) []byte {
	addresses := slices.Sorted(maps.Keys(named))
	w := tableWriter{texts: map[string]uint32{}, chains: map[string]uint32{}}
	w.text("")
	first := make([]byte, 0, 4*len(addresses))
	for _, addr := range addresses {
		first = le.AppendUint32(first, w.chain(named[addr]))
	}
	b := make([]byte, 0, tableHead+len(addresses)*(addressBytes+4)+len(w.frames)+len(w.textEnds)+len(w.bytes))
	for _, n := range []int{len(addresses), len(w.frames) / frameRow, len(w.textEnds) / 4, len(w.bytes)} {
		b = le.AppendUint32(b, uint32(n))
	}
	for _, addr := range addresses {
		b = le.AppendUint64(b, addr)
	}
	b = append(b, first...)
	b = append(b, w.frames...)
	b = append(b, w.textEnds...)
	return append(b, w.bytes...)
}

type tableWriter struct {
	frames   []byte
	textEnds []byte
	bytes    []byte
	texts    map[string]uint32
	chains   map[string]uint32 // rows that were written, to where they are
}

func (w *tableWriter) text(s string) uint32 {
	i, ok := w.texts[s]
	if !ok {
		i = uint32(len(w.texts))
		w.texts[s] = i
		w.bytes = append(w.bytes, s...)
		w.textEnds = le.AppendUint32(w.textEnds, uint32(len(w.bytes)))
	}
	return i
}

func (w *tableWriter) chain(frames []Frame) uint32 {
	if len(frames) == 0 {
		frames = noFramesKnown
	}
	if len(frames) > mostInlined {
		frames = frames[:mostInlined]
	}
	rows := make([]byte, 0, len(frames)*frameRow)
	for i, f := range frames {
		var flags uint32
		if f.Inlined {
			flags |= flagInlined
		}
		if i == len(frames)-1 {
			flags |= flagLast
		}
		rows = le.AppendUint32(rows, w.text(f.Function))
		rows = le.AppendUint32(rows, w.text(f.File))
		rows = le.AppendUint32(rows, uint32(f.Line))
		rows = le.AppendUint32(rows, flags)
	}
	at, ok := w.chains[string(rows)]
	if !ok {
		at = uint32(len(w.frames) / frameRow)
		w.chains[string(rows)] = at
		w.frames = append(w.frames, rows...)
	}
	return at
}
