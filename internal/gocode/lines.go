package gocode

import (
	"cmp"
	"debug/elf"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mallow/internal/symbolize"
)

// Frame is a function at a line.
type Frame struct {
	Function string
	File     string // "" where it is not known
	Line     int
	Origin   Origin
}

// Line is a line of the program that allocates: the first frame of its stacks
// in the module that is measured; where there is none the first in another
// module, where there is none either the last of the standard library.
type Line struct {
	Frame
	// Callee is the function that the line calls and that allocates in the end:
	// one of another package or, for what the compiler writes itself, of the
	// runtime, such as "runtime.growslice".
	Callee string
	Type   string // of the objects, "" for none or several
	Allocs float64
	Bytes  float64
	C      bool    // memory of C: what Go counts has none of it
	Live   float64 // blocks of C that are never freed
	// LiveShared are such blocks of this line or of others that call the same.
	LiveShared float64
	Stacks     []Stack // the most frequent first
	Reason
}

// Stack is a call stack of a line, the innermost frame first. The frames of
// the runtime's allocator are left out.
type Stack struct {
	Frames []Frame
	Type   string
	Size   uint64
	Allocs float64
	Bytes  float64
	C      bool    // memory of C
	Live   float64 // blocks of C that are never freed
	// LiveShared are blocks of this caller or of others, Shared tells that the
	// figures are a part by the number of calls.
	LiveShared float64
	Shared     bool
	Untimed    bool // while the timer of a benchmark stood still, or before it was reset
}

// namer names the frames of one executable.
type namer struct {
	symbolizer *symbolize.Symbolizer
	module     symbolize.Module
	text       uint64 // of the file
	codeSize   uint64 // bytes, 0 where the file does not tell
	origins    origins
}

func newNamer(executable string, o origins) (*namer, error) {
	path, err := filepath.Abs(executable)
	if err != nil {
		return nil, err
	}
	n := &namer{symbolizer: symbolize.New(symbolize.Options{}), module: symbolize.Module{Path: path}, origins: o}
	if f, err := elf.Open(path); err == nil {
		n.text, n.codeSize = code(f)
		f.Close()
	}
	return n, nil
}

// code is where the runtime believes the code to begin, as the file has it, and
// how long it is.
func code(f *elf.File) (start, size uint64) {
	symbols, _ := f.Symbols()
	var end uint64
	for i := range symbols {
		switch symbols[i].Name {
		case "runtime.text":
			start = symbols[i].Value
		case "runtime.etext":
			end = symbols[i].Value
		}
	}
	if start != 0 && end > start {
		return start, end - start
	}
	if section := f.Section(".text"); section != nil {
		return section.Addr, 0
	}
	return 0, 0
}

// names tells whether the counts are of this executable, as far as can be
// told: a process may execute another program that counts, too.
func (n *namer) names(c *Counts) bool {
	return n.codeSize == 0 || c.codeSize == n.codeSize
}

func (n *namer) close() { n.symbolizer.Close() }

// bias is by how much addresses of the process are higher than those of the
// file.
func (n *namer) bias(c *Counts) uint64 {
	if n.text == 0 {
		return 0
	}
	return c.text - n.text
}

// stacks names those of the records.
func (n *namer) stacks(c *Counts) []Stack {
	bias := n.bias(c)
	pcs := make([][]uint64, len(c.Records))
	for i := range c.Records {
		pcs[i] = c.Records[i].PCs
	}
	named := n.frames(pcs, bias)
	stacks := make([]Stack, len(c.Records))
	for i := range c.Records {
		r := &c.Records[i]
		stacks[i] = Stack{Type: writtenType(r.Type), Size: r.Size, Allocs: float64(r.Allocs), Bytes: float64(r.Bytes), Untimed: r.untimed}
		for _, pc := range r.PCs {
			stacks[i].Frames = append(stacks[i].Frames, named[pc-1-bias]...)
		}
		stacks[i].Frames = withoutAllocator(stacks[i].Frames)
	}
	return stacks
}

// functionType is the type of a function value that has an object of its own.
const functionType = "func"

// writtenType names a type as the source does. It leaves out those by which the
// runtime puts numbers, strings and slices into interface values, for those of
// the program are not known to it.
func writtenType(name string) string {
	switch {
	case strings.HasPrefix(name, "runtime.") && strings.HasSuffix(name, "InterfacePtr"):
		return ""
	case strings.HasPrefix(name, "struct { F uintptr; "): // with what it refers to
		return functionType
	}
	return name
}

// frames names the addresses before those that stacks return to, less bias.
func (n *namer) frames(stacks [][]uint64, bias uint64) map[uint64][]Frame {
	var addrs []uint64
	named := make(map[uint64][]Frame)
	for _, pcs := range stacks {
		for _, pc := range pcs {
			addr := pc - 1 - bias
			if _, seen := named[addr]; !seen {
				named[addr] = nil
				addrs = append(addrs, addr)
			}
		}
	}
	for i, frames := range n.symbolizer.Frames(n.module, addrs) {
		for _, f := range frames {
			named[addrs[i]] = append(named[addrs[i]], Frame{f.Function, f.File, f.Line, n.origins.written(f.Function, f.File)})
		}
	}
	return named
}

