package gocode

import (
	"io"
	"math"

	"github.com/google/pprof/profile"

	"mallow/internal/gocode"
)

// WriteBenchmarksPprof writes the stacks of benchmarks as one profile for go
// tool pprof. Its figures are of all operations that were counted; the label
// "benchmark" tells them apart.
func WriteBenchmarksPprof(w io.Writer, all []*gocode.Benchmark) error {
	p := newProfile()
	for _, b := range all {
		for _, l := range b.Lines {
			for i := range l.Stacks {
				p.add(&l.Stacks[i], float64(b.Operations), map[string][]string{"benchmark": {b.Name}})
			}
		}
	}
	return p.Write(w)
}

// WriteRunPprof writes the stacks of a run; the label "pid" tells processes
// apart.
func WriteRunPprof(w io.Writer, r *gocode.Run) error {
	p := newProfile()
	for i := range r.Processes {
		process := &r.Processes[i]
		for _, l := range process.Lines {
			for j := range l.Stacks {
				p.numbered(&l.Stacks[j], int64(process.PID))
			}
		}
	}
	return p.Write(w)
}

// pprofWriter numbers functions and locations as they come.
type pprofWriter struct {
	*profile.Profile
	functions map[[2]string]*profile.Function
	locations map[gocode.Frame]*profile.Location
}

func newProfile() *pprofWriter {
	objects := &profile.ValueType{Type: "alloc_objects", Unit: "count"}
	space := &profile.ValueType{Type: "alloc_space", Unit: "bytes"}
	return &pprofWriter{
		Profile: &profile.Profile{
			SampleType: []*profile.ValueType{objects, space}, DefaultSampleType: objects.Type,
			PeriodType: space, Period: 1, // every allocation
		},
		functions: make(map[[2]string]*profile.Function),
		locations: make(map[gocode.Frame]*profile.Location),
	}
}

func (p *pprofWriter) numbered(s *gocode.Stack, pid int64) {
	p.add(s, 1, nil)
	p.Sample[len(p.Sample)-1].NumLabel = map[string][]int64{"pid": {pid}}
}

func (p *pprofWriter) add(s *gocode.Stack, times float64, labels map[string][]string) {
	sample := &profile.Sample{
		Value: []int64{int64(math.Round(s.Allocs * times)), int64(math.Round(s.Bytes * times))}, Label: labels,
	}
	for _, f := range s.Frames {
		sample.Location = append(sample.Location, p.location(f))
	}
	p.Sample = append(p.Sample, sample)
}

func (p *pprofWriter) location(f gocode.Frame) *profile.Location {
	if at := p.locations[f]; at != nil {
		return at
	}
	key := [2]string{f.Function, f.File}
	if p.functions[key] == nil {
		function := &profile.Function{ID: uint64(len(p.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
		p.functions[key] = function
		p.Function = append(p.Function, function)
	}
	at := &profile.Location{ID: uint64(len(p.Location) + 1), Line: []profile.Line{{Function: p.functions[key], Line: int64(f.Line)}}}
	p.locations[f] = at
	p.Location = append(p.Location, at)
	return at
}
