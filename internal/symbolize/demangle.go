package symbolize

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Names longer than these are hostile or useless on any screen: a mangled name
// that long stays as it is, a demangled one is cut.
const (
	maxMangled      = 8 << 10
	maxDemangledLog = 13
)

// readable turns a linkage name into the name in the source: C++ and Rust, old
// and new. Suffixes of compiler clones (".isra.0") are left out: the parts and
// copies of a function are one function to its author.
func readable(name string) string {
	if len(name) > maxMangled {
		return name[:maxMangled]
	}
	if !strings.HasPrefix(name, "_") {
		return withoutClone(name)
	}
	text, err := demangle.ToString(name, demangle.NoClones, demangle.MaxLength(maxDemangledLog))
	if err != nil {
		return withoutClone(name)
	}
	return text
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
