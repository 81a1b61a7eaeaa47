package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Image is what one process image recorded. It is a snapshot: reading it
// while the process runs is safe.
type Image struct {
	Name string // of the file
	Header
	// Parent is the image of the process that forked this one; nil without.
	Parent *Image
	// Shards, one per recorded thread.
	Shards []Shard
	// Units of work that were counted.
	Units []Unit
	// Sampling is nil where every call was recorded.
	Sampling *Sampling
	// Running tells that a process still writes to the file.
	Running bool
	// Chosen tells that only some threads were read: see OpenThreads. Of their
	// calls Mixed are with stacks of whose blocks it is not known exactly what
	// lived, because threads released each other's.
	Chosen bool
	Mixed  uint64
	// Warnings say in sentences what of the file could not be read, or what
	// the recorder could not record.
	Warnings []string

	nodes    []Node
	stacks   []uint32
	modules  []Module
	strings  []byte
	symbolic []SymbolicFrame
	pages    []directoryItem
	blocks   blocks
	weights  map[uint32]*weights // of samples, by stack
	chosen   []bool              // of each shard; nil: all are
	others   *blocks             // of the shards that are not chosen

	// While counters are read: least of the huge sizes, and what the counters
	// are to be told when all are known.
	hugeLeast map[*Counters]uint64
	givenUp   []givenUp

	wideTraits map[widePage][]byte
	reallocs   map[uint32]*Reallocs // by stack

	regions       []Region
	regionFigures map[uint32]*RegionFigures
	cpu           []CPUSample
	timeline      [maxTimelinePages][]byte
}

// Header describes the process.
type Header struct {
	Flags              uint32
	Incomplete         uint32
	PID, ParentPID     uint64
	StartRealtime      uint64 // ns since 1970
	StartMonotonic     uint64 // ns; 0 unknown
	LastRealtime       uint64 // ns since 1970, coarse; 0 unknown
	ParentNodes        uint32
	ParentStacks       uint32
	ParentShards       uint32
	ParentModules      uint32
	LostCalls          uint64
	UnrecordedChildren uint64
	VforkChildren      uint64
	Log                uint64 // NoLog, LogKept or LogRefused
	// Joined tells that the process ran already when its recording began;
	// BytesBefore are the usable bytes of the blocks that there were.
	Joined            bool
	BytesBefore       uint64
	StoppedRealtime   uint64 // ns since 1970; 0: not stopped before the process ended
	PeakEpoch         uint64
	MostThreads       uint64
	SharedLive        int64 // of all threads but the first, as far as they told
	SharedLiveProgram int64
	SharedPeak        uint64
	SharedPeakProgram uint64
	FirstRegion       uint32
	LostMarks         uint64 // calls that tell of regions and units
	CPUInterval       uint64 // ns between two samples; 0: none were taken
	CPUProcess        uint64 // ns of CPU time that the process had used at its last sample, or at its end
	TimelineUsed      uint32
	ParentFile        string
	Executable        string
	major, minor      uint32
	sections          map[sectionKind]section
	missing           map[sectionKind]uint64
	tableWarnings     []string
}

// ErrNewerVersion is the error for a recording that a newer mallow wrote.
var ErrNewerVersion = errors.New("written by a newer mallow")

// readHeader returns an error when nothing of the file can be read.
func readHeader(r io.ReaderAt, size int64) (h Header, err error) {
	if size < headerBytes {
		return h, fmt.Errorf("cut within its header: %d of %d bytes", size, headerBytes)
	}
	b := make([]byte, headerBytes)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, headerBytes), b); err != nil {
		return h, fmt.Errorf("reading the header: %w", err)
	}
	if string(b[:8]) != magic {
		return h, errors.New("no image file of a recording")
	}
	if v := le.Uint32(b[8:]); v > major {
		return h, fmt.Errorf("%w (format %d, this one reads %d)", ErrNewerVersion, v, major)
	} else if v == 0 {
		return h, errors.New("damaged header: format 0")
	}
	h = Header{
		major:              le.Uint32(b[8:]),
		minor:              le.Uint32(b[12:]),
		Flags:              le.Uint32(b[20:]),
		Incomplete:         le.Uint32(b[incompleteAt:]),
		PID:                le.Uint64(b[32:]),
		ParentPID:          le.Uint64(b[40:]),
		StartRealtime:      le.Uint64(b[48:]),
		StartMonotonic:     le.Uint64(b[56:]),
		ParentNodes:        le.Uint32(b[72:]),
		ParentStacks:       le.Uint32(b[76:]),
		ParentShards:       le.Uint32(b[80:]),
		ParentModules:      le.Uint32(b[84:]),
		LostCalls:          le.Uint64(b[88:]),
		UnrecordedChildren: le.Uint64(b[96:]),
		PeakEpoch:          le.Uint64(b[104:]),
		MostThreads:        le.Uint64(b[112:]),
		SharedLive:         int64(le.Uint64(b[120:])),
		SharedLiveProgram:  int64(le.Uint64(b[128:])),
		LastRealtime:       le.Uint64(b[136:]),
		SharedPeak:         le.Uint64(b[144:]),
		SharedPeakProgram:  le.Uint64(b[152:]),
		VforkChildren:      le.Uint64(b[160:]),
		FirstRegion:        le.Uint32(b[200:]),
		LostMarks:          le.Uint64(b[208:]),
		CPUInterval:        le.Uint64(b[184:]),
		CPUProcess:         le.Uint64(b[192:]),
		Log:                le.Uint64(b[168:]),
		Joined:             le.Uint64(b[216:]) != 0,
		BytesBefore:        max(1, le.Uint64(b[216:])) - 1,
		StoppedRealtime:    le.Uint64(b[224:]),
		TimelineUsed:       le.Uint32(b[232:]),
		ParentFile:         zeroPadded(b[256:384]),
		Executable:         zeroPadded(b[384:896]),
	}
	h.readSectionTable(b, size)
	return h, nil
}

