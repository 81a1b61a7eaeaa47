// Package folded writes stacks in the form that flame graph tools read: a line
// for each, its frames from the outermost on between semicolons, a blank, and
// the figure.
package folded

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/report/metric"
	"mallow/internal/term"
)

// Write writes the stacks of sites that have any of the metric.
func Write(w io.Writer, p *profile.Profile, sites []*profile.Site, m metric.Metric) error {
	out := bufio.NewWriter(w)
	names := make(map[profile.Frame]string)
	err := p.EachStack(sites, func(_ *profile.Site, s *profile.Stack) error {
		value := m.Of(&s.Counters)
		if value == 0 {
			return nil
		}
		for i := range slices.Backward(s.Frames) {
			frame := s.Frames[i]
			if frame.Function != "" {
				frame.Line = 0 // one function is one box
			}
			name, known := names[frame]
			if !known {
				name = frameName(&frame)
				names[frame] = name
			}
			out.WriteString(name)
			if i > 0 {
				out.WriteByte(';')
			}
		}
		if len(s.Frames) == 0 {
			out.WriteString("(no stack)")
		}
		out.WriteByte(' ')
		out.WriteString(strconv.FormatUint(value, 10))
		return out.WriteByte('\n')
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// separators are what the form gives a meaning to.
var separators = strings.NewReplacer(";", ":", "\u2028", " ", "\u2029", " ")

func frameName(f *profile.Frame) string { return term.Safe(separators.Replace(f.Label())) }
