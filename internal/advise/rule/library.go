package rule

import (
	"math/bits"
	"path"
	"slices"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/signature"
)

// makers are what of the standard libraries makes single objects for whoever
// calls it; everything else there keeps its blocks to itself.
var makers = []string{
	"std::allocator", "std::__new_allocator", "std::__allocat", "__gnu_cxx::new_allocator",
	"std::make_unique", "std::unique_ptr", "std::make_shared", "std::allocate_shared", "std::shared_ptr", "std::__shared",
	"std::_Sp_counted", "std::__libcpp_",
	"alloc::alloc::", "alloc::boxed::", "alloc::rc::", "alloc::sync::",
}

// Contained tells whether most of the site's blocks belong to a container or
// another object of the standard library, that made them for itself: a string,
// a vector, the nodes of a map; or that a function of the language's library made
// whose name is not known.
func (s *Site) Contained() bool {
	if s.contained == nil {
		contained := profile.IsLanguageLibrary(s.Module) || 2*s.c.passage.Calls(s.Part, uint64(inContainer)) > s.Counters.Calls
		s.contained = &contained
	}
	return *s.contained
}

// Own are the blocks that no container keeps to itself; nil where there are none.
func (s *Site) Own() *Site {
	if !s.wentThrough(inContainer) {
		return s
	}
	return s.part(s.c.passage.Without(s.Part, uint64(inContainer)))
}

// KeepsMemory tells whether most of the site's blocks belong to a container
// that keeps them when it is cleared: a string or a vector, but no node of a
// list or map, nothing that an element of the container has, and nothing that
// others than the functions on the stack release.
func (s *Site) KeepsMemory() bool { return s.IsClearable() && !s.isTakenOver() }

// IsClearable tells whether most of the site's blocks belong to a container
// that keeps them when it is cleared, whoever releases them.
func (s *Site) IsClearable() bool {
	kept := s.Clearable()
	return kept != nil && 2*kept.Counters.Calls > s.Counters.Calls
}

// Clearable are the blocks that a container would keep; nil where there are none. The
// others, such as all nodes of a std::deque but one, it makes in each round.
func (s *Site) Clearable() *Site {
	const freed = TreeNode | ListNode | HashNode | Element | Stream | AnyValue | FileBuffer | SortBuffer | Exception | SharedState | ThreadStart
	return s.ByWithout(clearable, freed)
}

// symbolsOfFile returns what the file of a function of the standard libraries
// tells, where its name has no scope.
func symbolsOfFile(file string) uint64 {
	_, name := path.Split(file)
	switch name {
	case "new_allocator.h", "alloc_traits.h", "allocator.h", "unique_ptr.h", "shared_ptr.h", "shared_ptr_base.h", "stl_construct.h", "std_function.h":
		return 0 // they make blocks for others: see makers
	case "basic_string.h", "basic_string.tcc", "stl_vector.h", "vector.tcc":
		return uint64(inContainer | clearable)
	case "stl_tree.h":
		return uint64(inContainer | TreeNode)
	case "stl_list.h", "list.tcc", "forward_list.h", "forward_list.tcc":
		return uint64(inContainer | ListNode)
	}
	switch {
	case strings.HasSuffix(name, ".nim"), strings.HasSuffix(name, ".zig"):
		return ofCollections(file)
	case !strings.HasSuffix(name, ".rs"):
		return uint64(inContainer)
	case strings.HasSuffix(file, "/alloc/src/string.rs"), strings.HasSuffix(file, "/alloc/src/str.rs"), strings.HasSuffix(file, "/alloc/src/slice.rs"),
		strings.Contains(file, "/alloc/src/vec/"), strings.Contains(file, "/alloc/src/raw_vec"):
		return uint64(inContainer | clearable | ofRust)
	case strings.Contains(file, "/alloc/src/collections/"), strings.Contains(file, "/hashbrown-"):
		return uint64(inContainer | ofRust)
	}
	return uint64(ofRust)
}

// ofCollections tells strings and collections of Nim and Zig from what makes single
// objects, or blocks for whoever calls it.
func ofCollections(file string) uint64 {
	_, name := path.Split(file)
	for _, start := range []string{"str", "seq", "array_", "hash_map", "multi_array", "Writer"} {
		if strings.HasPrefix(name, start) {
			return uint64(inContainer)
		}
	}
	if strings.Contains(file, "/collections/") {
		return uint64(inContainer)
	}
	return 0
}