func (h *Header) readSectionTable(b []byte, size int64) {
	h.sections = make(map[sectionKind]section)
	h.missing = make(map[sectionKind]uint64)
	count := le.Uint32(b[28:])
	if count > maxSections {
		h.complain("the section table claims %d entries, %d fit", count, maxSections)
		count = maxSections
	}
	for i := range count {
		entry := b[sectionTable+i*sectionEntry:][:sectionEntry]
		kind := sectionKind(le.Uint32(entry))
		name, known := sectionNames[kind]
		if !known {
			continue
		}
		s, missing, err := parseSection(entry, size)
		switch _, twice := h.sections[kind]; {
		case err != nil:
			h.complain("section of %s: %v", name, err)
		case twice:
			h.complain("a second section of %s is ignored", name)
		default:
			h.sections[kind], h.missing[kind] = s, missing
		}
	}
}

func (h *Header) complain(format string, args ...any) {
	h.tableWarnings = append(h.tableWarnings, "damaged: "+fmt.Sprintf(format, args...))
}

func zeroPadded(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// readImageFile reads one image file.
func (rec *Recording) readImageFile(name string, choose func(*Image)) (*Image, error) {
	f, err := rec.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size() == 0 {
		return nil, errUnrecorded
	}
	// Asked first: what is read of a process that has ended is all there is.
	running := f.Whole && hasWriter(f.file)
	im, err := readImage(name, f, f.Size(), choose)
	if err == nil && im.Flags&FlagPacked == 0 {
		im.Running = running
	}
	return im, err
}

// ReadImage reads what r, an image file of size bytes, holds as far as it can
// be read. An error means that there is nothing to read. The image has no
// Parent yet.
func ReadImage(name string, r io.ReaderAt, size int64) (*Image, error) {
	return readImage(name, r, size, nil)
}

func readImage(name string, r io.ReaderAt, size int64, choose func(*Image)) (*Image, error) {
	header, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	im := &Image{Name: name, Header: header, Warnings: header.tableWarnings}
	im.readStrings(r)
	addNodes := im.readNodesBeside(r)
	im.readStacks(r)
	im.readModules(r)
	im.readSymbolicFrames(r)
	im.readRegions(r)
	im.readUnits(r)
	im.readShards(r)
	im.readSampling(r)
	if choose != nil {
		choose(im)
	}
	im.readCounters(r)
	addNodes()
	im.separate()
	im.estimate()
	if !im.Chosen {
		im.readCPUSamples(r)
	}
	im.describeIncompleteness()
	return im, nil
}

// readNodesBeside begins to read the nodes while other sections are read, and
// returns a function that waits for them.
func (im *Image) readNodesBeside(r io.ReaderAt) (add func()) {
	before := len(im.Warnings)
	beside := &Image{Header: im.Header}
	var reading sync.WaitGroup
	reading.Go(func() { beside.readNodes(r) })
	return func() {
		reading.Wait()
		im.nodes = beside.nodes
		im.Warnings = slices.Insert(im.Warnings, before, beside.Warnings...)
	}
}

// read hands a section to take and warns of what the file lacks of it.
func (im *Image) read(r io.ReaderAt, kind sectionKind, take func(chunk []byte)) {
	s, ok := im.sections[kind]
	if !ok {
		return
	}
	n, err := readDense(r, s, take)
	im.warnOfMissing(kind, n, err)
}

// warnOfMissing tells what the file lacks of a section of which n items were
// read.
func (im *Image) warnOfMissing(kind sectionKind, n int64, err error) {
	missing := im.missing[kind] + uint64(im.sections[kind].used-n)
	switch {
	case err != nil:
		im.warn("%d items of the %s cannot be read: %v", missing, sectionNames[kind], err)
	case missing > 0:
		im.warn("cut or damaged: the last %d items of the %s are missing", missing, sectionNames[kind])
	}
}

func (im *Image) warn(format string, args ...any) {
	im.Warnings = append(im.Warnings, fmt.Sprintf(format, args...))
}

func (im *Image) describeIncompleteness() {
	reasons := []struct {
		bit  uint32
		text string
	}{
		{IncompleteDisk, "the disk was full or a file limit was met"},
		{IncompleteNodes, "the node table is full"},
		{IncompleteStacks, "the stack table is full"},
		{IncompleteShards, "a thread could not get a shard"},
		{IncompleteModules, "the module table is full"},
		{IncompleteRegions, "there are too many regions, or too many within each other"},
		{IncompleteUnits, "there are too many units of work"},
		{IncompleteCPUSamples, "the table of CPU samples is full"},
		{IncompleteOwnMalloc, "another malloc stands before that of libmallow; what it serves is not in here"},
	}
	for _, r := range reasons {
		if im.Incomplete&r.bit != 0 {
			im.warn("incomplete: %s", r.text)
		}
	}
	if im.LostCalls > 0 {
		im.warn("calls that could not be counted: %d", im.LostCalls)
	}
	if im.LostMarks > 0 {
		im.warn("regions and units that could not be counted: %d", im.LostMarks)
	}
	if im.UnrecordedChildren > 0 {
		im.warn("forked children that could not be recorded: %d", im.UnrecordedChildren)
	}
	if im.VforkChildren > 0 {
		im.warn("vfork children that are counted in this process: at least %d", im.VforkChildren)
	}
	if n := im.inFlight(); n > 0 {
		im.warn("calls in flight when the process ended or was read: %d, each may be counted in part", n)
	}
}
