package stacks

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mallow/internal/recording"
)

// head explains the text to those who see it in a diff.
const head = `# Where benchmark %s allocates. With this mallow gate names what grew; --update writes it.
# A site: function, place, module. Below it each way to call it: calls, function (libc: by libc on behalf of it),
# bytes, size of the blocks, blocks and bytes never freed, bytes at the peak, and the callers outwards.
`

// Text writes the set for people and for ParseText: a line for each site, and
// below it one for each way to it. Fields are apart by tabs; what cannot stand
// between them is escaped as in Go.
func (s *Set) Text(benchmark string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, head, strconv.Quote(benchmark))
	for _, u := range s.Units {
		word := "unit"
		if u.Function {
			word = "calls"
		}
		fmt.Fprintf(&b, "%s\t%d\t%s\n", word, u.Count, escape(u.Name))
	}
	for i := range s.Stacks {
		st := &s.Stacks[i]
		if i == 0 || s.Stacks[i-1].site() != st.site() || s.Stacks[i-1].Libc != st.Libc {
			f := st.site()
			fmt.Fprintf(&b, "%s\t%s\t%s\n", escape(orDash(f.Function)), escape(f.place()), escape(orDash(f.Module)))
		}
		sizes := strconv.FormatUint(st.SizeMin, 10)
		if st.SizeMax != st.SizeMin {
			sizes += "-" + strconv.FormatUint(st.SizeMax, 10)
		}
		fmt.Fprintf(&b, "\t%d %s %d %s %d %d %d", st.Calls, st.functionName(), st.Bytes, sizes, st.LiveBlocks, st.LiveBytes, st.PeakBytes)
		for _, f := range st.Frames[min(1, len(st.Frames)):] {
			at := f.place()
			if f.File == "" {
				at = "in " + orDash(f.Module)
			}
			fmt.Fprintf(&b, "\t%s\t%s", escape(orDash(f.Function)), escape(at))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// ofLibc stands before the function that libc calls.
const ofLibc = "libc:"

func (st *Stack) functionName() string {
	name := "-"
	if st.Function != 0 {
		name = strings.ReplaceAll(st.Function.String(), " ", "_")
	}
	if st.Libc {
		return ofLibc + name
	}
	return name
}

func (st *Stack) setFunction(name string) {
	name, st.Libc = strings.CutPrefix(name, ofLibc)
	if st.Function = recording.FunctionNamed(name); st.Function == 0 { // unlike posix_memalign
		st.Function = recording.FunctionNamed(strings.ReplaceAll(name, "_", " "))
	}
}

// place is file and line, as far as they are known.
func (f Frame) place() string {
	switch {
	case f.File == "":
		return "-"
	case f.Line == 0:
		return f.File
	}
	return f.File + ":" + strconv.Itoa(f.Line)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func fromDash(text string) string {
	if text == "-" {
		return ""
	}
	return text
}

// escape writes text so that no character of it steers or hides anything.
func escape(text string) string {
	if strings.HasPrefix(text, "#") {
		return `\x23` + escape(text[1:])
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	return strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
}

// Limits of a text.
const (
	mostStacks = 1 << 20
	mostLine   = 1 << 20
)

// ParseText reads what Text has written. An error names the line.
func ParseText(text []byte) (*Set, error) {
	s := &Set{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, mostLine)
	var site *Frame
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		for i := range fields {
			plain, err := unescape(fields[i])
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is not escaped as it should be", number, fields[i])
			}
			fields[i] = plain
		}
		switch {
		case fields[0] == "":
			st, err := parseStack(site, fields[1:])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if s.Stacks = append(s.Stacks, st); len(s.Stacks) > mostStacks {
				return nil, fmt.Errorf("line %d: more than %d stacks", number, mostStacks)
			}
		case len(fields) == 3 && site == nil && (fields[0] == "unit" || fields[0] == "calls") && isNumber(fields[1]):
			n, err := strconv.ParseUint(fields[1], 10, 63)
			if err != nil || n == 0 {
				return nil, fmt.Errorf("line %d: %s is no number of units", number, fields[1])
			}
			s.Units = append(s.Units, Unit{fields[2], fields[0] == "calls", n})
		case len(fields) == 3:
			f := parseFrame(fields[0], fields[1])
			f.Module = fromDash(fields[2])
			site = &f
		default:
			return nil, fmt.Errorf("line %d: expected a site: function, place and module, with tabs between", number)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("a line is too long")
	}
	s.sort()
	return s, nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}

func parseFrame(function, place string) Frame {
	f := Frame{Function: fromDash(function), File: fromDash(place)}
	if i := strings.LastIndexByte(place, ':'); i > 0 {
		if line, err := strconv.ParseUint(place[i+1:], 10, 31); err == nil && line > 0 {
			f.File, f.Line = place[:i], int(line)
		}
	}
	return f
}

func parseStack(site *Frame, fields []string) (Stack, error) {
	if site == nil {
		return Stack{}, fmt.Errorf("a way to a site stands below its site")
	}
	figures := strings.Split(fields[0], " ")
	if len(figures) != 7 || len(fields)%2 != 1 {
		return Stack{}, fmt.Errorf("expected calls, function, bytes, size, blocks and bytes never freed and bytes at the peak, then callers with their places")
	}
	var st Stack
	st.setFunction(figures[1])
	least, most, several := strings.Cut(figures[3], "-")
	if !several {
		most = least
	}
	for _, number := range []struct {
		to   *uint64
		text string
	}{
		{&st.Calls, figures[0]}, {&st.Bytes, figures[2]}, {&st.SizeMin, least}, {&st.SizeMax, most},
		{&st.LiveBlocks, figures[4]}, {&st.LiveBytes, figures[5]}, {&st.PeakBytes, figures[6]},
	} {
		n, err := strconv.ParseUint(number.text, 10, 64)
		if err != nil || n > math.MaxInt64 {
			return Stack{}, fmt.Errorf("%q is no number", number.text)
		}
		*number.to = n
	}
	if st.LiveBlocks > st.Calls || st.LiveBytes > st.Bytes || st.SizeMin > st.SizeMax {
		return Stack{}, fmt.Errorf("the figures contradict each other")
	}
	if *site == (Frame{}) && len(fields) == 1 {
		return st, nil
	}
	st.Frames = []Frame{*site}
	for i := 1; i < len(fields); i += 2 {
		var f Frame
		if module, ok := strings.CutPrefix(fields[i+1], "in "); ok {
			f = Frame{Function: fromDash(fields[i]), Module: fromDash(module)}
		} else {
			f = parseFrame(fields[i], fields[i+1])
		}
		st.Frames = append(st.Frames, f)
	}
	return st, nil
}
