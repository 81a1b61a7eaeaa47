// Package recorder writes recordings without libmallow: Process plays the part
// of libmallow's recorder and counts by the rules of format/recording.md, Image
// writes what it counted, byte for byte. Importers count with it what logs of
// other tools tell, and tests make recordings of programs that never were.
//
// Nothing here may be used by two goroutines at a time.
package recorder

import (
	"encoding/binary"
	"os"

	"mallow/internal/recording"
)

var le = binary.LittleEndian

// Layout says where sections lie in the file.
type Layout int

const (
	Packed Layout = iota // one behind the other, as the CLI leaves them
	Sparse               // far apart, as the recorder writes them
)

const (
	page          = 4096
	sparseReserve = 1 << 30
)

// Module describes an entry of the module table.
type Module struct {
	Path             string
	BuildID          []byte
	Kind             recording.ModuleKind
	Start, End, Bias uint64
}

// Frame is one frame of a stack. Module is the value that Image.Module
// returned, 0 for none.
type Frame struct {
	Tag    recording.Tag
	Value  uint64
	Module uint32
}

// Call is the frame of a call that returns to address.
func Call(module uint32, address uint64) Frame {
	return Frame{Tag: recording.TagReturn, Value: address, Module: module}
}

// Image is an image file in the making.
type Image struct {
	Name          string
	Flags         uint32
	Incomplete    uint32
	Log           uint64 // as recording.Header.Log
	PID           uint64
	ParentPID     uint64
	StartRealtime uint64
	Executable    string

	peakEpoch                     uint64
	mostThreads                   uint64
	sharedPeak, sharedPeakProgram uint64

	parent        *Image
	parentNodes   uint32
	parentStacks  uint32
	parentShards  uint32
	parentModules uint32

	nodes    []byte
	nodeIDs  map[nodeKey]uint32
	texts    map[string]uint32
	known    map[recording.SymbolicFrame]uint32
	stacks   []byte
	modules  []byte
	kinds    map[uint32]recording.ModuleKind
	strings  []byte
	symbolic []byte
	shards   []byte
	pages    []byte
	dir      []byte
	regions  []byte
	units    []byte

	firstRegion uint32

	cpuInterval, cpuProcess uint64

	samples  int // of the timeline
	sampling []byte
	cpu      []byte
}

type nodeKey struct {
	frame  uint64
	parent uint32
	module uint32
}

// NewImage begins the image of a process without a parent's file.
func NewImage(pid uint64, executable string) *Image {
	im := &Image{
		PID: pid, ParentPID: 1, Executable: executable,
		StartRealtime: 1795232400_000000000 + pid,
		nodeIDs:       map[nodeKey]uint32{}, kinds: map[uint32]recording.ModuleKind{},
		texts: map[string]uint32{}, known: map[recording.SymbolicFrame]uint32{},
	}
	im.Name = imageName(pid, im.StartRealtime)
	im.firstRegion = 1
	im.nodes = make([]byte, 16)
	im.stacks = make([]byte, 4)
	return im
}

// fork begins the image of a fork child: its ids go on counting.
func (im *Image) fork(pid uint64) *Image {
	child := &Image{
		PID: pid, ParentPID: im.PID, Executable: im.Executable, StartRealtime: im.StartRealtime + 1_000_000,
		nodeIDs: map[nodeKey]uint32{}, kinds: map[uint32]recording.ModuleKind{},
		texts: map[string]uint32{}, known: map[recording.SymbolicFrame]uint32{},
		parent:        im,
		parentNodes:   im.parentNodes + uint32(len(im.nodes)/16),
		parentStacks:  im.parentStacks + uint32(len(im.stacks)/4),
		parentModules: im.parentModules + uint32(len(im.modules)/128),
		firstRegion:   im.firstRegion + uint32(len(im.regions)/128),
	}
	for k, v := range im.nodeIDs {
		child.nodeIDs[k] = v
	}
	for k, v := range im.kinds {
		child.kinds[k] = v
	}
	child.Name = imageName(pid, child.StartRealtime)
	return child
}

// Module adds a module and returns what frames name it by.
func (im *Image) Module(m Module) uint32 {
	b := make([]byte, 128)
	le.PutUint64(b[0:], m.Start)
	le.PutUint64(b[8:], m.End)
	le.PutUint64(b[16:], m.Bias)
	im.putText(b[24:], m.Path)
	le.PutUint32(b[32:], uint32(copy(b[40:72], m.BuildID)))
	le.PutUint32(b[36:], uint32(m.Kind))
	im.modules = append(im.modules, b...)
	extra := im.parentModules + uint32(len(im.modules)/128)
	im.kinds[extra] = m.Kind
	return extra
}

