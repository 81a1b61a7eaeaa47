package importer

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/pprof/profile"

	"mallow/internal/recording"
	"mallow/internal/recording/recorder"
)

// isProfile takes any binary file for a profile: what it is the parser finds
// out.
func isProfile(head []byte) bool {
	return isLegacy(head) || bytes.IndexFunc(head, func(r rune) bool { return r < '\t' }) >= 0
}

// heapProfile reads profiles in pprof's formats: sums per stack of what was
// allocated, and of what lives.
type heapProfile struct {
	target *target
	pprof  *profile.Profile
	// Indexes of the sample types; -1 where there is none.
	allocObjects, allocSpace, inuseObjects, inuseSpace int

	frames  map[*profile.Location][]recorder.Frame // outermost first
	modules map[*profile.Mapping]uint32
	stacks  map[stackOfTrace]recorder.Stack
	legacy  bool    // a text, whose labels are mean sizes
	mean    float64 // bytes between two samples, 0 when all was counted
	sum     recorder.Totals
	bytes   uint64 // of all samples so far
	odd     int    // samples with figures below zero
}

func readProfile(s *source, t *target, r *Result) error {
	data, err := s.all(mostProfile)
	if err != nil {
		return err
	}
	parsed, missing, err := parseProfile(data)
	if err != nil {
		return fmt.Errorf("expected a heap profile in pprof's format: %w", err)
	}
	h := &heapProfile{
		target: t, pprof: parsed, frames: make(map[*profile.Location][]recorder.Frame),
		modules: make(map[*profile.Mapping]uint32), stacks: make(map[stackOfTrace]recorder.Stack),
	}
	h.legacy = isLegacy(data)
	if err := h.chooseTypes(); err != nil {
		return err
	}
	if pt := parsed.PeriodType; pt != nil && pt.Type == "space" && pt.Unit == "bytes" && parsed.Period > 1 {
		h.mean = float64(parsed.Period)
		t.image.Sampled(uint64(parsed.Period))
	}
	for _, sample := range parsed.Sample {
		if err := h.add(sample); err != nil {
			return err
		}
	}
	r.Totals = h.sum
	h.finish(r)
	if missing != "" {
		r.Notes = append(r.Notes, missing)
	}
	return nil
}

// parseProfile guards against what the parser does with files that are none. Of
// one that is not whole missing says so.
func parseProfile(data []byte) (p *profile.Profile, missing string, err error) {
	defer func() {
		if trouble := recover(); trouble != nil {
			p, err = nil, fmt.Errorf("damaged: %v", trouble)
		}
	}()
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return nil, "", errors.New("packed twice")
	}
	if bytes.HasPrefix(data, jemallocHead) {
		if data, err = fromJemalloc(data); err != nil {
			return nil, "", err
		}
	}
	if !isLegacy(data) && countParts(data, true) > mostParts {
		return nil, "", fmt.Errorf("has too many parts: no more than %d samples, places, names and labels in all", mostParts)
	}
	p, err = profile.ParseData(data)
	return p, missingStacks(data), err
}

// countParts counts the messages and texts of a profile, and those within its
// samples and places. What is wrong with one the parser says.
func countParts(b []byte, outermost bool) int {
	const samples, places = 2, 4
	parts := 0
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return parts
		}
		b = b[n:]
		length := uint64(0)
		switch key & 7 {
		case 0:
			_, n = binary.Uvarint(b)
			length = uint64(max(n, 0))
		case 1:
			length = 8
		case 5:
			length = 4
		case 2:
			length, n = binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return parts
			}
			b = b[n:]
			if parts++; outermost && (key>>3 == samples || key>>3 == places) {
				parts += countParts(b[:length], false)
			}
		default:
			return parts
		}
		if length > uint64(len(b)) || key&7 == 0 && length == 0 {
			return parts
		}
		b = b[length:]
	}
	return parts
}

func (h *heapProfile) chooseTypes() error {
	index := func(names ...string) int {
		for i, t := range h.pprof.SampleType {
			for _, name := range names {
				if t.Type == name {
					return i
				}
			}
		}
		return -1
	}
	h.allocObjects, h.allocSpace = index("alloc_objects"), index("alloc_space")
	h.inuseObjects, h.inuseSpace = index("inuse_objects", "objects"), index("inuse_space", "space")
	if (h.allocObjects < 0 || h.allocSpace < 0) && (h.inuseObjects < 0 || h.inuseSpace < 0) {
		var types []string
		for _, t := range h.pprof.SampleType {
			types = append(types, t.Type)
		}
		return fmt.Errorf("expected a heap profile, with alloc_objects and alloc_space or inuse_objects and inuse_space, and found one of %s", strings.Join(types, ", "))
	}
	return nil
}

