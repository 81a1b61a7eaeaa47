// Package ruletest makes recordings of programs that are made up call by call,
// so that every figure is known, and holds what rules find in them.
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
	*recordingtest.Thread // the main thread
	Process               *recordingtest.Process

	t     testing.TB
	image *recordingtest.Image
}

// NewProgram makes a program that has done nothing yet.
func NewProgram(t testing.TB) *Program {
	im := recordingtest.NewImage(1, "/bin/program")
	process := recordingtest.NewProcess(im)
	process.Detailed = true
	return &Program{process.Thread(), process, t, im}
}

// Stack is a stack of the program, of frames from the innermost on, each
// written "function" or "function file.c:12", with "libc!" before those of
// libc, and "libz!" before those of another library. Outside of them is main.
func (p *Program) Stack(f recording.Function, frames ...string) recordingtest.Stack {
	outward := []recordingtest.Frame{p.frame("main main.c:1")}
	for i := len(frames) - 1; i >= 0; i-- {
		outward = append(outward, p.frame(frames[i]))
	}
	return p.image.Stack(f, outward...)
}

func (p *Program) frame(written string) recordingtest.Frame {
	module := "/bin/program"
	for _, library := range []string{"libc", "libz"} {
		if inside, ok := strings.CutPrefix(written, library+"!"); ok {
			module, written = "/lib/"+library+".so.6", inside
		}
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

// By is the line that releases a block, for FreeFrom, after the wrappers by which
// it does, innermost first.
func (p *Program) By(frames ...string) uint32 {
	var outward []recordingtest.Frame
	for i := len(frames) - 1; i >= 0; i-- {
		outward = append(outward, p.frame(frames[i]))
	}
	return p.image.Path(outward...)
}

// Noise does other things, too: n blocks of other lines, each of which makes
// too few of them for an advice.
func (p *Program) Noise(n int) {
	const lines = 25
	for i := range lines {
		s := p.Stack(recording.Malloc, fmt.Sprintf("other%d other.c:%d", i, i+1))
		var kept []recordingtest.Block
		for k := range n / lines {
			kept = append(kept, p.Alloc(s, uint64(65+(7*k+i)%900)))
		}
		for _, b := range kept {
			p.FreeFrom(b, p.By(fmt.Sprintf("drop%d other.c:%d", i, 100+i)))
		}
	}
}

// Soon allocates and releases at once, so many times.
func (p *Program) Soon(n int, size uint64, s recordingtest.Stack) {
	for range n {
		p.Free(p.Alloc(s, size))
	}
}

// Keep allocates so many blocks, of which none is released.
func (p *Program) Keep(n int, size uint64, s recordingtest.Stack) {
	for range n {
		p.Alloc(s, size)
	}
}

// Hold allocates so many blocks, and releases them when it has them all.
func (p *Program) Hold(n int, size uint64, s recordingtest.Stack) {
	blocks := make([]recordingtest.Block, n)
	for i := range blocks {
		blocks[i] = p.Alloc(s, size)
	}
	for _, b := range blocks {
		p.Free(b)
	}
}

// Grow allocates a block, has it enlarged by twice its size so many times, and
// releases it.
func (p *Program) Grow(size uint64, first, again recordingtest.Stack, times int) {
	b := p.Alloc(first, size)
	for range times {
		size *= 2
		b = p.Realloc(b, again, size)
	}
	p.Free(b)
}

// Profile is that of what the program has done.
func (p *Program) Profile() *profile.Profile {
	p.t.Helper()
	folder := p.t.TempDir()
	if err := p.Process.Finish().Write(folder, recordingtest.Packed); err != nil {
		p.t.Fatal(err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		p.t.Fatal(err)
	}
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
}

// Case is what a rule sees of it.
func (p *Program) Case() *rule.Case {
	p.t.Helper()
	return rule.NewCase(p.Profile(), false)
}

// Golden holds what a rule finds against testdata/found.golden.
func (p *Program) Golden(r rule.Rule) {
	p.t.Helper()
	p.Finds(r, "found")
}

// Finds holds it against testdata/NAME.golden.
func (p *Program) Finds(r rule.Rule, name string) {
	p.t.Helper()
	var b strings.Builder
	for _, f := range r.Find(p.Case()) {
		b.WriteString(format(&f))
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
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
		p.t.Errorf("%s: found\n%s\nwant\n%s", name, b.String(), want)
	}
}

// Silent demands that a rule finds nothing.
func (p *Program) Silent(r rule.Rule) {
	p.t.Helper()
	for _, f := range r.Find(p.Case()) {
		p.t.Errorf("should be silent: %s", format(&f))
	}
}

func format(f *rule.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.Title)
	for _, place := range f.Places {
		fmt.Fprintf(&b, "    at %s %s:%d\n", place.Function, place.File, place.Line)
	}
	fmt.Fprintf(&b, "    do %s\n    as %s\n", f.Remedy, f.Evidence)
	upTo := ""
	if f.AtMost {
		upTo = "up to "
	}
	for _, c := range f.Claims {
		fmt.Fprintf(&b, "    %s-%d allocations, %d bytes\n", upTo, c.Calls, c.Bytes)
	}
	if f.Memory > 0 {
		fmt.Fprintf(&b, "    -%d bytes at the peak\n", f.Memory)
	}
	if f.Nanoseconds > 0 {
		fmt.Fprintf(&b, "    -%.0f ns\n", f.Nanoseconds)
	}
	if f.Takes > 0 {
		fmt.Fprintf(&b, "    takes %.0f %% of their time\n", 100*f.Takes)
	}
	return b.String()
}