// putText refers to a string, which is written once.
func (im *Image) putText(b []byte, s string) {
	at, known := im.texts[s]
	if !known {
		at = uint32(len(im.strings))
		im.strings = append(im.strings, s...)
		if s != "" {
			im.texts[s] = at
		}
	}
	le.PutUint32(b[0:], at)
	le.PutUint32(b[4:], uint32(len(s)))
}

// Symbolic returns a frame that is named here; the same for the same name.
func (im *Image) Symbolic(function, file, module string, line uint32) Frame {
	named := recording.SymbolicFrame{Function: function, File: file, Module: module, Line: line}
	index, known := im.known[named]
	if !known {
		b := make([]byte, 32)
		im.putText(b[0:], function)
		im.putText(b[8:], file)
		im.putText(b[16:], module)
		le.PutUint32(b[24:], line)
		index = uint32(len(im.symbolic) / 32)
		im.symbolic = append(im.symbolic, b...)
		im.known[named] = index
	}
	return Frame{Tag: recording.TagSymbolic, Value: uint64(index)}
}

// Nodes returns how many frames of stacks there are.
func (im *Image) Nodes() int { return len(im.nodes) / 16 }

// Sampled makes the image one of samples, at a mean distance in bytes.
func (im *Image) Sampled(meanBytes uint64) {
	im.sampling = le.AppendUint64(nil, meanBytes)
	im.sampling = append(im.sampling, make([]byte, 56)...)
}

// SampledCPU makes the image one of a process whose CPU time was sampled.
func (im *Image) SampledCPU(interval, process uint64) {
	im.cpuInterval, im.cpuProcess = interval, process
}

// CPU adds samples of the stack of the frames, which come outermost first.
func (im *Image) CPU(part recording.CPUPart, nanoseconds, samples uint64, frames ...Frame) {
	node := im.Path(frames...)
	im.cpu = le.AppendUint32(im.cpu, node)
	im.cpu = le.AppendUint32(im.cpu, uint32(part))
	im.cpu = le.AppendUint64(im.cpu, nanoseconds)
	im.cpu = le.AppendUint64(im.cpu, samples)
	im.cpu = le.AppendUint64(im.cpu, 0)
}

// Stack is a stack of an image.
type Stack struct {
	ID   uint32
	libc bool // its caller is libc
}

// Stack adds the stack in which the last of the frames, which come outermost
// first, calls f.
func (im *Image) Stack(f recording.Function, frames ...Frame) Stack {
	return im.StackIn(0, f, frames...)
}

// StackIn adds the same within a region.
func (im *Image) StackIn(region uint32, f recording.Function, frames ...Frame) Stack {
	var caller Frame
	if len(frames) > 0 {
		caller = frames[len(frames)-1]
	}
	s := im.stackAt(im.Path(frames...), region, f)
	s.libc = im.kinds[caller.Module] == recording.ModuleLibc
	return s
}

// StackAt adds the stack in which the innermost frame of a path calls f; libc
// tells that it is one of libc's.
func (im *Image) StackAt(path uint32, f recording.Function, libc bool) Stack {
	s := im.stackAt(path, 0, f)
	s.libc = libc
	return s
}

func (im *Image) stackAt(path, region uint32, f recording.Function) Stack {
	id := im.parentStacks + uint32(len(im.stacks)/4)
	node := im.addNode(nodeKey{frame: uint64(recording.TagFunction)<<56 | uint64(region)<<16 | uint64(f), parent: path, module: id})
	im.stacks = le.AppendUint32(im.stacks, node)
	return Stack{ID: id}
}

// Path adds frames, outermost first, and returns the node of the innermost.
func (im *Image) Path(frames ...Frame) uint32 {
	var node uint32
	for _, fr := range frames {
		node = im.Inside(node, fr)
	}
	return node
}

// Inside returns the node of a frame that another one, or none (0), calls.
func (im *Image) Inside(outer uint32, fr Frame) uint32 {
	return im.node(outer, fr.Tag, fr.Value, fr.Module)
}

func (im *Image) node(parent uint32, tag recording.Tag, value uint64, extra uint32) uint32 {
	key := nodeKey{frame: uint64(tag)<<56 | value, parent: parent, module: extra}
	if id, ok := im.nodeIDs[key]; ok {
		return id
	}
	return im.addNode(key)
}

func (im *Image) addNode(key nodeKey) uint32 {
	id := im.parentNodes + uint32(len(im.nodes)/16)
	im.nodes = le.AppendUint64(im.nodes, key.frame)
	im.nodes = le.AppendUint32(im.nodes, key.parent)
	im.nodes = le.AppendUint32(im.nodes, key.module)
	if recording.Tag(key.frame>>56) != recording.TagFunction { // each of those is a stack of its own
		im.nodeIDs[key] = id
	}
	return id
}

