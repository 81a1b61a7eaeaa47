// Package speedscope writes a report as a file of the viewer speedscope, with
// one profile for each metric: calls, bytes, those at the peak, temporary
// allocations, bytes never freed.
package speedscope

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"mallow/internal/profile"
	"mallow/internal/report/metric"
	"mallow/internal/term"
)

const schema = "https://www.speedscope.app/file-format-schema.json"

// frame is an entry of the table that all profiles share.
type frame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// writer writes the file as it goes: of a stack only the number of its figure
// is kept.
type writer struct {
	out    *bufio.Writer
	frames []frame
	index  map[profile.Frame]int
	digits []byte
}

// Write writes the stacks of sites under a title, which names the recording.
func Write(w io.Writer, p *profile.Profile, sites []*profile.Site, title string) error {
	f := &writer{out: bufio.NewWriter(w), index: make(map[profile.Frame]int)}
	f.text(`{"$schema":`, schema)
	f.text(`,"exporter":`, "mallow")
	f.text(`,"name":`, term.Safe(title))
	f.out.WriteString(`,"activeProfileIndex":0,"profiles":[`)
	known := slices.DeleteFunc(slices.Clone(metric.All), func(m metric.Metric) bool {
		return m == metric.Peak && p.PeakUnknown() || m == metric.Temporary && p.SumsOnly
	})
	for i, m := range known {
		if i > 0 {
			f.out.WriteByte(',')
		}
		if err := f.profile(p, sites, m); err != nil {
			return err
		}
	}
	f.out.WriteString(`],"shared":{"frames":`)
	f.json(slices.Clip(append([]frame{}, f.frames...)))
	f.out.WriteString("}}\n")
	return f.out.Flush()
}

func (f *writer) profile(p *profile.Profile, sites []*profile.Site, m metric.Metric) error {
	unit := "none"
	if m.IsBytes() {
		unit = "bytes"
	}
	title := m.Title()
	if m == metric.Live {
		title = "bytes " + p.Fate()
	}
	f.text(`{"type":"sampled","name":`, title)
	f.text(`,"unit":`, unit)
	f.out.WriteString(`,"startValue":0,"samples":[`)
	var weights []uint64
	var sum uint64
	err := p.EachStack(sites, func(_ *profile.Site, s *profile.Stack) error {
		value := m.Of(&s.Counters)
		if value == 0 {
			return nil
		}
		if len(weights) > 0 {
			f.out.WriteByte(',')
		}
		weights = append(weights, value)
		sum += value
		return f.sample(s)
	})
	if err != nil {
		return err
	}
	f.out.WriteString(`],"weights":[`)
	for i, weight := range weights {
		f.number(i, weight)
	}
	f.out.WriteString(`],"endValue":`)
	f.number(0, sum)
	return f.out.WriteByte('}')
}

// sample writes a stack, from its outermost frame on, as indexes of frames.
func (f *writer) sample(s *profile.Stack) error {
	f.out.WriteByte('[')
	for i := range s.Frames {
		f.number(i, uint64(f.indexOf(s.Frames[len(s.Frames)-1-i])))
	}
	if len(s.Frames) == 0 {
		f.number(0, uint64(f.indexOf(profile.Frame{Function: "(no stack)"})))
	}
	return f.out.WriteByte(']')
}

func (f *writer) indexOf(of profile.Frame) int {
	i, known := f.index[of]
	if !known {
		i = len(f.frames)
		f.index[of] = i
		f.frames = append(f.frames, frame{Name: term.Safe(of.Label()), File: term.Safe(of.File), Line: max(0, of.Line)})
	}
	return i
}

func (f *writer) number(position int, n uint64) {
	if position > 0 {
		f.out.WriteByte(',')
	}
	f.digits = strconv.AppendUint(f.digits[:0], n, 10)
	f.out.Write(f.digits)
}

func (f *writer) text(before, s string) {
	f.out.WriteString(before)
	f.json(s)
}

func (f *writer) json(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers alone
	}
	f.out.Write(b)
}
