// Package pprof writes a report as a profile of `go tool pprof`, with the four
// sample types of Go's heap profiles: alloc_objects, alloc_space,
// inuse_objects and inuse_space.
//
// Each stack is a sample, labelled with the function that was called ("call":
// malloc) and, where all its blocks have one, with their size ("bytes").
// Frames are named already, so that pprof asks for no binaries; functions that
// were inlined into each other are one location. Figures of sampled recordings
// are estimates, as everywhere: pprof shows them as they are.
package pprof

import (
	"encoding/hex"
	"io"
	"math"
	"strings"

	"github.com/google/pprof/profile"

	mallow "mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/term"
)

// Write writes the profile of sites, compressed as pprof has it.
func Write(w io.Writer, p *mallow.Profile, sites []*mallow.Site) error {
	b := &builder{
		profile: &profile.Profile{
			SampleType: []*profile.ValueType{
				{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
				{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"},
			},
			DefaultSampleType: "alloc_space",
			PeriodType:        &profile.ValueType{Type: "space", Unit: "bytes"},
			Period:            1,
		},
		mappings:  make(map[string]*profile.Mapping),
		functions: make(map[functionKey]*profile.Function),
		lines:     make(map[mallow.Frame]profile.Line),
		locations: make(map[int]*profile.Location),
		buildIDs:  buildIDs(p),
		calls:     make(map[string]map[string][]string),
		sizes:     make(map[int64]map[string][]int64),
	}
	if p.Sampling != nil {
		b.profile.Period = value(p.Sampling.MeanBytes)
		b.profile.Comments = append(b.profile.Comments, "estimated from samples: mallow report tells the standard errors")
	}
	b.times(p)
	b.mapping(program(p)) // pprof takes the first for the program
	err := p.EachStack(sites, func(_ *mallow.Site, s *mallow.Stack) error {
		b.add(s)
		return nil
	})
	if err != nil {
		return err
	}
	if err := b.profile.CheckValid(); err != nil {
		return err
	}
	return b.profile.Write(w)
}

type functionKey struct{ name, file string }

// noStack is the position of what has none.
const noStack = -1

type builder struct {
	profile   *profile.Profile
	mappings  map[string]*profile.Mapping
	functions map[functionKey]*profile.Function
	lines     map[mallow.Frame]profile.Line
	locations map[int]*profile.Location // by position
	buildIDs  map[string]string
	calls     map[string]map[string][]string
	sizes     map[int64]map[string][]int64
}

// program is the path of the module that most processes execute first.
func program(p *mallow.Profile) string {
	for _, process := range p.Processes {
		for _, m := range process.Image.Modules() {
			if m.Kind == recording.ModuleExecutable {
				return p.ModulePath(&m)
			}
		}
	}
	return ""
}

// buildIDs are those of the modules, by path; "" for a path that was several
// files.
func buildIDs(p *mallow.Profile) map[string]string {
	ids := make(map[string]string)
	for _, rec := range p.Recordings {
		for _, im := range rec.Images {
			for _, m := range im.Modules() {
				id := hex.EncodeToString(m.BuildID)
				if other, seen := ids[m.Path]; seen && other != id {
					id = ""
				}
				ids[m.Path] = id
			}
		}
	}
	return ids
}

// times are those of the first recording, if it is the only one.
func (b *builder) times(p *mallow.Profile) {
	if len(p.Recordings) != 1 || p.Recordings[0].Meta == nil {
		return
	}
	m := p.Recordings[0].Meta
	if m.Ended.After(m.Started) && m.Started.Unix() > 0 {
		b.profile.TimeNanos = m.Started.UnixNano()
		b.profile.DurationNanos = int64(m.Ended.Sub(m.Started))
	}
}

func (b *builder) add(s *mallow.Stack) {
	c := &s.Counters
	sample := &profile.Sample{
		Value: []int64{value(c.Calls), value(c.Bytes), value(uint64(c.LiveBlocks())), value(uint64(c.LiveBytes()))},
	}
	if s.Function != 0 {
		sample.Label = shared(b.calls, s.Function.String(), func(call string) map[string][]string {
			return map[string][]string{"call": {call}}
		})
	}
	if c.Calls > 0 && c.SizeMin == c.SizeMax {
		sample.NumLabel = shared(b.sizes, value(c.SizeMin), func(size int64) map[string][]int64 {
			return map[string][]int64{"bytes": {size}}
		})
		sample.NumUnit = unitOfSizes
	}
	sample.Location = make([]*profile.Location, 0, max(1, len(s.Positions)))
	for i := range s.Positions {
		sample.Location = append(sample.Location, b.location(&s.Positions[i]))
	}
	if len(sample.Location) == 0 {
		sample.Location = append(sample.Location, b.location(&mallow.Position{ID: noStack, Frames: []mallow.Frame{{Function: "(no stack)"}}}))
	}
	b.profile.Sample = append(b.profile.Sample, sample)
}

var unitOfSizes = map[string][]string{"bytes": {"bytes"}}

// shared returns what was made of a key before: of a hundred thousand samples
// few have labels of their own.
func shared[K comparable, V any](made map[K]V, key K, create func(K) V) V {
	v, known := made[key]
	if !known {
		v = create(key)
		made[key] = v
	}
	return v
}

// value keeps what a damaged recording claims from being less than nothing.
func value(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// location returns that of a position, with what was inlined there.
func (b *builder) location(at *mallow.Position) *profile.Location {
	if known := b.locations[at.ID]; known != nil {
		return known
	}
	l := &profile.Location{ID: uint64(len(b.profile.Location) + 1), Mapping: b.mapping(at.Frames[0].Module)}
	for _, f := range at.Frames {
		l.Line = append(l.Line, b.line(f))
	}
	b.profile.Location = append(b.profile.Location, l)
	b.locations[at.ID] = l
	return l
}

func (b *builder) line(f mallow.Frame) profile.Line {
	line, known := b.lines[f]
	if !known {
		line = profile.Line{Function: b.function(term.Safe(f.Label()), term.Safe(f.File)), Line: int64(f.Line)}
		b.lines[f] = line
	}
	return line
}

func (b *builder) function(name, file string) *profile.Function {
	key := functionKey{name, file}
	if known := b.functions[key]; known != nil {
		return known
	}
	f := &profile.Function{ID: uint64(len(b.profile.Function) + 1), Name: name, SystemName: systemName(name), Filename: file}
	b.profile.Function = append(b.profile.Function, f)
	b.functions[key] = f
	return f
}

// systemName is what pprof takes a name for: one that the system has, too, it
// simplifies as one of C++, without all that stands in brackets. That is well for
// template arguments, but of a function of Rust it may be the type that it is of,
// and such a name is to stay.
func systemName(name string) string {
	if strings.HasPrefix(name, "<") || strings.Contains(name, "::<") {
		return ""
	}
	return name
}

// mapping returns that of a module. Its file is written as a URL, because
// pprof opens what is a path: without addresses it would then show the code of
// the file's start in the place of the lines that are named here.
func (b *builder) mapping(module string) *profile.Mapping {
	if module == "" {
		return nil
	}
	if known := b.mappings[module]; known != nil {
		return known
	}
	m := &profile.Mapping{
		ID: uint64(len(b.profile.Mapping) + 1), File: "file://" + term.Safe(module), BuildID: b.buildIDs[module],
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	b.profile.Mapping = append(b.profile.Mapping, m)
	b.mappings[module] = m
	return m
}
