package rule

import (
	"math"
	"slices"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/signature"
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
	if class, _ := signature.Method(function); strings.HasSuffix(class, "::basic_string") {
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
// line is known by the functions that were, if there are any, else by the line;
// that of strings is not known by the line, as what they hold may be released
// there.
func (s *Site) Releaser(growth Symbol) (by Release, blocks uint64) {
	freed := s.Knowledge().FreedBy
	if freed == nil {
		return ByOwner, 0
	}
	blocks = uint64(Share(freed.Most, freed.OutOf) * float64(s.Counters.Releases))
	through := s.Knowledge().FreedThrough
	grows := func(function string) bool { return growthOf(function) != 0 }
	switch _, method := signature.Method(freed.Function); {
	case grows(freed.Function), slices.ContainsFunc(through, grows), len(through) == 0 && growth == Growth && sameLine(&freed.Frame, &s.Frame):
		return ByGrowth, blocks
	case method == "deallocate" || method == "__libcpp_operator_delete":
		return ByAllocator, blocks
	}
	return ByOwner, blocks
}

func sameLine(f, g *profile.Frame) bool {
	return sameFunction(f, g) && f.File == g.File && f.Line == g.Line && f.Line > 0
}

// GrowsByDoubling tells, of blocks that are no container's as far as is known,
// that their function makes each of a row of them for what the one before has no
// room for any more: the block lives until the next one is there, which is twice
// as large, and the same function releases it. Where no names are known it may be
// a vector's growth that was inlined.
func (s *Site) GrowsByDoubling() bool {
	const (
		leastSteps = 2
		mostOff    = 0.25
		lives      = 4 // events: at most until the next block was allocated, and this one released
	)
	k, n := s.Knowledge(), &s.Counters
	steps := Doublings(float64(s.MeanSize()) / float64(max(1, n.SizeMin)))
	if s.OneSize() || s.Contained() || n.ByRealloc > 0 || n.Foreign > 0 || steps < leastSteps || k.LongestRun < leastSteps ||
		k.FreedBy == nil || !sameFunction(&k.FreedBy.Frame, &s.Frame) {
		return false
	}
	row := Share(n.Calls, k.Runs-k.OwnRuns) // the function may have several copies of its growth
	upTo, ok := s.LivesUpTo(1 - 1/steps)
	return ok && upTo == lives && row >= (1-mostOff)*steps && row <= (1+mostOff)*steps && Share(s.Temporary(), n.Calls) <= (1+mostOff)/steps // the last one of a row
}

// Doublings returns the number of steps k of a chain 1, 2, 4 ... with the given
// mean: (2^k - 1) / k.
func Doublings(mean float64) float64 {
	low, high := 1.0, 64.0
	for range 60 {
		k := (low + high) / 2
		if (math.Exp2(k)-1)/k < mean {
			low = k
		} else {
			high = k
		}
	}
	return low
}
