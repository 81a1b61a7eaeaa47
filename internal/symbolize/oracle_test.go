package symbolize

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mallow/internal/signature"
)

// An oracle is an independent tool that answers the same question.
type oracle struct {
	name     string
	frames   func(t testing.TB, binary string, addrs []uint64) [][]Frame
	sameName func(ours, theirs string) bool
	most     int // addresses that it is asked for, evenly; 0: all
	// wrong is the share of addresses at which it may differ because it is known
	// to be wrong there; docs/internals/symbols.md says why.
	wrong float64
}

var (
	llvm     = oracle{name: "llvm-symbolizer", frames: llvmFrames, sameName: scopesAdded}
	binutils = oracle{name: "addr2line", frames: binutilsFrames, sameName: scopesAdded}
	// llvmPlaces is llvm-symbolizer without its names: of Go's some are cut or
	// changed by its linker's rules.
	llvmPlaces = oracle{name: "llvm-symbolizer", frames: llvmFrames, sameName: func(string, string) bool { return true }}
	// libdw walks through a whole unit for each address: 20 ms in a large one.
	libdw = oracle{name: "eu-addr2line", frames: libdwFrames, sameName: sameIdentifier, most: 150, wrong: 0.04}
	// places is addr2line without its names: where a function begins that was
	// inlined it shows the name of the outer one.
	places = oracle{name: "addr2line", frames: binutilsFrames, sameName: func(string, string) bool { return true }}
)

func llvmFrames(t testing.TB, binary string, addrs []uint64) [][]Frame {
	t.Helper()
	cmd := exec.Command(need(t, "llvm-symbolizer"), "--obj="+binary, "--inlines", "--no-demangle", "--output-style=LLVM")
	cmd.Stdin = strings.NewReader(hexLines(addrs))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]Frame
	for _, block := range strings.Split(strings.TrimSuffix(string(out), "\n\n"), "\n\n") {
		all = append(all, frameLines(strings.Split(block, "\n")))
	}
	return all
}

func binutilsFrames(t testing.TB, binary string, addrs []uint64) [][]Frame {
	t.Helper()
	cmd := exec.Command(need(t, "addr2line"), "-a", "-i", "-f", "-e", binary)
	cmd.Stdin = strings.NewReader(hexLines(addrs))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return blocksOf(string(out))
}

// blocksOf reads what stands behind each address.
func blocksOf(out string) [][]Frame {
	var all [][]Frame
	var block []string
	for _, line := range append(strings.Split(strings.TrimSpace(out), "\n"), "0x") {
		if !strings.HasPrefix(line, "0x") {
			block = append(block, line)
			continue
		}
		if block != nil {
			all = append(all, frameLines(block))
		}
		block = []string{}
	}
	return all
}

func libdwFrames(t testing.TB, binary string, addrs []uint64) [][]Frame {
	t.Helper()
	cmd := exec.Command(need(t, "eu-addr2line"), "-a", "-i", "-f", "-e", binary)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	cmd.Stdin = strings.NewReader(hexLines(addrs))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return blocksOf(string(out))
}

func hexLines(addrs []uint64) string {
	var b strings.Builder
	for _, addr := range addrs {
		fmt.Fprintf(&b, "%#x\n", addr)
	}
	return b.String()
}

// withoutRepeated takes out the compilation directory that tools put before a
// path that begins with it, where it is relative: addr2line, and LLVM before 19.
func withoutRepeated(file string) string {
	if first, rest, ok := strings.Cut(file, "/./"); ok && strings.HasPrefix(first, "./") && strings.HasPrefix("./"+rest, first+"/") {
		return "./" + rest
	}
	return file
}

// frameLines reads pairs of lines: function, then file:line[:column] [(discriminator n)].
func frameLines(lines []string) []Frame {
	var frames []Frame
	for i := 0; i+1 < len(lines); i += 2 {
		place, _, _ := strings.Cut(lines[i+1], " (")
		parts := strings.Split(place, ":")
		f := Frame{Inlined: i+3 < len(lines)}
		if parts[0] != "??" {
			f.File = path.Clean(withoutRepeated(parts[0]))
		}
		if len(parts) > 1 {
			f.Line, _ = strconv.Atoi(parts[1])
		}
		if name, _, _ := strings.Cut(lines[i], " inlined at "); name != "??" {
			f.Function = readable(name)
		}
		frames = append(frames, f)
	}
	return frames
}

// agreement counts the addresses at which two answers differ.
type agreement struct {
	addresses int
	frames    int
	between   int // addresses outside of any function
	depth     int
	lines     int
	names     int
	examples  []string
}

func (a agreement) differences() int { return a.depth + a.lines + a.names }

func compare(addrs []uint64, ours, theirs [][]Frame, sameName func(ours, theirs string) bool) agreement {
	a := agreement{addresses: len(addrs)}
	for i := range addrs {
		a.frames += len(ours[i])
		what := ""
		switch {
		case outside(ours[i]) && (ours[i][0].Line == theirs[i][0].Line || theirs[i][0].Line == 0 || ours[i][0].Line == 0):
			a.between++
		case len(ours[i]) != len(theirs[i]):
			a.depth++
			what = "depth"
		case !slices.EqualFunc(ours[i], theirs[i], samePlace):
			a.lines++
			what = "lines"
		case !slices.EqualFunc(ours[i], theirs[i], func(x, y Frame) bool { return sameName(x.Function, y.Function) }):
			a.names++
			what = "names"
		}
		if what != "" && len(a.examples) < 5 {
			a.examples = append(a.examples, fmt.Sprintf("%s at %#x: %s", what, addrs[i], firstDifference(ours[i], theirs[i], sameName)))
		}
	}
	return a
}