// KeptByLoop is what to do about a string or container that is made in each round
// of a loop. Where a caller of the function that fills it releases it, it may have
// been returned, and to assign what is returned to one that is kept takes its new block.
// So it is with much of Rust's library, such as to_lowercase and replace.
func (s *Site) KeptByLoop() string {
	owner, owned := s.Owner()
	switch {
	case owned && owner.Function != s.Way[0].Function:
		return "let the caller declare the string or container outside of all loops, clear() it in each round and have it filled by reference: it keeps its memory, while one that is returned is made anew each time"
	case s.By(Deque) != nil:
		return "declare the container outside of all loops: it keeps one block where it is cleared; a std::queue that is emptied by pop() takes a block anew for every so many elements"
	case s.InRust():
		return "declare the String, Vec or map outside of all loops, clear() it in each round and fill it by push_str, extend or write!: it keeps its memory, while what a function returns is made anew each time"
	}
	return "declare the string or container outside of all loops, and clear() it in each round: it keeps its memory"
}

// BlocksOfOneKept is how many blocks stay where each thread keeps the string or
// container for all rounds: it grows to the greatest size by doubling.
func (s *Site) BlocksOfOneKept() uint64 {
	n := &s.Counters
	doublings := bits.Len64((max(1, n.SizeMax) - 1) / max(1, n.SizeMin))
	return max(1, s.Knowledge().Threads) * uint64(1+doublings)
}

// isTakenOver tells that a function that is not on the stack releases the
// blocks. Where it is one of the libraries the container's owner called it, and
// the destructor of the object that a container is in is called by who has that.
func (s *Site) isTakenOver() bool {
	_, owned := s.Owner()
	by := s.Knowledge().FreedBy
	return !owned && Certain(by, 0.5) && by.Function != "" && !s.c.Profile.Wraps(&by.Frame) && !destroys(by.Function, s.Function)
}

// clearables are the classes that keep their memory when they are cleared, with
// what they consist of; of some only certain blocks.
var clearables = []struct{ class, method string }{
	{"std::basic_string", ""},
	{"std::vector", ""}, {"std::_Vector_base", ""}, {"std::_Bvector_base", ""},
	{"std::_Deque_base", "_M_allocate_map"}, {"std::_Deque_base", "_M_create_nodes"}, // one node
	{"std::__detail::_Hashtable_alloc", "_M_allocate_buckets"}, {"std::__hash_table", "__rehash"}, {"std::__hash_table", "__do_rehash"},
}

// clearablesOfRust are modules.
var clearablesOfRust = []string{
	"alloc::vec::", "alloc::string::", "alloc::str::", "alloc::slice::", "alloc::raw_vec::", "alloc::fmt::",
	"alloc::collections::vec_deque::", "alloc::collections::binary_heap::", "hashbrown::",
}

func isClearable(function string) bool {
	name := strings.TrimLeft(function, "<&")
	for _, module := range clearablesOfRust {
		if strings.HasPrefix(name, module) {
			return true
		}
	}
	if !strings.Contains(function, "std::") {
		return false
	}
	class, method := signature.Method(function)
	class = strings.Replace(class, "std::__cxx11", "std", 1)
	return slices.ContainsFunc(clearables, func(of struct{ class, method string }) bool {
		return class == of.class && (of.method == "" || method == of.method)
	})
}

// InObject tells whether the site's blocks belong to a string or container
// within an object that the site's function constructs.
func (s *Site) InObject() bool { return s.Contained() && IsConstructor(s.Function) }

// SetAnew is what to do about an object whose parts take memory in each round.
const SetAnew = "make the object once, outside of all loops, and set it anew in each round: the string or container in it keeps its memory"

// Constructor returns the line of a constructor that asks for the blocks, where the
// destructor of its class releases them: an object has them, and it may be handed on.
func (s *Site) Constructor() (line profile.Frame, ok bool) {
	by := s.Knowledge().FreedBy
	if !Certain(by, 0.5) {
		return line, false
	}
	at := slices.IndexFunc(s.Way, func(f profile.Frame) bool { return destroys(by.Function, f.Function) })
	if at < 0 {
		return line, false
	}
	return s.Way[at], true
}

// OfElements tells whether a good part of the site's blocks are what elements of
// a container took while they were constructed there: rows of a vector of
// vectors, which are gone when it is cleared.
func (s *Site) OfElements() bool {
	const goodPart = 0.1
	return Share(s.c.passage.Calls(s.Part, uint64(Element)), s.Counters.Calls) > goodPart
}

func isContainer(function string) bool {
	if profile.IsLanguageLibrary(function) { // one without a name of its own
		return true
	}
	if strings.HasPrefix(function, "ada__") || strings.HasPrefix(function, "_gfortran") { // strings and containers of Ada, arrays of Fortran
		return true
	}
	name := strings.TrimLeft(function, "<&") // a Rust implementation begins so
	if !strings.HasPrefix(name, "alloc::") && !strings.HasPrefix(name, "hashbrown::") {
		class, method := signature.Method(function)
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
