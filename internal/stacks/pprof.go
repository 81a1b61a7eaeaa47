package stacks

import (
	"bytes"
	"fmt"
	"math"

	"github.com/google/pprof/profile"
)

// sampleTypes are the four of Go's heap profiles, and behind them one of ours.
var sampleTypes = []*profile.ValueType{
	{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
	{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"},
	{Type: "peak_space", Unit: "bytes"},
}

// Pprof writes the set as a profile of pprof, compressed. The same set gives
// the same bytes.
func (s *Set) Pprof() ([]byte, error) {
	p := &profile.Profile{
		SampleType: sampleTypes, DefaultSampleType: "alloc_space",
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: 1,
	}
	for _, u := range s.Units {
		word := "unit"
		if u.Function {
			word = "calls"
		}
		p.Comments = append(p.Comments, fmt.Sprintf("%s\t%d\t%s", word, u.Count, escape(u.Name)))
	}
	functions := make(map[[2]string]*profile.Function)
	mappings := make(map[string]*profile.Mapping)
	locations := make(map[Frame]*profile.Location)
	locate := func(f Frame) *profile.Location {
		if known := locations[f]; known != nil {
			return known
		}
		name := [2]string{f.Function, f.File}
		if functions[name] == nil {
			functions[name] = &profile.Function{ID: uint64(len(p.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
			p.Function = append(p.Function, functions[name])
		}
		if f.Module != "" && mappings[f.Module] == nil {
			mappings[f.Module] = &profile.Mapping{
				ID: uint64(len(p.Mapping) + 1), File: f.Module,
				HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
			}
			p.Mapping = append(p.Mapping, mappings[f.Module])
		}
		l := &profile.Location{
			ID: uint64(len(p.Location) + 1), Mapping: mappings[f.Module],
			Line: []profile.Line{{Function: functions[name], Line: int64(f.Line)}},
		}
		p.Location = append(p.Location, l)
		locations[f] = l
		return l
	}
	for i := range s.Stacks {
		st := &s.Stacks[i]
		sample := &profile.Sample{
			Value:    []int64{value(st.Calls), value(st.Bytes), value(st.LiveBlocks), value(st.LiveBytes), value(st.PeakBytes)},
			Label:    map[string][]string{"call": {st.functionName()}},
			NumLabel: map[string][]int64{"size_min": {value(st.SizeMin)}, "size_max": {value(st.SizeMax)}},
		}
		frames := st.Frames
		if len(frames) == 0 {
			frames = []Frame{{}}
		}
		for _, f := range frames {
			sample.Location = append(sample.Location, locate(f))
		}
		p.Sample = append(p.Sample, sample)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func value(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// ParsePprof reads what Pprof has written; of other heap profiles what is in
// them.
func ParsePprof(data []byte) (s *Set, err error) {
	defer func() { // what the parser does with what is none
		if trouble := recover(); trouble != nil {
			s, err = nil, fmt.Errorf("the profile is damaged: %v", trouble)
		}
	}()
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("the profile is damaged: %w", err)
	}
	at := make([]int, len(sampleTypes))
	for i, wanted := range sampleTypes {
		at[i] = -1
		for k, t := range p.SampleType {
			if t.Type == wanted.Type {
				at[i] = k
			}
		}
	}
	if at[0] < 0 || at[1] < 0 {
		return nil, fmt.Errorf("the profile is not one of allocations")
	}
	s = &Set{}
	for _, line := range p.Comments {
		if units, err := ParseText([]byte(line + "\n")); err == nil {
			s.Units = append(s.Units, units.Units...)
		}
	}
	for _, sample := range p.Sample {
		figure := func(i int) uint64 {
			if at[i] < 0 {
				return 0
			}
			return uint64(max(0, sample.Value[at[i]]))
		}
		number := func(label string) uint64 {
			if n := sample.NumLabel[label]; len(n) == 1 {
				return uint64(max(0, n[0]))
			}
			return 0
		}
		st := Stack{Figures: Figures{
			Calls: figure(0), Bytes: figure(1), LiveBlocks: figure(2), LiveBytes: figure(3), PeakBytes: figure(4),
			SizeMin: number("size_min"), SizeMax: number("size_max"),
		}}
		st.LiveBlocks, st.LiveBytes = min(st.LiveBlocks, st.Calls), min(st.LiveBytes, st.Bytes)
		if call := sample.Label["call"]; len(call) == 1 {
			st.setFunction(call[0])
		}
		for _, l := range sample.Location {
			module := ""
			if l.Mapping != nil {
				module = l.Mapping.File
			}
			for _, line := range l.Line {
				if line.Function == nil {
					continue
				}
				f := Frame{Function: line.Function.Name, File: line.Function.Filename, Module: module, Line: int(max(0, min(line.Line, 1<<31-1)))}
				if f != (Frame{}) {
					st.Frames = append(st.Frames, f)
				}
			}
		}
		s.Stacks = append(s.Stacks, st)
	}
	s.sort()
	return s, nil
}
