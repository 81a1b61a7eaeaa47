package symbolize

import (
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// Module is a file as it was mapped into a process. The build id says which
// version of the file was running; without one, size and modification time do.
// What is zero is unknown and not compared, and neither are device and inode: a
// copy is as good.
type Module struct {
	Path             string
	BuildID          []byte
	Start, End, Bias uint64
	Device, Inode    uint64
	Size, ModTimeNs  uint64
}

// Frame is one function at an address. Function is demangled, "" if unknown.
// File and Line are "" and 0 if unknown. Inlined tells that the compiler put
// the function's code into the next frame's.
type Frame struct {
	Function string
	File     string
	Line     int
	Inlined  bool
}

// Options says where to look. The zero value is the usual place.
type Options struct {
	// DebugDirs are the folders of separate debug files; /usr/lib/debug if nil.
	DebugDirs []string
}

// Symbolizer names addresses. It is safe for concurrent use; calls for
// different modules run in parallel.
type Symbolizer struct {
	debugDirs []string

	mu       sync.Mutex
	images   map[moduleKey]*image
	warnings []string
	warned   map[string]bool
}

// moduleKey is a Module without its place in memory.
type moduleKey struct {
	path, buildID string
	size, modTime uint64
}

// New returns a Symbolizer that has read nothing yet.
func New(o Options) *Symbolizer {
	if o.DebugDirs == nil {
		o.DebugDirs = []string{"/usr/lib/debug"}
	}
	return &Symbolizer{debugDirs: o.DebugDirs, images: map[moduleKey]*image{}, warned: map[string]bool{}}
}

// Frames returns for each address its frames, the innermost (inlined) first.
// Addresses are those of the file: the run-time address minus m.Bias; of a
// return address pass the one before, which lies in the call. There is at
// least one frame for each: where nothing is known its Function is the module
// and the start of the code that holds the address, such as "libz.so.1+0x3a10".
// Ask for all addresses of a module at once: the symbol table is read for each
// call. Answers are kept until the Symbolizer is dropped.
func (s *Symbolizer) Frames(m Module, addrs []uint64) [][]Frame {
	img := s.image(m)
	img.mu.Lock()
	defer img.mu.Unlock()
	if missing := img.unanswered(addrs); len(missing) > 0 {
		s.guard(m, func() { img.answer(missing) })
		s.guard(m, func() { s.warnAbout(m, img) })
	}
	frames := make([][]Frame, len(addrs))
	for i, addr := range addrs {
		if frames[i] = img.frames[addr]; frames[i] == nil {
			frames[i] = []Frame{{Function: placeholder(m, addr)}}
		}
	}
	return frames
}

// HasLines tells whether line information for m was found.
func (s *Symbolizer) HasLines(m Module) bool {
	img := s.image(m)
	img.mu.Lock()
	defer img.mu.Unlock()
	found := false
	s.guard(m, func() { found = img.hasLines() })
	return found
}

// Warnings returns what the reader of the frames should know, each once, in
// the order found.
func (s *Symbolizer) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.warnings)
}

// Close gives the mapped files back. Frames must not be called afterwards.
func (s *Symbolizer) Close() {
	s.mu.Lock()
	images := s.images
	s.images = map[moduleKey]*image{}
	s.mu.Unlock() // an image that warns takes it while it is locked itself
	for _, img := range images {
		img.close()
	}
}

func (s *Symbolizer) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.warned[text] {
		s.warned[text] = true
		s.warnings = append(s.warnings, text)
	}
}

// image returns the opened files of m, without content where there are none.
func (s *Symbolizer) image(m Module) *image {
	key := moduleKey{m.Path, string(m.BuildID), m.Size, m.ModTimeNs}
	s.mu.Lock()
	img := s.images[key]
	if img == nil {
		img = &image{frames: map[uint64][]Frame{}, names: readableNames{}, module: m}
		img.mu.Lock() // whoever finds it in the map waits until it is open
		s.images[key] = img
		s.mu.Unlock()
		s.guard(m, func() { s.open(img) })
		img.mu.Unlock()
		return img
	}
	s.mu.Unlock()
	return img
}

// guard runs f so that a damaged file ends f and not the program. A mapped
// file that is cut while it is read is a memory fault, hence SetPanicOnFault.
func (s *Symbolizer) guard(m Module, f func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			s.warn("%s: its symbols or debug information are damaged; what could be read is used", m.name())
		}
	}()
	f()
}

// name is what a module is called in frames and warnings.
func (m Module) name() string {
	path := strings.TrimSuffix(m.Path, deletedSuffix)
	if path == "" {
		return "unknown"
	}
	return filepath.Base(path)
}

func placeholder(m Module, addr uint64) string {
	return fmt.Sprintf("%s+%#x", m.name(), addr)
}
