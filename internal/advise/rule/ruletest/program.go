// Package ruletest makes recordings of made-up programs, and shows what a rule
// finds in them.
package ruletest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mallow/internal/advise/rule"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Program is a program that does what it is told, in one thread.
type Program struct {
	t       testing.TB
	image   *recordingtest.Image
	process *recordingtest.Process
	thread  *recordingtest.Thread
}

// NewProgram makes a program that has done nothing yet.
func NewProgram(t testing.TB) *Program {
	im := recordingtest.NewImage(1, "/bin/program")
	process := recordingtest.NewProcess(im)
	return &Program{t, im, process, process.Thread()}
}

// Stack is a stack of the program, of frames from the innermost on, each
// written "function" or "function file.c:12", with "libc!" before those of
// libc. Outside of them is main.
func (p *Program) Stack(f recording.Function, frames ...string) recordingtest.Stack {
	outward := []recordingtest.Frame{p.frame("main main.c:1")}
	for i := len(frames) - 1; i >= 0; i-- {
		outward = append(outward, p.frame(frames[i]))
	}
	return p.image.Stack(f, outward...)
}

func (p *Program) frame(written string) recordingtest.Frame {
	module := "/bin/program"
	if inLibc, ok := strings.CutPrefix(written, "libc!"); ok {
		module, written = "/lib/libc.so.6", inLibc
	}
	function, place := written, ""
	if at := strings.LastIndex(written, " "); at >= 0 && strings.Contains(written[at:], ".") && strings.Contains(written[at:], ":") &&
		!strings.Contains(written[at:], "::") {
		function, place = written[:at], written[at+1:]
	}
	file, number, _ := strings.Cut(place, ":")
	line, _ := strconv.Atoi(number)
	return p.image.Symbolic(function, file, module, uint32(line))
}

// Soon allocates and releases at once, so many times.
func (p *Program) Soon(n int, size uint64, s recordingtest.Stack) {
	for range n {
		p.thread.Free(p.thread.Alloc(s, size))
	}
}

// Keep allocates so many blocks, of which none is released.
func (p *Program) Keep(n int, size uint64, s recordingtest.Stack) {
	for range n {
		p.thread.Alloc(s, size)
	}
}

// Hold allocates so many blocks, and releases them when it has them all.
func (p *Program) Hold(n int, size uint64, s recordingtest.Stack) {
	blocks := make([]recordingtest.Block, n)
	for i := range blocks {
		blocks[i] = p.thread.Alloc(s, size)
	}
	for _, b := range blocks {
		p.thread.Free(b)
	}
}

// Grow allocates a block, has it enlarged by twice its size so many times, and
// releases it.
func (p *Program) Grow(size uint64, first, again recordingtest.Stack, times int) {
	b := p.thread.Alloc(first, size)
	for range times {
		size *= 2
		b = p.thread.Realloc(b, again, size)
	}
	p.thread.Free(b)
}

// Profile is that of what the program has done.
func (p *Program) Profile() *profile.Profile {
	p.t.Helper()
	folder := p.t.TempDir()
	if err := p.process.Finish().Write(folder, recordingtest.Packed); err != nil {
		p.t.Fatal(err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		p.t.Fatal(err)
	}
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
}

// Golden compares what a rule finds with testdata/found.golden.
func (p *Program) Golden(r rule.Rule) {
	p.t.Helper()
	var b strings.Builder
	for _, f := range r.Find(rule.NewCase(p.Profile(), false)) {
		b.WriteString(format(&f))
	}
	const path = "testdata/found.golden"
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	if b.String() != string(want) {
		p.t.Errorf("found\n%s\nwant\n%s", b.String(), want)
	}
}

func format(f *rule.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.Title)
	for _, place := range f.Places {
		fmt.Fprintf(&b, "    at %s %s:%d\n", place.Function, place.File, place.Line)
	}
	fmt.Fprintf(&b, "    do %s\n    as %s\n", f.Remedy, f.Evidence)
	for _, c := range f.Claims {
		fmt.Fprintf(&b, "    -%d allocations, %d bytes\n", c.Calls, c.Bytes)
	}
	return b.String()
}
