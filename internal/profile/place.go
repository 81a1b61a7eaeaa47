package profile

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mallow/internal/recording"
	"mallow/internal/symbolize"
)

// Frame is one function of a stack. What is not known is empty.
type Frame struct {
	Function string
	File     string
	Line     int
	Module   string // path of the file that holds the code
}

// Named tells whether the function has a name of its own, and not just one
// made of its module and where it starts.
func (f *Frame) Named() bool {
	return f.Function != "" && !strings.HasPrefix(f.Function, filepath.Base(f.Module)+"+0x")
}

// Label names the frame in one word, wherever a graph has a box for it: the
// function, or else what is known.
func (f *Frame) Label() string {
	switch {
	case f.Function != "":
		return f.Function
	case f.File != "" && f.Line > 0:
		return f.File + ":" + strconv.Itoa(f.Line)
	case f.File != "":
		return f.File
	case f.Module != "":
		return filepath.Base(f.Module)
	}
	return "(unknown function)"
}

// place is a position in the code that a frame of a stack stands for, with
// the frames that the compiler inlined there.
type place struct {
	module  int32 // index of places.modules, or one of those below
	address uint64
	frames  []Frame // innermost first; nil before it was named
	end     bool    // no frame, the stack ends before it
}

const (
	noModule       = -1 // code that no file holds, such as a JIT compiler's
	symbolicModule = -2 // an imported frame, by its index in places.symbolic
	noFrame        = -3
)

// endPlace is the place of nodes that are no frame: the stack ends before them.
const endPlace = 0

type placeKey struct {
	module  int32
	address uint64
}

// places keeps every place once, whatever number of nodes and processes came
// by, and names them in as few and as large batches as possible.
type places struct {
	symbolizer Symbolizer

	all          []place
	byKey        map[placeKey]int32
	byShortKey   map[uint64]int32 // of the keys that fit into one number, which are found faster
	modules      []symbolize.Module
	moduleIndex  map[*recording.Module]int32
	moduleByFile map[moduleFile]int32
	copies       map[string]symbolize.Module // by build id: what stands for a file that was at several paths
	builds       map[string][]moduleFile     // of each file, by its path
	symbolic     []recording.SymbolicFrame
	symbolicAt   map[recording.SymbolicFrame]uint64
}

// moduleFile tells which version of which file a module is, wherever it was
// mapped; with a build id also wherever the file lay: other hosts have it in
// other folders.
type moduleFile struct {
	path, buildID                string
	device, inode, size, modTime uint64
}

func fileOf(m *symbolize.Module) moduleFile {
	if m.IsVersioned() {
		return moduleFile{buildID: string(m.BuildID)}
	}
	return moduleFile{m.Path, string(m.BuildID), m.Device, m.Inode, m.Size, m.ModTimeNs}
}

func symbolizeModule(m *recording.Module) symbolize.Module {
	return symbolize.Module{
		Path: m.Path, BuildID: m.BuildID, Start: m.Start, End: m.End, Bias: m.Bias,
		Device: m.Device, Inode: m.Inode, Size: m.Size, ModTimeNs: m.ModTimeNanos,
	}
}

// newPlaces makes places of the code that images ran.
func newPlaces(s Symbolizer, images []*recording.Image) *places {
	copies := copiesOf(images)
	return &places{
		all:          []place{endPlace: {module: noFrame, end: true}},
		copies:       copies,
		builds:       buildsOf(images, copies),
		symbolizer:   s,
		byKey:        make(map[placeKey]int32),
		byShortKey:   make(map[uint64]int32),
		moduleIndex:  make(map[*recording.Module]int32),
		moduleByFile: make(map[moduleFile]int32),
		symbolicAt:   make(map[recording.SymbolicFrame]uint64),
	}
}

// find returns the index of the place of a node.
func (p *places) find(n recording.Node, im *recording.Image) int32 {
	key := p.key(n, im)
	if key.module == noFrame {
		return endPlace
	}
	short, fits := key.short()
	if fits {
		if i, ok := p.byShortKey[short]; ok {
			return i
		}
	} else if i, ok := p.byKey[key]; ok {
		return i
	}
	i := int32(len(p.all))
	p.all = append(p.all, place{module: key.module, address: key.address})
	if fits {
		p.byShortKey[short] = i
	} else {
		p.byKey[key] = i
	}
	return i
}

// short puts a key into one number, if its parts are as small as they usually
// are.
func (k placeKey) short() (uint64, bool) {
	const addressBits = 48
	return uint64(uint32(k.module))<<addressBits | k.address, k.module >= 0 && k.module < 1<<(64-addressBits) && k.address < 1<<addressBits
}