const mallocgc = "runtime.mallocgc"

// allocates holds for the functions by which everything is allocated: mallocgc
// and, of some versions of Go, those for small sizes.
func allocates(function string) bool {
	rest, ok := strings.CutPrefix(function, mallocgc)
	return ok && (rest == "" || sized.MatchString(rest))
}

var sized = regexp.MustCompile(`^(Small|Tiny)\w*(SC|Size)[0-9]+$`)

// withoutAllocator leaves out what allocates and what only passes on to it,
// unless nothing else is there.
func withoutAllocator(frames []Frame) []Frame {
	inner := slices.IndexFunc(frames, func(f Frame) bool {
		switch f.Function {
		case "runtime.mallowCount", newObject, "runtime.rawstring", "runtime.rawbyteslice",
			"runtime.rawstringtmp", "runtime.rawruneslice", "runtime.newarray":
			return false
		}
		return !allocates(f.Function)
	})
	if inner <= 0 {
		return frames
	}
	if last := &frames[inner-1]; !strings.HasPrefix(frames[inner].Function, "runtime.") && last.Function != mallocgc {
		inner-- // what the compiler put there is what the line calls
		if allocates(last.Function) {
			last.Function = newObject // the compiler called what that would
		}
	}
	return frames[inner:]
}

const newObject = "runtime.newobject"

// OfRuntime tells whether the runtime allocated on its own account: for a
// goroutine of its own, for a thread, which it starts when no other is idle
// whatever goroutine it is on, or for the collector, whose work an allocation
// of the program may have to do.
func (s *Stack) OfRuntime() bool {
	return collectorsFrame(s.Frames) > 0 || slices.ContainsFunc(s.Frames, startsThread) ||
		!slices.ContainsFunc(s.Frames, func(f Frame) bool { return !ofRuntime(f.Function) })
}

func startsThread(f Frame) bool { return f.Function == "runtime.allocm" }

// OfTesting tells whether package testing, or the initialization of a package
// of the standard library, allocated on its own account: no function of the
// program stands between the two.
func (s *Stack) OfTesting() bool {
	for i := range s.Frames {
		f := &s.Frames[i]
		switch {
		case packageOf(f.Function) == "testing" || f.Function == "runtime.doInit":
			return true
		case f.Origin != OriginStandard && f.File != generatedMain:
			return false
		}
	}
	return false
}

// generatedMain is the main program that the go command makes of tests.
const generatedMain = "_testmain.go"

func ofRuntime(function string) bool {
	path := packageOf(function)
	return path == "" || path == "runtime" || strings.HasPrefix(path, "runtime/") || strings.HasPrefix(path, "internal/runtime/")
}

// collectorsFrame returns the index of the frame that the allocator calls to
// let the program do work of the collector, 0 where it calls none.
func collectorsFrame(frames []Frame) int {
	for i := len(frames) - 1; i > 0; i-- {
		if allocates(frames[i].Function) && !allocates(frames[i-1].Function) {
			return i - 1
		}
	}
	return 0
}

// place returns the index of the frame that is the line.
func place(frames []Frame) int {
	if at := collectorsFrame(frames); at > 0 {
		return at
	}
	for _, origin := range []Origin{OriginOwn, OriginDependency, OriginUnknown} {
		if at := slices.IndexFunc(frames, func(f Frame) bool { return f.Origin == origin }); at >= 0 {
			return at
		}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if packageOf(frames[i].Function) != "runtime" {
			return i
		}
	}
	return min(0, len(frames)-1)
}

type lineKey struct {
	file, function, callee string
	line                   int
	c                      bool
}

// lines adds stacks up, the most frequent line first.
func lines(stacks []Stack) []*Line {
	byKey := make(map[lineKey]*Line)
	var all []*Line
	for _, s := range stacks {
		var at Frame
		callee := ""
		if i := place(s.Frames); i >= 0 {
			at = s.Frames[i]
			if i > 0 {
				callee = s.Frames[i-1].Function
			}
		}
		key := lineKey{at.File, at.Function, callee, at.Line, s.C}
		l := byKey[key]
		if l == nil {
			l = &Line{Frame: at, Callee: callee, Type: s.Type, C: s.C}
			byKey[key] = l
			all = append(all, l)
		}
		if l.Type != s.Type {
			l.Type = ""
		}
		l.Allocs += s.Allocs
		l.Bytes += s.Bytes
		l.Live += s.Live
		l.LiveShared = max(l.LiveShared, s.LiveShared)
		l.Stacks = append(l.Stacks, s)
	}
	for _, l := range all {
		slices.SortFunc(l.Stacks, compareStacks)
	}
	slices.SortFunc(all, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(b.Allocs, a.Allocs), cmp.Compare(b.Bytes, a.Bytes),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Callee, b.Callee))
	})
	return all
}

func compareStacks(a, b Stack) int {
	return cmp.Or(cmp.Compare(b.Allocs, a.Allocs), cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Size, b.Size),
		cmp.Compare(a.Type, b.Type), slices.CompareFunc(a.Frames, b.Frames, func(f, g Frame) int {
			return cmp.Or(cmp.Compare(f.Function, g.Function), cmp.Compare(f.File, g.File), cmp.Compare(f.Line, g.Line))
		}))
}
