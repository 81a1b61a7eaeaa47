package rule

import (
	"slices"
	"strings"

	"mallow/internal/profile"
)

// growing are the functions by which containers of the C++ libraries grow:
// libstdc++'s first, then libc++'s. Rust's containers grow by realloc.
var growing = []string{
	"::_M_realloc_insert", "::_M_realloc_append", "::_M_default_append", "::_M_range_insert", "::_M_fill_insert",
	"::_M_emplace_aux", "::_M_mutate", "::_M_replace_aux", "::_M_append", "::_M_reallocate_map",
	"::__push_back_slow_path", "::__emplace_back_slow_path", "::__append", "::__grow_by",
}

// growthOf tells what a function of the libraries enlarges; 0: nothing.
func growthOf(function string) Symbol {
	if !strings.Contains(function, "std::") ||
		!slices.ContainsFunc(growing, func(name string) bool { return strings.Contains(function, name) }) {
		return 0
	}
	if class, _ := classAndMethod(function); strings.HasSuffix(class, "::basic_string") {
		return StringGrowth
	}
	return Growth
}

// Release is who releases most blocks of a growing container.
type Release int

// A container of which a block is released by its growth has taken a larger
// one; by its owner, it is gone. Without optimization both call a function of
// the allocator, which is all that is known then.
const (
	ByOwner Release = iota
	ByGrowth
	ByAllocator
)

// Releaser tells who releases most of the site's blocks, which its containers
// have grown by, and how many, at the most. Growth that was inlined into the
// line is known by the line; that of strings never is, and what they hold on a
// line may be released there.
func (s *Site) Releaser(growth Symbol) (by Release, blocks uint64) {
	freed := s.Knowledge().FreedBy
	if freed == nil {
		return ByOwner, 0
	}
	blocks = uint64(Share(freed.Most, freed.OutOf) * float64(s.Counters.Releases))
	switch _, method := classAndMethod(freed.Function); {
	case growthOf(freed.Function) != 0, growth == Growth && sameLine(&freed.Frame, &s.Frame):
		return ByGrowth, blocks
	case method == "deallocate" || method == "__libcpp_operator_delete":
		return ByAllocator, blocks
	}
	return ByOwner, blocks
}

func sameLine(f, g *profile.Frame) bool {
	return sameFunction(f, g) && f.File == g.File && f.Line == g.Line && f.Line > 0
}
