package log

import (
	"strconv"
	"strings"

	"mallow/internal/eventlog"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/report/text"
	"mallow/internal/term"
)

// textLines are lines in the manner of curl's memory log. What curl's does not
// have stands behind, where its readers do not look.
type textLines struct {
	log                *eventlog.Log
	time               bool
	processes, threads bool // there are several
}

func newText(l *eventlog.Log, o Options) *textLines {
	return &textLines{log: l, time: o.Time, processes: l.Processes() > 1, threads: l.Threads()}
}

func (t *textLines) head(b []byte) []byte { return b }

func (t *textLines) describe(c *call) {
	// A blank would end the place for those who read such logs.
	where := strings.ReplaceAll(term.Safe(place(&c.site)), " ", "_")
	c.before = []byte("MEM " + where + " " + c.name + "(")
	if c.site.Function != "" {
		c.function = []byte("  " + functionName(&c.site))
	}
	c.behind = []byte{'\n'}
	for i := range c.stack {
		c.behind = append(c.behind, stackLine(&c.stack[i])...)
	}
}

func stackLine(f *profile.Frame) string {
	return "    " + functionName(f) + "  " + term.Safe(place(f)) + "\n"
}

func functionName(f *profile.Frame) string {
	if f.Function == "" {
		return "(unknown function)"
	}
	return text.ShortName(f.Function)
}

func (t *textLines) event(b []byte, e *eventlog.Event, c *call) []byte {
	b = append(b, c.before...)
	switch e.Kind {
	case eventlog.Birth:
		b = arguments(b, e, c.called)
		b = append(b, " = 0x"...)
		b = strconv.AppendUint(b, e.Address, 16)
	case eventlog.Move:
		b = append(b, "0x"...)
		b = strconv.AppendUint(b, e.Old, 16)
		b = append(b, ", "...)
		b = strconv.AppendUint(b, e.Size, 10)
		b = append(b, ") = 0x"...)
		b = strconv.AppendUint(b, e.Address, 16)
	case eventlog.Failure:
		b = failedArguments(b, e, c.called)
		b = append(b, " = (nil)"...)
	case eventlog.Death:
		b = append(b, "0x"...)
		b = strconv.AppendUint(b, e.Old, 16)
		b = append(b, ')')
	case eventlog.NullRelease:
		b = append(b, "(nil))"...)
	}
	b = append(b, c.function...)
	b = t.who(b, e)
	if t.time {
		b = append(b, "  "...)
		b = strconv.AppendFloat(b, t.log.Seconds(e), 'f', 6, 64)
		b = append(b, " s"...)
	}
	return append(b, c.behind...)
}

// who tells the process and the thread where there are several.
func (t *textLines) who(b []byte, e *eventlog.Event) []byte {
	if !t.processes && !t.threads {
		return b
	}
	b = append(b, "  ["...)
	if t.processes {
		b = strconv.AppendUint(b, e.Image.PID, 10)
	}
	if t.processes && t.threads {
		b = append(b, '/')
	}
	if t.threads {
		b = strconv.AppendUint(b, uint64(e.Thread), 10)
	}
	return append(b, ']')
}

// arguments writes those of a function that is not given a block, and the
// closing bracket.
func arguments(b []byte, e *eventlog.Event, f recording.Function) []byte {
	switch f.Group() {
	case recording.GroupCalloc:
		count := max(1, e.Argument)
		b = strconv.AppendUint(b, count, 10)
		b = append(b, ',')
		b = strconv.AppendUint(b, e.Size/count, 10)
	case recording.GroupRealloc:
		b = append(b, "(nil), "...)
		b = strconv.AppendUint(b, e.Size, 10)
	case recording.GroupStrdup, recording.GroupWcsdup:
		b = append(b, "0x"...)
		b = strconv.AppendUint(b, e.Argument, 16)
		b = append(b, ") ("...)
		b = strconv.AppendUint(b, e.Size, 10)
	default:
		if e.Argument != 0 && f != recording.Valloc && f != recording.Pvalloc {
			b = strconv.AppendUint(b, e.Argument, 10)
			b = append(b, ", "...)
		}
		b = strconv.AppendUint(b, e.Size, 10)
	}
	return append(b, ')')
}

// failedArguments writes what is known of a call that returned no block: the
// bytes that it asked for in all.
func failedArguments(b []byte, e *eventlog.Event, f recording.Function) []byte {
	if e.Size == eventlog.UnknownSize {
		return append(b, "?)"...)
	}
	switch f.Group() {
	case recording.GroupRealloc:
		b = append(b, "?, "...)
	case recording.GroupStrdup, recording.GroupWcsdup:
		b = append(b, "?) ("...)
	}
	b = strconv.AppendUint(b, e.Size, 10)
	return append(b, ')')
}

func (t *textLines) note(b []byte, text string) []byte {
	return append(append(append(b, "# "...), term.Safe(text)...), '\n')
}
