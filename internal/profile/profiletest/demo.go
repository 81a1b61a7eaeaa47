// Package profiletest names the functions of the made-up program whose
// recordings lie in format/testdata/handmade.
package profiletest

import (
	"fmt"
	"path/filepath"
	"sync"

	"mallow/internal/symbolize"
)

// Symbols is a Symbolizer that knows what it was told.
type Symbols struct {
	Asked map[string]int // how often each address, as "path+0x10", was asked for

	mu    sync.Mutex
	known map[string]map[uint64][]symbolize.Frame // by path
}

// Frames returns what is known, and for other addresses module and address.
func (s *Symbols) Frames(m symbolize.Module, addrs []uint64) [][]symbolize.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	frames := make([][]symbolize.Frame, len(addrs))
	for i, addr := range addrs {
		s.Asked[fmt.Sprintf("%s+%#x", m.Path, addr)]++
		frames[i] = s.known[m.Path][addr]
		if frames[i] == nil {
			frames[i] = []symbolize.Frame{{Function: fmt.Sprintf("%s+%#x", filepath.Base(m.Path), addr)}}
		}
	}
	return frames
}

// HasLines tells whether any line of m is known.
func (s *Symbols) HasLines(m symbolize.Module) bool { return s.known[m.Path] != nil }

// Warnings returns none.
func (s *Symbols) Warnings() []string { return nil }

// Demo returns the symbols of the program.
func Demo() *Symbols {
	one := func(function, file string, line int) []symbolize.Frame {
		return []symbolize.Frame{{Function: function, File: file, Line: line}}
	}
	return &Symbols{
		Asked: make(map[string]int),
		known: map[string]map[uint64][]symbolize.Frame{
			"/opt/demo/bin/demo": {
				0x1024: one("_start", "", 0),
				0x117f: one("main", "demo.c", 10),
				0x120f: { // push_back was inlined into collect
					{Function: "std::vector<int>::push_back(int&&)", File: "stl_vector.h", Line: 1, Inlined: true},
					{Function: "collect", File: "demo.c", Line: 20, Inlined: true},
					{Function: "run", File: "demo.c", Line: 30},
				},
				0x121f: one("xcalloc", "xmalloc.c", 5),
				0x122f: one("main", "demo.c", 11),
				0x123f: one("main", "demo.c", 12),
				0x1247: one("main", "demo.c", 12),
				0x124f: one("main", "demo.c", 12),
				0x125f: one("main", "demo.c", 12),
				0x126f: one("main", "demo.c", 13),
				0x150f: one("serve", "server.c", 7),
			},
			"/opt/mallow/libmallow.so": {
				0x100: one("mallow::api::RecordedMalloc(unsigned long)", "", 0),
				0x200: one("mallow::heap::AllocateSlow(unsigned long)", "", 0),
				0x300: one("free", "", 0),
			},
			"/opt/demo/lib/libtable.so.1": {
				0x200f: one("strdup_checked", "table.c", 4),
				0x201f: one("Table::insert(char const*)", "table.cc", 40),
			},
		},
	}
}