func (p *places) key(n recording.Node, im *recording.Image) placeKey {
	switch n.Tag() {
	case recording.TagReturn, recording.TagInterrupted:
		m := im.Module(n.Extra)
		if m == nil {
			return placeKey{module: noModule}
		}
		address := n.Value() - m.Bias
		if n.Tag() == recording.TagReturn {
			address--
		}
		return placeKey{p.module(m), address}
	case recording.TagSymbolic:
		if frame, ok := im.SymbolicFrame(n.Value()); ok {
			return placeKey{symbolicModule, p.symbolicIndex(frame)}
		}
	}
	return placeKey{module: noFrame}
}

func (p *places) module(m *recording.Module) int32 {
	if i, ok := p.moduleIndex[m]; ok {
		return i
	}
	module := symbolizeModule(m)
	file := fileOf(&module)
	i, ok := p.moduleByFile[file]
	if !ok {
		i = int32(len(p.modules))
		p.moduleByFile[file] = i
		if chosen, copied := p.copies[file.buildID]; copied && module.IsVersioned() {
			module = chosen
		}
		p.modules = append(p.modules, module)
	}
	p.moduleIndex[m] = i
	return i
}

// copiesOf chooses for each file that lay at several paths the one that its
// code is named by.
func copiesOf(images []*recording.Image) map[string]symbolize.Module {
	found := make(map[string][]symbolize.Module)
	for _, im := range images {
		modules := im.Modules()
		for i := range modules {
			m := symbolizeModule(&modules[i])
			id := string(m.BuildID)
			if m.IsVersioned() && !slices.ContainsFunc(found[id], func(o symbolize.Module) bool { return o.Path == m.Path }) {
				found[id] = append(found[id], m)
			}
		}
	}
	copies := make(map[string]symbolize.Module)
	for id, all := range found {
		if len(all) > 1 {
			copies[id] = symbolize.Nearest(all)
		}
	}
	return copies
}

// ModulePath returns the path by which frames name a module.
func (p *Profile) ModulePath(m *recording.Module) string {
	if chosen, copied := p.places.copies[string(m.BuildID)]; copied {
		return chosen.Path
	}
	return m.Path
}

// Built returns when the file of a module was last changed before it was
// recorded; without that, when the recording began. Zero where nobody knows.
func (p *Profile) Built(module string) time.Time {
	for i := range p.places.modules {
		if m := &p.places.modules[i]; m.Path == module && m.ModTimeNs != 0 {
			return time.Unix(0, int64(m.ModTimeNs))
		}
	}
	if first := p.Recordings[0].Images[0]; first.StartRealtime > 0 {
		return time.Unix(0, int64(first.StartRealtime))
	}
	return time.Time{}
}

func (p *places) symbolicIndex(frame recording.SymbolicFrame) uint64 {
	i, ok := p.symbolicAt[frame]
	if !ok {
		i = uint64(len(p.symbolic))
		p.symbolic = append(p.symbolic, frame)
		p.symbolicAt[frame] = i
	}
	return i
}

// name finds the frames of those places that have none yet, two modules at a
// time.
func (p *places) name(indexes []int32) {
	byModule := make(map[int32][]int32)
	for _, i := range indexes {
		if pl := &p.all[i]; pl.frames == nil && !pl.end {
			pl.frames = []Frame{{}} // so that one named twice is asked for once
			byModule[pl.module] = append(byModule[pl.module], i)
		}
	}
	limit := make(chan struct{}, 2)
	var modules sync.WaitGroup
	for module, batch := range byModule {
		modules.Go(func() {
			limit <- struct{}{}
			p.nameBatch(module, batch)
			<-limit
		})
	}
	modules.Wait()
}

func (p *places) nameBatch(module int32, batch []int32) {
	switch module {
	case noModule:
	case symbolicModule:
		for _, i := range batch {
			f := p.symbolic[p.all[i].address]
			p.all[i].frames = []Frame{{Function: symbolize.Readable(f.Function), File: f.File, Line: int(f.Line), Module: f.Module}}
		}
	default:
		m := p.modules[module]
		addresses := make([]uint64, len(batch))
		for k, i := range batch {
			addresses[k] = p.all[i].address
		}
		for k, named := range p.symbolizer.Frames(m, addresses) {
			frames := make([]Frame, len(named))
			for j, f := range named {
				frames[j] = Frame{Function: f.Function, File: f.File, Line: f.Line, Module: m.Path}
				p.tellBuild(&frames[j], &m)
			}
			if len(frames) > 0 {
				p.all[batch[k]].frames = frames
			}
		}
	}
}

// libcNames are the modules of libc, for imported frames; the recorder itself
// says it of its own modules.
var libcNames = []string{"libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libpthread.so.0", "libresolv.so.2"}

func symbolicOrigin(f recording.SymbolicFrame) Origin {
	name := filepath.Base(f.Module)
	for _, libc := range libcNames {
		if name == libc {
			return OriginLibc
		}
	}
	if strings.HasPrefix(name, "lib") {
		return OriginLibraries
	}
	return OriginProgram
}
