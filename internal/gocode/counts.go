package gocode

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Counts are the allocations of one process.
type Counts struct {
	PID     uint64
	Records []Record
	// Lost allocations found no room. Before are those that the runtime made
	// until counting began, a few dozen.
	Lost, Before uint64
	// Mallocs are what runtime.MemStats.Mallocs said when the program left, and
	// Counted what the records had at that moment; Checked tells whether it left
	// in a way that lets it say so.
	Checked          bool
	Mallocs, Counted uint64
	Collections      uint64 // cycles of the garbage collector
	PauseNs          uint64
	calls            []calls
	marks            []mark
	text, codeSize   uint64 // run-time address and bytes of the code
}

// Agrees tells whether every allocation that the runtime counted is in a
// record.
func (c *Counts) Agrees() bool {
	return c.Checked && c.Lost == 0 && c.Mallocs == c.Before+c.Counted
}

// Record are the allocations of one size and type with one call stack.
type Record struct {
	Allocs, Bytes uint64
	Size          uint64
	Type          string   // of the object, "" for memory without pointers that has none
	PCs           []uint64 // return addresses, the innermost first
	Cut           bool     // frames outwards of the last are missing
	benchmark     uint32   // that ran, by the number of its mark; 0 for none
	untimed       bool     // its timer stood still, or was reset afterwards
}

// mark is where a benchmark began, or, with the number 0, where one ended.
type mark struct {
	number      uint32
	name        string // with "Benchmark"
	collections uint64 // cycles of the garbage collector until then
	discarded   bool   // its timer was reset at the next mark
}

// markSize marks, as the size of a record, that it is a mark.
const markSize = ^uint64(0) - 1

const (
	countsMagic   = "MALLOWGO"
	countsVersion = 2
	headerBytes   = 128
	recordBytes   = 56
	mostFrames    = 128 // of a record
	untimedBit    = 1 << 31
)

var le = binary.LittleEndian

// readCounts reads the file of one process and trusts no number in it.
func readCounts(path string) (*Counts, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parseCounts(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return c, nil
}

func parseCounts(b []byte) (*Counts, error) {
	if len(b) < headerBytes || string(b[:8]) != countsMagic {
		return nil, fmt.Errorf("no counts of a Go program")
	}
	word := func(i int) uint64 { return le.Uint64(b[8*i:]) }
	if word(1) != countsVersion {
		return nil, fmt.Errorf("counts of version %d, this mallow reads %d", word(1), countsVersion)
	}
	c := &Counts{
		PID: word(2), Lost: word(4), Before: word(5), Checked: word(6) == 1,
		Mallocs: word(7), Counted: word(8), Collections: word(9), PauseNs: word(10), text: word(12), codeSize: word(13),
	}
	used := word(3)
	if used < headerBytes || used > uint64(len(b)) {
		return nil, fmt.Errorf("damaged: %d bytes of %d in use", used, len(b))
	}
	for rest := b[headerBytes:used]; len(rest) > 0; {
		if len(rest) < recordBytes {
			return nil, fmt.Errorf("damaged: a record is cut")
		}
		length := le.Uint64(rest)
		depth, typeLen := uint64(le.Uint16(rest[40:])), uint64(le.Uint16(rest[42:]))
		if length%8 != 0 || length > uint64(len(rest)) || depth > mostFrames || recordBytes+8*depth+typeLen > length {
			return nil, fmt.Errorf("damaged: a record of %d bytes with %d frames", length, depth)
		}
		r := Record{
			Allocs: le.Uint64(rest[16:]), Bytes: le.Uint64(rest[24:]), Size: le.Uint64(rest[32:]),
			Type: string(rest[recordBytes+8*depth:][:typeLen]), Cut: depth == mostFrames,
		}
		number := le.Uint32(rest[44:])
		r.benchmark, r.untimed = number&^untimedBit, number&untimedBit != 0
		for i := range depth {
			r.PCs = append(r.PCs, le.Uint64(rest[recordBytes+8*i:]))
		}
		switch r.Size {
		case callSize:
			c.calls = append(c.calls, calls{r.Allocs, r.Bytes, le.Uint64(rest[48:]), r.PCs})
		case markSize:
			c.marks = append(c.marks, mark{number: r.benchmark, name: r.Type, collections: r.Allocs})
		default:
			c.Records = append(c.Records, r)
		}
		rest = rest[length:]
	}
	c.discard()
	return c, nil
}

// discard finds what benchmarks allocated before they reset their timer: the
// next mark then has a number and no name.
func (c *Counts) discard() {
	discarded := make(map[uint32]bool)
	for i := 1; i < len(c.marks); i++ {
		before, now := &c.marks[i-1], &c.marks[i]
		if now.number != 0 && now.name == "" {
			now.name = before.name
			before.discarded, discarded[before.number] = true, true
		}
	}
	for i := range c.Records {
		r := &c.Records[i]
		r.untimed = r.untimed || discarded[r.benchmark]
	}
}

// readFolder reads the files of all processes, the first process first.
func readFolder(folder string, first int) ([]*Counts, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []*Counts
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".counts") {
			continue
		}
		c, err := readCounts(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b *Counts) int {
		switch {
		case a.PID == uint64(first):
			return -1
		case b.PID == uint64(first):
			return 1
		}
		return 0
	})
	return all, nil
}