// figures are objects and their bytes.
type figures struct{ objects, bytes uint64 }

func (h *heapProfile) figuresAt(s *profile.Sample, objects, space int) figures {
	if objects < 0 || space < 0 {
		return figures{}
	}
	n, bytes := s.Value[objects], s.Value[space]
	if n < 0 || bytes < 0 {
		h.odd++
	}
	return figures{uint64(max(0, n)), uint64(max(0, bytes))}
}

// mostSum is what the figures of all samples come to at the most.
const mostSum = 1 << 62

func (h *heapProfile) add(s *profile.Sample) error {
	live := h.figuresAt(s, h.inuseObjects, h.inuseSpace)
	all := h.figuresAt(s, h.allocObjects, h.allocSpace)
	if h.allocObjects < 0 || h.allocSpace < 0 {
		all = live
	}
	// Of a damaged profile, and of what was rounded, no more lives than was made.
	all = figures{max(all.objects, live.objects), max(all.bytes, live.bytes)}
	if h.inuseObjects < 0 || h.inuseSpace < 0 {
		live = figures{}
	}
	dead := figures{all.objects - live.objects, all.bytes - live.bytes}
	switch { // bytes without objects
	case all.objects == 0:
		return nil
	case dead.objects == 0:
		dead.bytes = 0
	case live.objects == 0:
		dead.bytes = all.bytes
	}
	if h.bytes += all.bytes; all.objects > mostSum-h.sum.Allocations || all.bytes > mostSum || h.bytes > mostSum {
		return fmt.Errorf("expected figures that add up to no more than %d, and found more", uint64(mostSum))
	}
	h.sum.Allocations += all.objects
	h.sum.Frees += dead.objects
	h.sum.LiveBlocks += int64(all.objects - dead.objects)
	h.sum.LiveBytes += int64(all.bytes - dead.bytes)
	stack := h.stack(s)
	size := h.sizesOf(s, all)
	if h.mean == 0 {
		h.target.thread.Count(stack, &recording.Counters{
			Calls: all.objects, Bytes: all.bytes, UsableBytes: all.bytes, SizeMin: size.least, SizeMax: size.most,
			Releases: dead.objects, ReleasedBytes: dead.bytes,
		})
		return nil
	}
	// What stands in the profile was scaled up; the recording has samples, and
	// what they stand for.
	births, deaths := h.samples(all), h.samples(dead)
	if births.objects < deaths.objects || births.bytes < deaths.bytes {
		births = figures{max(births.objects, deaths.objects), max(births.bytes, deaths.bytes)}
	}
	h.target.thread.Count(stack, &recording.Counters{
		Calls: births.objects, Bytes: births.bytes, UsableBytes: births.bytes, SizeMin: size.least, SizeMax: size.most,
		Releases: deaths.objects, ReleasedBytes: deaths.bytes,
	})
	// Which blocks were samples is chance of its own for each, so the variances
	// of those that live and those that died add up. Of all, whose mean size may
	// be another one, there is none that goes with both.
	deadCalls, deadBytes := h.variance(dead)
	liveCalls, liveBytes := h.variance(figures{all.objects - dead.objects, all.bytes - dead.bytes})
	h.target.thread.Weigh(stack, [8]float64{
		float64(all.objects), float64(all.bytes), deadCalls + liveCalls, deadBytes + liveBytes,
		float64(dead.objects), float64(dead.bytes), deadCalls, deadBytes,
	})
	return nil
}

// chance is how likely a block of the figures' mean size was a sample.
func (h *heapProfile) chance(f figures) float64 {
	if f.objects == 0 {
		return 1
	}
	return -math.Expm1(-max(1, float64(f.bytes)/float64(f.objects)) / h.mean)
}

func (h *heapProfile) samples(f figures) figures {
	chance := h.chance(f)
	n := uint64(math.Ceil(float64(f.objects)*chance - 1e-9))
	return figures{n, uint64(float64(f.bytes) * chance)}
}

// variance is that of the figures, which are sums of 1/chance.
func (h *heapProfile) variance(f figures) (calls, bytes float64) {
	if f.objects == 0 {
		return 0, 0
	}
	chance := h.chance(f)
	calls = float64(f.objects) * (1 - chance) / chance
	size := float64(f.bytes) / float64(f.objects)
	return calls, calls * size * size
}

// sizes bound the sizes of blocks.
type sizes struct{ least, most uint64 }

// sizesOf are known where a label tells them, or there is one block; else the
// sum is the only bound.
func (h *heapProfile) sizesOf(s *profile.Sample, all figures) sizes {
	if label := s.NumLabel["bytes"]; len(label) == 1 && label[0] >= 0 && all.objects > 0 && !h.legacy {
		return sizes{uint64(label[0]), uint64(label[0])}
	}
	if all.objects == 1 {
		return sizes{all.bytes, all.bytes}
	}
	return sizes{0, all.bytes}
}

