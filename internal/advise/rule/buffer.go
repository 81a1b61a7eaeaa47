package rule

import "strings"

// bufferOwners are the library types that keep their elements in one block,
// which they exchange for another one as they like.
var bufferOwners = []string{
	"std::vector<", "std::_Vector_base<", "std::deque<", "std::_Deque_base<", "std::basic_string<", "std::__cxx11::basic_string<",
	"std::__1::vector<", "std::__1::deque<", "std::__1::basic_string<", "std::string::_Rep::",
	"alloc::raw_vec::", "alloc::vec::", "alloc::string::", "<alloc::raw_vec::", "<alloc::vec::", "<alloc::string::",
}

// AreBuffers tells that most of the site's blocks are those of vectors and
// strings: no member of an object can take their place.
func (s *Site) AreBuffers() bool {
	part := s.Through(ofBufferOwner)
	return part != nil && Share(part.Counters.Calls, s.Counters.Calls) > 0.5
}

// ofBufferOwner tells whether a demangled function is one of a buffer's
// owner, and not only has one among its template arguments.
func ofBufferOwner(function string) bool {
	depth := 0
	for i := 0; i < len(function); i++ {
		if depth == 0 && (i == 0 || function[i-1] == ' ') {
			for _, owner := range bufferOwners {
				if strings.HasPrefix(function[i:], owner) {
					return true
				}
			}
		}
		switch function[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			return false // parameters
		}
	}
	return false
}
