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
// and new. Suffixes of compiler clones (".isra.0") are left out; the parts of
// a split function are one function.
func readable(name string) string {
	if len(name) > maxMangled {
		return name[:maxMangled]
	}
	if !strings.HasPrefix(name, "_") {
		base, _, _ := strings.Cut(name, ".")
		if base == "" {
			return name
		}
		return base
	}
	return demangle.Filter(name, demangle.NoClones, demangle.MaxLength(maxDemangledLog))
}