func (h *heapProfile) stack(s *profile.Sample) recorder.Stack {
	im := h.target.image
	var key stackOfTrace
	for i := len(s.Location) - 1; i >= callerOfMalloc(s); i-- {
		for _, frame := range h.framesOf(s.Location[i]) {
			key.node = im.Inside(key.node, frame)
		}
	}
	key.function = recording.Malloc
	if call := s.Label["call"]; len(call) == 1 {
		key.function = max(key.function, recording.FunctionNamed(call[0]))
	}
	if key.function == recording.FreeNull {
		key.function = recording.Malloc
	}
	stack, known := h.stacks[key]
	if !known {
		stack = im.StackAt(key.node, key.function, false)
		h.stacks[key] = stack
	}
	return stack
}

// callerOfMalloc is the first location of a sample outside of the allocator,
// which dumps its own functions, too.
func callerOfMalloc(s *profile.Sample) int {
	for i, l := range s.Location {
		name := ""
		if l != nil {
			name = filepath.Base(moduleName(l.Mapping))
		}
		if !strings.HasPrefix(name, "libjemalloc") && !strings.HasPrefix(name, "libtcmalloc") {
			return i
		}
	}
	return 0
}

// framesOf returns the functions of a location; of one that has none the
// address in its module, for the symbolizer to name.
func (h *heapProfile) framesOf(l *profile.Location) []recorder.Frame {
	if l == nil {
		return nil
	}
	if known, seen := h.frames[l]; seen {
		return known
	}
	var frames []recorder.Frame
	module := moduleName(l.Mapping)
	for i := len(l.Line) - 1; i >= 0; i-- {
		line := &l.Line[i]
		if line.Function == nil {
			continue
		}
		name := line.Function.Name
		if name == "" {
			name = line.Function.SystemName
		}
		frames = append(frames, h.target.image.Symbolic(name, line.Function.Filename, module, uint32(max(0, min(line.Line, 1<<31)))))
	}
	if len(frames) == 0 {
		frames = []recorder.Frame{h.addressFrame(l, module)}
	}
	h.frames[l] = frames
	return frames
}

func (h *heapProfile) addressFrame(l *profile.Location, module string) recorder.Frame {
	if l.Mapping == nil || module == "" || l.Address == 0 || l.Address >= 1<<56-1 {
		return h.target.image.Symbolic(unnamed(module, l.Address), "", module, 0)
	}
	id, known := h.modules[l.Mapping]
	if !known {
		m := recorder.Module{
			Path: module, Kind: moduleKind(module), Start: l.Mapping.Start, End: l.Mapping.Limit,
			Bias: l.Mapping.Start - addressInFile(module, l.Mapping.Offset),
		}
		if buildID, err := hex.DecodeString(l.Mapping.BuildID); err == nil {
			m.BuildID = buildID[:min(len(buildID), 32)]
		}
		id = h.target.image.Module(m)
		h.modules[l.Mapping] = id
	}
	return recorder.Call(id, l.Address+1) // the profile has that of the call
}

// moduleName is the path of a mapping. mallow's own profiles have it as a URL.
func moduleName(m *profile.Mapping) string {
	if m == nil {
		return ""
	}
	return strings.TrimPrefix(m.File, "file://")
}

func moduleKind(path string) recording.ModuleKind {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "libc.so"), strings.HasPrefix(name, "libc-"), strings.HasPrefix(name, "ld-linux"):
		return recording.ModuleLibc
	case strings.HasPrefix(name, "lib"):
		return recording.ModuleLibrary
	}
	return recording.ModuleExecutable
}

// addressInFile returns the address that the file gives to what stands at an
// offset of it; the offset itself where the file is not there.
func addressInFile(path string, offset uint64) uint64 {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return offset
	}
	file, err := elf.Open(path)
	if err != nil {
		return offset
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			return offset + p.Vaddr - p.Off
		}
	}
	return offset
}

func (h *heapProfile) finish(r *Result) {
	note := "imported from a pprof profile, which has sums of stacks: what follows what, who releases and when is not known, and what lives at the end stands for the peak"
	switch {
	case h.allocObjects < 0 || h.allocSpace < 0:
		note = "imported from a pprof profile that knows only what lives: what was released before is not in it"
	case h.inuseObjects < 0 || h.inuseSpace < 0:
		note = "imported from a pprof profile that knows only what was allocated: what lives is not known, and all of it counts as freed"
	}
	r.Notes = append(r.Notes, note)
	if h.odd > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d samples of the profile have figures below zero, which are left out", h.odd))
	}
	if len(h.pprof.Mapping) > 0 {
		h.target.image.Executable = moduleName(h.pprof.Mapping[0])
	}
}
