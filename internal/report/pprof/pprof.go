// Package pprof writes a report as a profile of `go tool pprof`, with the four
// sample types of Go's heap profiles: alloc_objects, alloc_space,
// inuse_objects and inuse_space.
//
// Each stack is a sample, labelled with the function that was called ("call":
// malloc). Frames are named already, so that pprof asks for no binaries; an
// inlined function is a location of its own. Figures of sampled recordings are
// estimates, as everywhere: pprof shows them as they are.
package pprof

import (
	"io"
	"math"

	"github.com/google/pprof/profile"

	mallow "mallow/internal/profile"
	"mallow/internal/recording"
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
		locations: make(map[mallow.Frame]*profile.Location),
	}
	if p.Sampling != nil {
		b.profile.Period = value(p.Sampling.MeanBytes)
		b.profile.Comments = append(b.profile.Comments, "estimated from samples: mallow report tells the standard errors")
	}
	b.times(p)
	stacks, _ := p.Stacks(sites, 0)
	for _, ofSite := range stacks {
		for i := range ofSite {
			b.add(&ofSite[i])
		}
	}
	if err := b.profile.CheckValid(); err != nil {
		return err
	}
	return b.profile.Write(w)
}

type functionKey struct{ name, file string }

type builder struct {
	profile   *profile.Profile
	mappings  map[string]*profile.Mapping
	functions map[functionKey]*profile.Function
	locations map[mallow.Frame]*profile.Location
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
		sample.Label = map[string][]string{"call": {recording.Function(s.Function).String()}}
	}
	for i := range s.Frames {
		sample.Location = append(sample.Location, b.location(&s.Frames[i]))
	}
	if len(sample.Location) == 0 {
		sample.Location = append(sample.Location, b.location(&mallow.Frame{Function: "(no stack)"}))
	}
	b.profile.Sample = append(b.profile.Sample, sample)
}

// value keeps what a damaged recording claims from being less than nothing.
func value(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func (b *builder) location(f *mallow.Frame) *profile.Location {
	if known := b.locations[*f]; known != nil {
		return known
	}
	name := f.Function
	if name == "" {
		name = "(unknown function)"
	}
	l := &profile.Location{
		ID: uint64(len(b.profile.Location) + 1), Mapping: b.mapping(f.Module),
		Line: []profile.Line{{Function: b.function(name, f.File), Line: int64(f.Line)}},
	}
	b.profile.Location = append(b.profile.Location, l)
	b.locations[*f] = l
	return l
}

func (b *builder) function(name, file string) *profile.Function {
	key := functionKey{name, file}
	if known := b.functions[key]; known != nil {
		return known
	}
	f := &profile.Function{ID: uint64(len(b.profile.Function) + 1), Name: name, SystemName: name, Filename: file}
	b.profile.Function = append(b.profile.Function, f)
	b.functions[key] = f
	return f
}

func (b *builder) mapping(module string) *profile.Mapping {
	if module == "" {
		return nil
	}
	if known := b.mappings[module]; known != nil {
		return known
	}
	m := &profile.Mapping{
		ID: uint64(len(b.profile.Mapping) + 1), File: module,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	b.profile.Mapping = append(b.profile.Mapping, m)
	b.mappings[module] = m
	return m
}
