// Package difftest makes profiles of programs that never were from a few lines
// of text.
package difftest

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// Profile makes the profile of a program. Each line of text is a call stack,
// with how often it was called, the function, the size of each block, and
// "kept" unless each was freed at once, or "grown" where realloc had taken it over
// before, in a function grow:
//
//	40 malloc 16: list_new util/list.c:50 < parse parse.c:7 < main main.c:3
//	1 new 200 kept: Table::Table() in libtable.so table.cc:9 < main main.c:4
//
// "unit requests 20" is a unit of work, "program /bin/demo" names the program.
// It panics at lines that are none of these.
func Profile(text string) *profile.Profile {
	return profile.New([]*recording.Recording{Recording(text)}, profile.Options{Symbolizer: profiletest.Demo()})
}

// Recording is what Profile makes a profile of.
func Recording(text string) *recording.Recording {
	program := "/opt/demo/bin/demo"
	im := recordingtest.NewImage(4711, program)
	im.Flags = recording.FlagSymbolic
	p := recordingtest.NewProcess(im)
	t := p.Thread()
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "program":
			program = words[1]
			im.Executable = program
		case words[0] == "unit":
			im.Unit(recording.Unit{Name: words[1], Source: recording.UnitOfProgram, Amount: number(words[2])})
		default:
			call(im, t, strings.TrimSpace(line), program)
		}
	}
	b := p.Finish().Bytes()
	image, err := recording.ReadImage("image", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		panic(err)
	}
	return &recording.Recording{Path: "demo.mallow", Images: []*recording.Image{image}}
}

var callLine = regexp.MustCompile(`^(\d+) (\w+) (\d+)( kept| grown)?: (.*)$`)

func call(im *recordingtest.Image, t *recordingtest.Thread, line, program string) {
	m := callLine.FindStringSubmatch(line)
	if m == nil {
		panic(fmt.Sprintf("no call: %q", line))
	}
	var frames []recordingtest.Frame
	for f := range strings.SplitSeq(m[5], " < ") {
		frames = append([]recordingtest.Frame{frame(im, f, program)}, frames...)
	}
	stack := im.Stack(functions[m[2]], frames...)
	for range number(m[1]) {
		block := t.Alloc(stack, number(m[3]))
		switch m[4] {
		case " grown":
			t.Free(t.Realloc(block, im.Stack(recording.Realloc, frame(im, "grow grow.c:1", program)), 2*number(m[3])))
		case "":
			t.Free(block)
		}
	}
}

var functions = map[string]recording.Function{
	"malloc": recording.Malloc, "calloc": recording.Calloc, "realloc": recording.Realloc, "strdup": recording.Strdup,
	"new": recording.New,
}

var frameText = regexp.MustCompile(`^(.*?)(?: in (\S+))?(?: ?\b(\S+):(\d+))?$`)

func frame(im *recordingtest.Image, text, program string) recordingtest.Frame {
	m := frameText.FindStringSubmatch(strings.TrimSpace(text))
	module := program
	if m[2] != "" {
		module = m[2]
	}
	line, _ := strconv.Atoi(m[4])
	return im.Symbolic(m[1], m[3], module, uint32(line))
}

func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		panic(err)
	}
	return n
}