// samePlace compares all but the name. Where no line is known the tools show
// the name of the object file's source, which they take from the symbol table.
func samePlace(ours, theirs Frame) bool {
	return ours.Line == theirs.Line && ours.Inlined == theirs.Inlined && (ours.File == theirs.File || ours.Line == 0)
}

func firstDifference(ours, theirs []Frame, sameName func(ours, theirs string) bool) string {
	for k := range min(len(ours), len(theirs)) {
		x, y := ours[k], theirs[k]
		if !samePlace(x, y) || !sameName(x.Function, y.Function) {
			return fmt.Sprintf("frame %d\n  ours   %v\n  theirs %v", k, x, y)
		}
	}
	return fmt.Sprintf("\n  ours   %v\n  theirs %v", ours, theirs)
}

// outside tells that no function covers the address: padding between functions,
// and start-up code whose symbols have no size and which has no unwind entry.
// The tools name what stands before it.
func outside(frames []Frame) bool {
	return len(frames) == 1 && strings.Contains(frames[0].Function, "+0x")
}

// checkOutside demands that no symbol with a size covers an address that we
// gave no name.
func checkOutside(t *testing.T, binary string, addrs []uint64, ours [][]Frame) {
	t.Helper()
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for i, addr := range addrs {
		if !outside(ours[i]) {
			continue
		}
		for _, s := range symbols {
			if s.Value <= addr && addr-s.Value < s.Size {
				t.Fatalf("%#x has no name but is in %s", addr, s.Name)
			}
		}
	}
}

// nestedNumber is what GCC appends to the symbol of a nested function.
var nestedNumber = regexp.MustCompile(`\.[0-9]+$`)

// sourceNames are what the source calls functions to which it gives symbols of
// their own: Rust's panic handler, whose symbol tools show where we show the
// name in the source.
var sourceNames = map[string]string{"rust_begin_unwind": "std::panicking::begin_panic_handler"}

// scopesAdded accepts the scopes that stand before a name without linkage name,
// and the parameters behind it of a function that has code of its own, too; the
// tools print the bare name, or the symbol.
func scopesAdded(ours, theirs string) bool {
	return ours == theirs || strings.HasSuffix(ours, "::"+theirs) || ours == nestedNumber.ReplaceAllString(theirs, "") ||
		ours == sourceNames[theirs] || strings.HasSuffix("::"+withoutSignature(ours), "::"+theirs)
}

// withoutSignature is the name as it is declared.
func withoutSignature(name string) string {
	return strings.TrimSuffix(signature.WithoutParameters(strings.TrimSuffix(name, " const")), "[abi:cxx11]")
}

// sameIdentifier also accepts the bare name in the source, with the template
// arguments as the compiler writes them, which libdw shows of functions that
// the linker does not see.
func sameIdentifier(ours, theirs string) bool {
	return scopesAdded(ours, theirs) || identifier(ours) == identifier(theirs)
}

var identifiers = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// identifier returns the last identifier of a name without its arguments.
func identifier(name string) string {
	if head, _, ok := strings.Cut(name, "operator"); ok && !strings.ContainsAny(head, "<(") {
		return "operator"
	}
	name = strings.ReplaceAll(name, "(anonymous namespace)", "anonymous")
	var plain strings.Builder
	depth := 0
	for _, r := range name {
		switch {
		case strings.ContainsRune("<([{", r):
			depth++
		case strings.ContainsRune(">)]}", r):
			depth--
		case depth == 0:
			plain.WriteRune(r)
		}
	}
	all := identifiers.FindAllString(plain.String(), -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// allSameName also accepts another symbol for the same code: linkers and
// compilers fold functions with equal code into one.
func (o oracle) allSameName(t *testing.T, binary string) func(ours, theirs string) bool {
	t.Helper()
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]uint64{} // a name may be that of several copies
	for _, s := range symbols {
		name := readable(s.Name)
		values[name] = append(values[name], s.Value)
	}
	return func(ours, theirs string) bool {
		return o.sameName(ours, theirs) ||
			slices.ContainsFunc(values[ours], func(v uint64) bool { return v != 0 && slices.Contains(values[theirs], v) })
	}
}

func checkAgreement(t *testing.T, o oracle, binary string, addrs []uint64, ours [][]Frame) agreement {
	t.Helper()
	if o.most > 0 && len(addrs) > o.most {
		addrs, ours = evenly(addrs, o.most), evenly(ours, o.most)
	}
	theirs := o.frames(t, binary, addrs)
	if len(theirs) != len(addrs) {
		t.Fatalf("%s answered %d of %d addresses", o.name, len(theirs), len(addrs))
	}
	a := compare(addrs, ours, theirs, o.allSameName(t, binary))
	checkOutside(t, binary, addrs, ours)
	t.Logf("%s: %d addresses, %d frames, %d outside of functions; differ in depth %d, lines %d, names %d",
		o.name, a.addresses, a.frames, a.between, a.depth, a.lines, a.names)
	if float64(a.differences()) > o.wrong*float64(len(addrs)) {
		t.Errorf("differs from %s:\n%s", o.name, strings.Join(a.examples, "\n"))
	}
	return a
}

// evenly returns n of all.
func evenly[T any](all []T, n int) []T {
	some := make([]T, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some
}
