// Package fastpath holds the hit paths of libmallow to what is written down of them in hit_paths.golden.
//
// Not the instructions that a function has are counted, but those that a hit executes: the program single_step runs each
// entry point one instruction at a time. After a change to the hit paths:
//
//	make fast-path
//
// writes the file anew, and the difference belongs into the commit. `go test ./test/fast_path -update` does so for what
// is built already, below MALLOW_BUILD or build/release.
package fastpath

import (
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

var update = flag.Bool("update", false, "write "+golden+" anew")

func TestMain(m *testing.M) {
	flag.Parse()
	// What is missing is then a failure, not a reason to skip.
	if *update && os.Getenv("MALLOW_BUILD") == "" {
		os.Setenv("MALLOW_BUILD", "build/release")
	}
	os.Exit(m.Run())
}

const (
	golden         = "hit_paths.golden"
	statedCompiler = "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
)

// hit is one executed hit path, in libmallow.
type hit struct {
	name         string
	instructions []instruction
	taken        []bool // of jumps
	origins      [][]source
	leaves       bool // for libc, at the end
}

// hits are the paths of a library, decoded.
func hits(t *testing.T, library string, settings ...string) []hit {
	t.Helper()
	code := disassemble(t, library)
	var all []hit
	for _, tr := range step(t, library, settings...) {
		h := hit{name: tr.String()}
		var addresses []uint64
		for n, address := range tr.steps {
			if address == outside {
				h.leaves = true
				break
			}
			i, ok := code[address]
			if !ok && len(settings) > 0 {
				i.address = address // within what a recorded process has written over the beginning of a function
			} else if !ok {
				t.Fatalf("%s: objdump shows no instruction at %#x", h.name, address)
			}
			h.instructions = append(h.instructions, i)
			h.taken = append(h.taken, i.isJump() && n+1 < len(tr.steps) && tr.steps[n+1] != i.end)
			addresses = append(addresses, address)
		}
		h.origins = sources(t, library, addresses)
		all = append(all, h)
	}
	return all
}

// counts is the first line of a hit's block.
func (h hit) counts(t *testing.T) string {
	t.Helper()
	var loads, stores, calls, locked, jumps, taken int
	for n, i := range h.instructions {
		l, s := i.memory(t)
		loads, stores = loads+l, stores+s
		calls += one(i.isCall())
		locked += one(i.isLocked())
		jumps += one(i.isJump())
		taken += one(h.taken[n])
	}
	return fmt.Sprintf("%s: %d instructions, %d loads, %d stores, %d calls, %d locked, %d of %d jumps taken",
		h.name, len(h.instructions), loads, stores, calls, locked, taken, jumps)
}

func one(condition bool) int {
	if condition {
		return 1
	}
	return 0
}

// listing is the hit, one line an instruction.
func (h hit) listing() string {
	var text strings.Builder
	entry := h.instructions[0]
	for n, i := range h.instructions {
		place := fmt.Sprintf("+%#04x", i.address-entry.address)
		if i.function != entry.function {
			place = "     "
		}
		taken := ""
		if h.taken[n] {
			taken = "taken"
		}
		line := fmt.Sprintf("  %s  %-46s %-6s %s", place, i.textWithin(entry.function), taken, role(h.origins[n]))
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if h.leaves {
		text.WriteString("         ... the rest is libc's\n")
	}
	return text.String()
}

// role names what an instruction is for: the function of the source that it was written in.
func role(origin []source) string {
	switch {
	case len(origin) == 0 || origin[0].function == "??":
		return ""
	case len(origin) == 1:
		return "the entry point"
	}
	return origin[0].function
}

const head = `The hit paths of libmallow.so as they are executed, instruction by instruction: what a call costs when the thread's
cache can serve it. Preset release, x86-64. Compiler: ` + statedCompiler + `.
Return addresses are no loads or stores here. Right: "taken" at jumps, then the function of the source that asked for it.
Written by make fast-path.
`

// render writes the golden file. A path that was listed before is not listed again.
func render(t *testing.T, all []hit) string {
	t.Helper()
	text := head
	first := map[string]string{}
	for _, h := range all {
		listing := h.listing()
		text += "\n" + h.counts(t) + "\n"
		if same, found := first[listing]; found {
			text += "  as " + same + "\n"
			continue
		}
		first[listing] = h.name
		text += listing
	}
	return text
}

func TestGolden(t *testing.T) {
	library := harness.Library(t)
	if made := compiler(t, library); made != statedCompiler {
		t.Skipf("not the stated compiler: %s was made by %q, the golden file by %q", path.Base(library), made, statedCompiler)
	}
	got := render(t, hits(t, library))
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if wanted := string(content); got != wanted {
		t.Errorf("the hit paths are not those of %s; if that is meant: make fast-path\n%s", golden, difference(wanted, got))
	}
}

// difference shows the blocks that differ.
func difference(wanted, got string) string {
	was := strings.Split(wanted, "\n\n")
	is := strings.Split(got, "\n\n")
	var text strings.Builder
	for _, block := range was {
		if !slices.Contains(is, block) {
			text.WriteString("was " + block + "\n")
		}
	}
	for _, block := range is {
		if !slices.Contains(was, block) {
			text.WriteString("is  " + block + "\n")
		}
	}
	return text.String()
}

// What follows holds for every compiler.

// calls complains of calls, and of a path that does not end with a return.
func (h hit) calls() []string {
	var wrong []string
	for _, i := range h.instructions {
		if i.isCall() {
			wrong = append(wrong, fmt.Sprintf("%s calls a function on its hit path: %s", h.name, i.text()))
		}
	}
	if last := h.instructions[len(h.instructions)-1]; !last.isReturn() && !h.leavesToClear() {
		wrong = append(wrong, fmt.Sprintf("%s does not end with a return on its hit path but with: %s", h.name, last.text()))
	}
	return wrong
}

// leavesToClear holds for calloc, whose hit ends with a jump to libc's memset.
func (h hit) leavesToClear() bool {
	last := h.instructions[len(h.instructions)-1]
	return strings.HasPrefix(h.name, "calloc(") && h.leaves && last.isJump() && strings.Contains(last.text(), "memset")
}

// locks complains of locked cache lines.
func (h hit) locks() []string {
	var wrong []string
	for _, i := range h.instructions {
		if i.isLocked() {
			wrong = append(wrong, fmt.Sprintf("%s locks a cache line on its hit path: %s", h.name, i.text()))
		}
	}
	return wrong
}

// The entry points themselves: a few lines each, and no word of recording in them.
var entryFiles = []string{"api/malloc.cc", "api/operator_new.cc", "api/operator_delete.cc", "api/hit.h"}

// large holds for hits with a large block: they begin where those with a small one fail, in the slow functions.
func (h hit) large() bool { return strings.Contains(h.name, "(1048576)") }

// foreign complains of code that was written elsewhere than in the heap and the entry points, and of a look at whether
// the process is recorded.
func (h hit) foreign() []string {
	var wrong []string
	for n, i := range h.instructions {
		if strings.Contains(i.text(), "g_recording") {
			wrong = append(wrong, fmt.Sprintf("%s asks on its hit path whether it is recorded: %s", h.name, i.text()))
		}
		for _, from := range h.origins[n] {
			ours := strings.HasPrefix(from.file, "heap/") || strings.HasPrefix(from.file, "base/") || slices.Contains(entryFiles, from.file) ||
				h.large() && from.file == "api/slow.cc"
			linkage := from.function == "??" && strings.HasSuffix(i.function, "@plt")
			ofLibc := path.Base(from.file) == "string_fortified.h" // memset, where the compiler hardens by itself
			if !ours && !linkage && !ofLibc {
				wrong = append(wrong, fmt.Sprintf("%s executes code of %s in %s on its hit path: %s", h.name, from.function, from.file, i.text()))
			}
		}
	}
	return wrong
}

func TestNoCalls(t *testing.T) {
	for _, h := range hits(t, harness.Library(t)) {
		for _, wrong := range h.calls() {
			t.Error(wrong)
		}
	}
}

func TestNothingLocked(t *testing.T) {
	for _, h := range hits(t, harness.Library(t)) {
		for _, wrong := range h.locks() {
			t.Error(wrong)
		}
	}
}

// Every instruction of a hit was written in the heap, or in the few lines of the entry point. So recording, sampling
// and guarding, which live elsewhere, cost none while they are off.
func TestNothingForRecording(t *testing.T) {
	for _, h := range hits(t, harness.Library(t)) {
		for _, wrong := range h.foreign() {
			t.Error(wrong)
		}
	}
}

// The minimal library, which has no recorder at all, executes the same instructions.
func TestMinimalLibraryHitsAlike(t *testing.T) {
	whole := hits(t, harness.Library(t))
	minimal := hits(t, harness.Built(t, "libmallow_minimal.so", "libmallow/libmallow_minimal.so"))
	for n, h := range whole {
		if with, without := h.listing(), minimal[n].listing(); with != without {
			t.Errorf("%s executes with the recorder\n%sand without it\n%s", h.name, with, without)
		}
	}
}

// While a process is recorded no call is a hit: what the tests above look for must then be found.
func TestRecordedCallsAreNoHits(t *testing.T) {
	for _, h := range hits(t, harness.Library(t), "MALLOW_OPTIONS=record="+t.TempDir()) {
		if len(h.calls()) == 0 || len(h.foreign()) == 0 {
			t.Errorf("%s: a recorded call passed for a hit:\n%s", h.name, h.listing())
		}
	}
}

// While every call is recorded, the functions that are called most begin with a jump to one that asks the recorder, and
// do not look for a hit first.
func TestRecordedCallsAskTheRecorderFirst(t *testing.T) {
	for _, h := range hits(t, harness.Library(t), "MALLOW_OPTIONS=record="+t.TempDir()) {
		if strings.HasPrefix(h.name, "free_sized") { // few call it yet
			continue
		}
		// One may come before it, which says where to go on.
		if h.instructions[1].address == h.instructions[0].end && h.instructions[2].address == h.instructions[1].end {
			t.Errorf("%s is recorded by way of\n%s", h.name, h.listing())
		}
	}
}
