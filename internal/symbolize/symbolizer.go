package symbolize

import (
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"mallow/internal/symbolize/debuginfod"
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
	// Cache is the folder in which names are kept from one run to the next;
	// none if empty. UserCache is the usual one.
	Cache string
	// Fetch gets what is not on this machine: debug files and, where it is
	// gone, the program itself, by build id. id and name are the module's; check
	// refuses what is something else. nil for nobody, so that nothing leaves the
	// machine.
	Fetch func(id []byte, kind FetchKind, name string, check func(path string) error) (path string, err error)
}

// FetchKind is what Fetch is asked for.
type FetchKind = debuginfod.Kind

// Symbolizer names addresses. It is safe for concurrent use; calls for
// different modules run in parallel.
type Symbolizer struct {
	debugDirs []string
	cache     cache
	fetch     func(id []byte, kind FetchKind, name string, check func(path string) error) (path string, err error)

	mu       sync.Mutex
	brought  map[moduleKey][]moduleNames // by recordings, for all copies of a file
	images   map[moduleKey]*image
	warnings []string
	warned   map[string]bool
	damaged  []*image
}

// moduleKey is a Module without its place in memory.
type moduleKey struct {
	path, buildID string
	size, modTime uint64
}

func (m Module) key() moduleKey { return moduleKey{m.Path, string(m.BuildID), m.Size, m.ModTimeNs} }

// version is the key of all copies of a file: its build id, if it has one that
// is made from the content.
func (m Module) version() moduleKey {
	if len(m.BuildID) < leastBuildID {
		return m.key()
	}
	return moduleKey{buildID: string(m.BuildID)}
}

// IsVersioned tells whether the build id of a module says which file it is,
// wherever that lies.
func (m Module) IsVersioned() bool { return len(m.BuildID) >= leastBuildID }

// Nearest returns of several copies of a file the first one that is on this
// machine, or the first of all.
func Nearest(copies []Module) Module {
	for _, m := range copies {
		here := false
		survives(func() {
			file, err := openObject(strings.TrimSuffix(m.Path, deletedSuffix))
			if err == nil {
				here = m.sameFile(file)
				file.close()
			}
		})
		if here {
			return m
		}
	}
	return copies[0]
}

// New returns a Symbolizer that has read nothing yet.
func New(o Options) *Symbolizer {
	if o.DebugDirs == nil {
		o.DebugDirs = []string{"/usr/lib/debug"}
	}
	return &Symbolizer{
		debugDirs: o.DebugDirs, cache: cache{o.Cache}, fetch: o.Fetch,
		brought: map[moduleKey][]moduleNames{}, images: map[moduleKey]*image{}, warned: map[string]bool{},
	}
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
	missing := img.unanswered(addrs)
	for i := range img.brought {
		missing = img.recall(missing, &img.brought[i])
		for _, text := range img.brought[i].Warnings {
			s.warn(img, "%s", text)
		}
	}
	if len(missing) > 0 {
		s.open(img)
		missing = img.recall(missing, img.cached)
		if len(missing) > 0 {
			img.fresh = true
			s.guard(img, func() { img.answer(missing) })
		}
		s.guard(img, func() { s.warnAbout(img) })
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
	if len(img.brought) > 0 {
		return img.brought[0].Lines
	}
	s.open(img)
	found := false
	s.guard(img, func() { found = img.hasLines() })
	return found
}

// Warnings returns what the reader of the frames should know, each once, in
// the order found; last what is damaged, and how much of it has no name.
func (s *Symbolizer) Warnings() []string {
	s.mu.Lock()
	warnings, damaged := slices.Clone(s.warnings), slices.Clone(s.damaged)
	s.mu.Unlock() // an image that warns takes it while it is locked itself
	for _, img := range damaged {
		img.mu.Lock()
		warnings = append(warnings, img.module.name()+": "+img.damage())
		img.mu.Unlock()
	}
	return warnings
}

// noteDamage notes that not all of img can be read.
func (s *Symbolizer) noteDamage(img *image) {
	if img.damaged {
		return
	}
	img.damaged = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damaged = append(s.damaged, img)
}

// damage says how much of a damaged module has no name.
func (img *image) damage() string {
	unnamed := 0
	prefix := img.module.name() + "+0x"
	for _, frames := range img.frames {
		if strings.HasPrefix(frames[len(frames)-1].Function, prefix) {
			unnamed++
		}
	}
	return fmt.Sprintf("its symbols or debug information are damaged; %d of %d addresses have no name", unnamed, len(img.frames))
}

// Close keeps what was found in the cache and gives the mapped files back.
// Frames must not be called afterwards.
func (s *Symbolizer) Close() {
	s.mu.Lock()
	images := s.images
	s.images = map[moduleKey]*image{}
	s.mu.Unlock() // an image that warns takes it while it is locked itself
	kept := false
	for _, img := range images {
		kept = s.cache.keep(img) || kept
		img.close()
	}
	if kept {
		s.cache.evict()
	}
}

// warn notes a sentence about a module.
func (s *Symbolizer) warn(img *image, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(img.warnings, text) {
		img.warnings = append(img.warnings, text)
	}
	text = img.module.name() + ": " + text
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.warned[text] {
		s.warned[text] = true
		s.warnings = append(s.warnings, text)
	}
}

// image returns what is known of m.
func (s *Symbolizer) image(m Module) *image {
	key := m.key()
	s.mu.Lock()
	defer s.mu.Unlock()
	img := s.images[key]
	if img == nil {
		img = newImage(m)
		img.brought = slices.Clone(s.brought[m.version()])
		s.images[key] = img
	}
	return img
}

// guard runs f so that a damaged file ends f and not the program, and is noted.
func (s *Symbolizer) guard(img *image, f func()) {
	if !survives(f) {
		s.noteDamage(img)
	}
}

// survives runs f and tells whether it came to its end. A mapped file that is
// cut while it is read is a memory fault, hence SetPanicOnFault.
func survives(f func()) (whole bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			whole = false
		}
	}()
	f()
	return true
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