// Region adds a region within another one, or within none (0).
func (im *Image) Region(outer uint32, name string) uint32 {
	b := make([]byte, 128)
	le.PutUint32(b[0:], outer)
	le.PutUint32(b[4:], uint32(copy(b[8:], name)))
	im.regions = append(im.regions, b...)
	return im.firstRegion + uint32(len(im.regions)/128) - 1
}

// Unit adds a unit of work.
func (im *Image) Unit(u recording.Unit) {
	b := make([]byte, 256)
	le.PutUint64(b[0:], u.Amount)
	le.PutUint64(b[8:], u.Calls)
	le.PutUint32(b[16:], uint32(u.Source))
	le.PutUint32(b[20:], uint32(u.Refusal))
	le.PutUint32(b[24:], uint32(copy(b[32:], u.Name)))
	im.units = append(im.units, b...)
}

type section struct {
	kind, item uint32
	data       []byte
}

func (im *Image) sections() []section {
	all := []section{
		{1, 16, im.nodes}, {2, 4, im.stacks}, {3, 512, im.shards}, {4, 4096, im.pages},
		{5, 8, im.dir}, {6, 128, im.modules}, {7, 1, im.strings}, {8, 32, im.symbolic}, {10, 32, im.cpu},
		{11, 128, im.regions}, {12, 256, im.units}, {20, 64, im.sampling},
	}
	used := all[:0]
	for _, s := range all {
		if len(s.data) > 0 {
			used = append(used, s)
		}
	}
	return used
}

// Header returns the first 4096 bytes of the file.
func (im *Image) Header(layout Layout) []byte {
	b := make([]byte, page)
	copy(b, "MALLOWRC")
	le.PutUint32(b[8:], 1)
	le.PutUint32(b[16:], page)
	flags := im.Flags
	if layout == Packed {
		flags |= recording.FlagPacked
	}
	le.PutUint32(b[20:], flags)
	le.PutUint32(b[24:], im.Incomplete)
	le.PutUint64(b[168:], im.Log)
	le.PutUint64(b[32:], im.PID)
	le.PutUint64(b[40:], im.ParentPID)
	le.PutUint64(b[48:], im.StartRealtime)
	le.PutUint64(b[64:], page)
	if im.parent != nil {
		le.PutUint32(b[72:], im.parentNodes)
		le.PutUint32(b[76:], im.parentStacks)
		le.PutUint32(b[80:], im.parentShards)
		le.PutUint32(b[84:], im.parentModules)
		copy(b[256:384], im.parent.Name)
	}
	le.PutUint64(b[104:], im.peakEpoch)
	le.PutUint64(b[112:], im.mostThreads)
	le.PutUint64(b[144:], im.sharedPeak)
	le.PutUint64(b[152:], im.sharedPeakProgram)
	le.PutUint32(b[200:], im.firstRegion)
	le.PutUint64(b[184:], im.cpuInterval)
	le.PutUint64(b[192:], im.cpuProcess)
	le.PutUint32(b[232:], uint32(im.samples))
	copy(b[384:895], im.Executable)

	sections := im.sections()
	le.PutUint32(b[28:], uint32(len(sections)))
	for i, s := range sections {
		entry := b[1024+64*i:]
		le.PutUint32(entry[0:], s.kind)
		le.PutUint32(entry[4:], s.item)
		le.PutUint64(entry[8:], uint64(im.offset(i, layout)))
		le.PutUint64(entry[16:], uint64(reserve(s, layout)))
		le.PutUint64(entry[24:], uint64(len(s.data))/uint64(s.item))
	}
	return b
}

func reserve(s section, layout Layout) int64 {
	packed := (int64(len(s.data)) + page - 1) / page * page
	if layout == Sparse {
		return max(sparseReserve, packed)
	}
	return packed
}

func (im *Image) offset(index int, layout Layout) int64 {
	at := int64(page)
	for _, s := range im.sections()[:index] {
		at += reserve(s, layout)
	}
	return at
}

// Bytes returns the packed file.
func (im *Image) Bytes() []byte {
	b := im.Header(Packed)
	for _, s := range im.sections() {
		b = append(b, s.data...)
		b = append(b, make([]byte, reserve(s, Packed)-int64(len(s.data)))...)
	}
	return b
}

// Write makes the image file in folder.
func (im *Image) Write(folder string, layout Layout) error {
	f, err := os.OpenFile(folder+"/"+im.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(im.Header(layout), 0); err != nil {
		return err
	}
	sections := im.sections()
	for i, s := range sections {
		if _, err := f.WriteAt(s.data, im.offset(i, layout)); err != nil {
			return err
		}
	}
	return f.Truncate(im.offset(len(sections), layout))
}
