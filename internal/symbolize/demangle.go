package symbolize

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"
)

// Names longer than these are hostile or useless on any screen: a mangled name
// that long stays as it is, and both are cut.
const (
	maxMangled      = 8 << 10
	maxDemangledLog = 13
)

// cut marks where a name goes on that is longer.
func cut(name string) string { return strings.ToValidUTF8(name, "") + "…" }

// readable turns a linkage name into the name in the source: C++ and Rust, old
// and new. Suffixes of compiler clones (".isra.0") are left out: the parts and
// copies of a function are one function to its author.
func readable(name string) (text string) {
	defer func() {
		if recover() != nil { // a name that no compiler made
			text = name
		}
	}()
	if len(name) > maxMangled {
		return cut(name[:maxMangled])
	}
	if !strings.HasPrefix(name, "_") {
		return withoutClone(name)
	}
	text, err := demangled(name, demangle.NoClones, demangle.MaxLength(maxDemangledLog))
	if err != nil {
		return withoutClone(name)
	}
	if len(text) >= 1<<maxDemangledLog {
		return cut(text)
	}
	return text
}

// demangled is demangle.ToString, which takes an underscore at the beginning of
// a part of an old name of Rust's for what separates it from its length.
func demangled(name string, options ...demangle.Option) (string, error) {
	const hash = len("17h0123456789abcdef")
	if at := strings.LastIndex(name, "17h"); at > 0 && strings.HasPrefix(name, "_ZN") && strings.HasPrefix(name[min(at+hash, len(name)):], "E") {
		name = separated(name[:at]) + name[at:]
	}
	return demangle.ToString(name, options...)
}

// separated puts an underscore before the parts of an old name of Rust's that
// begin with one. That of _$LT$ is none of the name in the source.
func separated(name string) string {
	const start = len("_ZN")
	var b strings.Builder
	b.WriteString(name[:start])
	for rest := name[start:]; rest != ""; {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		length, err := strconv.Atoi(rest[:digits])
		if err != nil || length > len(rest)-digits {
			return name // not Rust's
		}
		part := rest[digits : digits+length]
		if strings.HasPrefix(part, "_") && !strings.HasPrefix(part, "_$") {
			part = "_" + part
		}
		b.WriteString(strconv.Itoa(len(part)))
		b.WriteString(part)
		rest = rest[digits+length:]
	}
	return b.String()
}

// Readable returns the name in the source of a function to which another tool
// has given a name: a linkage name, where that tool does not know the language,
// or an old one of Rust's that it took for one of C++'s.
func Readable(name string) string {
	if mangled, ok := oldRustName(name); ok {
		return readable(mangled)
	}
	if strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "_Z") {
		return readable(name)
	}
	return name
}

// oldRustName puts "alloc::vec::Vec$LT$T$GT$::push::h0123456789abcdef" together
// again as the linkage name that it was.
func oldRustName(name string) (mangled string, ok bool) {
	name, _, _ = strings.Cut(name, " [clone ")
	const hash = len("::h0123456789abcdef")
	at := strings.LastIndex(name, "::h")
	if at <= 0 || at != len(name)-hash || len(name) > maxMangled {
		return "", false
	}
	if _, err := strconv.ParseUint(name[at+len("::h"):], 16, 64); err != nil {
		return "", false
	}
	var b strings.Builder
	b.WriteString("_ZN")
	for part := range strings.SplitSeq(name, "::") {
		b.WriteString(strconv.Itoa(len(part)))
		b.WriteString(part)
	}
	b.WriteByte('E')
	return b.String(), true
}

// readableNames keeps what readable gave: a name stands in many frames, and
// demangling is the dearest step of all.
type readableNames map[string]string

func (r readableNames) of(name string) string {
	text, ok := r[name]
	if !ok {
		text = readable(name)
		r[name] = text
	}
	return text
}

// worthwhile is how many names keep another processor busy for longer than it
// takes to start.
const worthwhile = 64

// prepare finds the readable names of many at once, on all processors.
func (r readableNames) prepare(names []string) {
	names = slices.DeleteFunc(names, func(name string) bool { _, ok := r[name]; return ok })
	slices.Sort(names)
	names = slices.Compact(names)
	texts := make([]string, len(names))
	var workers sync.WaitGroup
	size := max(worthwhile, (len(names)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < len(names); from += size {
		to := min(from+size, len(names))
		workers.Go(func() {
			for i := from; i < to; i++ {
				texts[i] = readable(names[i])
			}
		})
	}
	workers.Wait()
	for i, name := range names {
		r[name] = texts[i]
	}
}

// cloneSuffixes are what GCC and LLVM append when they split or copy a function.
var cloneSuffixes = []string{".cold", ".isra.", ".part.", ".constprop.", ".lto_priv.", ".localalias", ".llvm.", ".clone."}

func withoutClone(name string) string {
	end := len(name)
	for _, suffix := range cloneSuffixes {
		if i := strings.Index(name, suffix); i > 0 {
			end = min(end, i)
		}
	}
	return name[:end]
}
