package rule

import "strings"

// makers are what of the standard libraries makes single objects for whoever
// calls it; everything else there keeps its blocks to itself.
var makers = []string{
	"std::allocator", "std::__new_allocator", "std::__allocat", "__gnu_cxx::new_allocator",
	"std::make_unique", "std::unique_ptr", "std::make_shared", "std::allocate_shared", "std::shared_ptr", "std::__shared",
	"std::_Sp_counted",
	"alloc::alloc::", "alloc::boxed::", "alloc::rc::", "alloc::sync::",
}

// Contained tells whether most of the site's blocks belong to a container or
// another object of the standard library, that made them for itself: a string,
// a vector, the nodes of a map.
func (s *Site) Contained() bool {
	if s.contained == nil {
		contained := 2*s.c.passage.Calls(s.Part, uint32(inContainer)) > s.Counters.Calls
		s.contained = &contained
	}
	return *s.contained
}

// InObject tells whether the site's blocks belong to a string or container
// within an object that the site's function constructs.
func (s *Site) InObject() bool { return s.Contained() && IsConstructor(s.Function) }

// SetAnew is what to do about an object whose parts take memory in each round.
const SetAnew = "make the object once, outside of the loop, and set it anew in each round: the string or container in it keeps its memory"

// OfElements tells whether a good part of the site's blocks are what elements of
// a container took while they were constructed there: rows of a vector of
// vectors, which are gone when it is cleared.
func (s *Site) OfElements() bool {
	const goodPart = 0.1
	return Share(s.c.passage.Calls(s.Part, uint32(Element)), s.Counters.Calls) > goodPart
}

func isContainer(function string) bool {
	name := strings.TrimLeft(function, "<&") // a Rust implementation begins so
	if !strings.HasPrefix(name, "alloc::") && !strings.HasPrefix(name, "hashbrown::") {
		class, method := classAndMethod(function)
		if name = class + "::" + method; !strings.HasPrefix(name, "std::") && !strings.HasPrefix(name, "__gnu_cxx::") {
			return false
		}
	}
	for _, maker := range makers {
		if strings.HasPrefix(name, maker) {
			return false
		}
	}
	return true
}
