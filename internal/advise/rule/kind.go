package rule

import (
	"fmt"
	"slices"
	"strings"

	"mallow/internal/recording"
	"mallow/internal/signature"
)

// IsArray tells that most of the site's blocks come from operator new[].
func (s *Site) IsArray() bool {
	var arrays uint64
	s.EachFunction(func(f recording.Function, n *recording.Counters) {
		switch f {
		case recording.NewArray, recording.NewArrayNothrow, recording.NewArrayAligned, recording.NewArrayAlignedNothrow:
			arrays += n.Calls
		}
	})
	return 2*arrays > s.Counters.Calls
}

// IsObject tells that most of the site's blocks are single objects of one type:
// they come from operator new, and have one size, which is that of an object.
func (s *Site) IsObject() bool { return s.ofObjects(half) && s.InCpp() && !s.IsArray() }

// MayBeObject tells blocks of one size that may be objects from texts that were
// equally long in this run.
func (s *Site) MayBeObject() bool {
	return s.ofObjects(word) && s.CallsOf(recording.GroupStrdup) == 0
}

// An object is a multiple of what it is aligned to: of a word if it holds a
// pointer or a length, of half of one if it holds a number.
const word, half = 8, 4

func (s *Site) ofObjects(multiple uint64) bool {
	return s.OneSize() && s.Counters.SizeMax%multiple == 0
}

// IsElement tells that most of the site's blocks are released by a container of
// the C++ library when it destroys the pointers to them that it holds.
func (s *Site) IsElement() bool {
	by := s.Knowledge().FreedBy
	if s.Contained() || !s.InCpp() || !Certain(by, 0.5) {
		return false
	}
	through := append(slices.Clone(s.Knowledge().FreedThrough), by.Function)
	return slices.ContainsFunc(through, destroysElements)
}

// HoldElements is what to do about objects that a container holds by pointers.
const HoldElements = "let the container hold the objects themselves instead of pointers to them (as a std::variant where they are of several types)"

// destroysElements tells whether a function of the C++ library destroys what is
// in a container, and not the container's own blocks alone.
func destroysElements(function string) bool {
	if !strings.Contains(function, "std::") {
		return false
	}
	class, method := signature.Method(function)
	if strings.HasPrefix(class, "std::_Destroy_aux") || (class == "std" || class == "std::__1") && method == "_Destroy" {
		return true
	}
	_, name := signature.Split(class)
	return strings.HasPrefix(class, "std::") && method == "~"+name && slices.Contains(containers, name)
}

// IsReplaced tells that a block is released where the next one takes its place,
// as far as is known: by an assignment on the line that allocates or asks for it, or
// on a line before. It is a member or a global variable that has it, and no local one.
func (s *Site) IsReplaced() bool {
	owner, owned := s.Owner()
	by := s.Knowledge().FreedBy
	if !owned || by.File != owner.File || by.Line == 0 {
		return false
	}
	return by.Line < owner.Line || by.Line == owner.Line && slices.ContainsFunc(s.Knowledge().FreedThrough, assigns)
}

func assigns(function string) bool {
	_, method := signature.Method(function)
	return method == "operator=" || method == "reset"
}

// Replacement is what to do about blocks of which each takes the place of the
// one before.
func (s *Site) Replacement() string {
	if s.IsObject() {
		return "keep the object and set it anew, in place of a new one each time"
	}
	return fmt.Sprintf("keep the block and fill it anew, in place of a new one each time (%s at the most)", Bytes(s.Counters.SizeMax))
}
