package rule

import (
	"slices"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/signature"
)

// Symbol is what the names of functions of the standard libraries tell of the
// calls that went through them.
type Symbol uint64

const (
	TreeNode        Symbol = 1 << iota // of std::map, std::set and their multi forms
	ListNode                           // of std::list and std::forward_list
	HashNode                           // of std::unordered_map and the like
	StdFunction                        // a callable that has no room in a std::function
	StringCopy                         // a std::string from another one
	StringLiteral                      // a std::string from a C string
	StringOfChars                      // a std::string from a view, or from a pointer and a length
	Substring                          // std::string::substr
	ContainerCopy                      // a std::vector, std::map, std::pair or the like from another one
	ControlBlock                       // the counts of a std::shared_ptr, apart from the object
	Stream                             // std::stringstream and its kin
	RegexCompile                       // the construction of a std::regex
	Clone                              // Rust: Clone::clone, ToOwned::to_owned, String::from, to_vec of a slice
	Format                             // Rust: format! and ToString::to_string
	TextCopy                           // Rust: to_string of what is a text already
	TextChange                         // Rust: str::replace, to_lowercase and the like, which make a String whether anything changes or not
	Collect                            // Rust: Iterator::collect
	Box                                // Rust: Box::new
	Counted                            // Rust: Rc::new, Arc::new
	CollectionClone                    // Rust: clone of a Vec, HashMap or the like
	Text                               // Rust: what makes a str of its own
	Growth                             // the enlargement of a std::vector or std::deque
	StringGrowth                       // of a std::string
	Deque                              // the blocks of a std::deque, such as a std::queue has
	StringSum                          // a std::string that + puts together
	Element                            // what is made for an element while it is constructed in its container
	AnyValue                           // a value that has no room in a std::any
	NumberText                         // what std::to_string returns
	FileBuffer                         // the buffer of a std::fstream
	SortBuffer                         // the buffer of std::stable_sort and its kin
	Exception                          // an exception, and its message
	SharedState                        // what a std::promise or a task shares with its future
	ThreadStart                        // what a std::thread hands to its new thread
	Matching                           // what a std::regex takes while it is compared with a text
	clearable                          // of a container that keeps the block when it is cleared
	ofRust                             // of Rust's library of what allocates
	inContainer                        // whatever container or object keeps the block to itself
)

// By returns the calls of a site that went through functions of that kind; nil
// where there are none.
func (s *Site) By(symbol Symbol) *Site {
	switch {
	case !s.wentThrough(symbol):
		return nil
	case symbol&copies != 0:
		return s.part(s.c.passage.Calling(s.Part, uint64(symbol)))
	}
	return s.ByWithout(symbol, 0)
}

// ByWithout is By of calls that went through no function of the other kind.
func (s *Site) ByWithout(symbol, other Symbol) *Site {
	if !s.wentThrough(symbol) {
		return nil
	}
	return s.part(s.c.passage.Through(s.Part, uint64(symbol), uint64(other)))
}

// CopiesOfElements returns the calls for copies of strings and containers that
// another container keeps as its elements; nil where there are none.
func (s *Site) CopiesOfElements() *Site {
	elements := s.ByWithout(Element, 0)
	if elements == nil {
		return nil
	}
	return elements.ByWithout(StringCopy|ContainerCopy, 0)
}

func (s *Site) wentThrough(symbol Symbol) bool {
	if s.symbols == nil {
		all := Symbol(s.c.passage.Kinds(s.Part))
		s.symbols = &all
	}
	return *s.symbols&symbol != 0
}

func (s *Site) part(part *profile.Part) *Site {
	if part == nil {
		return nil
	}
	return &Site{Part: part, c: s.c}
}

// copies are made for others, too, such as a container that keeps them: only
// what the line itself asked for counts.
const copies = StringCopy | StringLiteral | Substring | ContainerCopy | Clone | CollectionClone

// By returns the part of each site that went through functions of that kind,
// where it is a share of all allocations that is worth a word.
func (c *Case) By(symbol Symbol) []*Site {
	return c.worthAWord(func(s *Site) *Site { return s.By(symbol) })
}

// ByWithout is By of calls that went through no function of the other kind.
func (c *Case) ByWithout(symbol, other Symbol) []*Site {
	return c.worthAWord(func(s *Site) *Site { return s.ByWithout(symbol, other) })
}

func (c *Case) worthAWord(of func(*Site) *Site) []*Site {
	var parts []*Site
	for _, s := range c.Sites {
		part := of(s)
		if part != nil && c.IsWorthAWord(part.Counters.Calls) {
			parts = append(parts, part)
		}
	}
	return parts
}

// IsWorthAWord tells whether so many calls are a share of all allocations that is
// worth a word.
func (c *Case) IsWorthAWord(calls uint64) bool {
	const leastCalls = 100
	return calls >= leastCalls && Share(calls, c.Allocations) >= Worthwhile
}

// leastShort is the share of blocks that must die soon for what made them to
// be more than the line needs: who keeps a copy, a clone or a std::function
// needs it, and a stream that goes on growing is a buffer.
const leastShort = 0.8

// DiesSoon tells whether so many blocks of the site are freed within a few heap
// events that the line hardly needs any. The others may be kept, and what saves
// only those that are thrown away claims Counters.ShortLived.
func (s *Site) DiesSoon() bool {
	return Share(s.Counters.ShortLived, s.Counters.Calls) >= leastShort
}

// symbolsOf returns all that the name of a function tells.
func symbolsOf(function string) uint64 {
	function = withoutVersion(function)
	symbols := symbolOf(function) | growthOf(function)
	if strings.Contains(function, "std::_Deque_base<") {
		symbols |= Deque
	}
	if isContainer(function) {
		symbols |= inContainer
	}
	if isClearable(function) {
		symbols |= clearable
	}
	switch name := strings.TrimLeft(function, "<&"); { // a Rust implementation begins so
	case strings.HasPrefix(name, "alloc::string::"), strings.HasPrefix(name, "alloc::str::"), strings.HasPrefix(name, "str as "):
		symbols |= Text | ofRust
	case strings.HasPrefix(name, "alloc::"):
		symbols |= ofRust
	}
	if passesOn(function) && symbols&^(Text|ofRust) == 0 {
		return profile.PassesOn
	}
	return uint64(symbols)
}

// passesOn tells of a function of Rust's core, which allocates nothing itself but
// has what it is given do it: Option::map, Into::into.
func passesOn(function string) bool {
	return strings.HasPrefix(strings.TrimLeft(function, "<&"), "core::") || strings.Contains(function, " as core::convert::Into<")
}

// withoutVersion gives functions of libc++ the names that those of libstdc++ have.
func withoutVersion(function string) string {
	return strings.ReplaceAll(function, "std::__1::", "std::")
}

func symbolOf(function string) Symbol {
	if strings.HasPrefix(function, "__cxa_") || strings.HasPrefix(function, "__cxxabiv1::__cxa_") {
		return Exception
	}
	if strings.Contains(function, "alloc::") || strings.Contains(function, "core::") || strings.HasPrefix(function, "<[") || strings.HasPrefix(function, "<str>::") {
		if symbol := rustSymbol(function); symbol != 0 {
			return symbol
		}
	}
	if !strings.Contains(function, "std::") {
		return 0
	}
	return cxxSymbol(function)
}

// nodes are the types of nodes of libstdc++ and libc++, which their
// allocators have as their argument.
var nodes = []struct {
	kind  string
	means Symbol
}{
	{"allocator<std::_Rb_tree_node<", TreeNode}, {"allocator<std::__tree_node<", TreeNode},
	{"allocator<std::_List_node<", ListNode}, {"allocator<std::_Fwd_list_node<", ListNode},
	{"allocator<std::__list_node<", ListNode}, {"allocator<std::__forward_list_node<", ListNode},
	{"allocator<std::__detail::_Hash_node<", HashNode}, {"allocator<std::__hash_node<", HashNode},
}

func cxxSymbol(function string) (symbol Symbol) {
	if strings.Contains(function, "::allocate(") || strings.HasSuffix(function, "::allocate") {
		for _, n := range nodes {
			if strings.Contains(function, n.kind) {
				return n.means
			}
		}
		return 0
	}
	class, method := signature.Method(function)
	if symbol := objectSymbol(class, method); symbol != 0 {
		return symbol
	}
	switch {
	case class == "std::_Function_base::_Base_manager" && (method == "_M_create" || method == "_M_init_functor" || method == "_M_clone"),
		class == "std::_Function_handler" && method == "_M_manager",
		strings.HasPrefix(class, "std::__function::"):
		return StdFunction
	case class == "std::__shared_count" && takesPlainPointer(function), class == "std::shared_ptr" && method == "shared_ptr" && isMadeOfPointer(function):
		return ControlBlock
	case class == "std::__detail::_Compiler", class == "std::__cxx11::basic_regex" && method == "basic_regex", class == "std::basic_regex" && method == "basic_regex":
		return RegexCompile
	case class == "std::basic_regex", class == "std::__cxx11::basic_regex", class == "std::__detail::_Executor":
		return Matching
	case isStream(class):
		return Stream
	case class == "std::__cxx11::basic_string" || class == "std::basic_string":
		return stringSymbol(function, method)
	case method == "construct" || method == "construct_at" || method == "_Construct" || method == "__do_uninit_copy":
		return Element
	case method == "operator+" && class == "std" && strings.Contains(function, "basic_string<"):
		return StringSum
	case copiesContainer(function, class, method):
		return ContainerCopy
	}
	return 0
}

// containers are those whose copy copies all elements.
var containers = []string{
	"vector", "deque", "list", "forward_list", "map", "multimap", "set", "multiset",
	"unordered_map", "unordered_multimap", "unordered_set", "unordered_multiset",
}

// holders are those whose copy copies what is in them: the elements that maps
// have, and adaptors of containers.
var holders = []string{"pair", "tuple", "optional", "variant", "array", "stack", "queue", "priority_queue"}

func copiesContainer(function, class, method string) bool {
	_, name := signature.Split(class)
	if !slices.Contains(containers, name) && !slices.Contains(holders, name) || method != name && method != "operator=" {
		return false
	}
	_, parameters, _ := strings.Cut(function, "::"+method+"(")
	parameters = strings.TrimSuffix(parameters, ")")
	return strings.HasPrefix(parameters, class+"<") && strings.HasSuffix(parameters, " const&") && !areSeveral(parameters)
}

// CopyOf returns the class or type, without the arguments of a template, of
// which the function is the copy constructor or assignment, or Rust's clone; ok
// is false for others, and for what is of the standard libraries.
func CopyOf(function string) (class string, ok bool) {
	if class, ok = strings.CutSuffix(function, " as core::clone::Clone>::clone"); ok {
		return cloned(class)
	}
	if !strings.HasSuffix(function, " const&)") {
		return "", false
	}
	class, method := signature.Method(function)
	_, name := signature.Split(class)
	if name == "" || method != name && method != "operator=" || strings.HasPrefix(class, "std::") || strings.HasPrefix(class, "__gnu_cxx::") {
		return "", false
	}
	_, parameters, _ := strings.Cut(function, "::"+method+"(")
	of, _, _ := strings.Cut(strings.TrimSuffix(parameters, " const&)"), "<")
	return class, signature.WithoutAnonymous(of) == class && !areSeveral(parameters)
}

// cloned is CopyOf for a Rust type, with the bracket that stands before it.
func cloned(name string) (class string, ok bool) {
	name, _ = strings.CutPrefix(name, "<")
	name, _, _ = strings.Cut(name, "<")
	for _, library := range []string{"alloc::", "core::", "std::", "hashbrown::", "&", "[", "("} {
		if strings.HasPrefix(name, library) {
			return "", false
		}
	}
	return name, strings.Contains(name, "::")
}

func isStream(class string) bool {
	class = strings.TrimPrefix(strings.TrimPrefix(class, "std::"), "__cxx11::")
	switch class {
	case "basic_stringbuf", "basic_stringstream", "basic_ostringstream", "basic_istringstream":
		return true
	}
	return false
}

const anyString = "basic_string<char, std::char_traits<char>, std::allocator<char> > const&"

func stringSymbol(function, method string) Symbol {
	switch method {
	case "substr":
		return Substring
	case "basic_string":
		_, parameters, _ := strings.Cut(function[strings.LastIndex(function, ">::basic_string")+1:], "(")
		parameters = strings.TrimSuffix(parameters, ")")
		switch {
		case strings.HasSuffix(parameters, anyString) && strings.Count(parameters, "basic_string<") == 1:
			return StringCopy
		case strings.HasPrefix(parameters, "char const*, std::allocator<char> const&"):
			return StringLiteral
		case strings.HasPrefix(parameters, "char const*, unsigned long, std::allocator<char> const&"):
			return StringOfChars
		}
	}
	return 0
}

// takesPlainPointer tells whether a shared_ptr is made from a pointer, or from a
// unique_ptr, without a deleter of its own. Of functions that no other file can
// see the name has no parameters, only template arguments.
func takesPlainPointer(function string) bool {
	_, arguments, ok := strings.Cut(function, ">::__shared_count<")
	if !ok {
		return false
	}
	argument, _, ok := strings.Cut(arguments, ">(")
	if !ok {
		argument = strings.TrimSuffix(arguments, ">")
	}
	if object, deleter, ok := strings.Cut(argument, ", std::default_delete<"); ok && !areSeveral(object) {
		return strings.TrimSpace(deleter) == object+">" || strings.TrimSpace(deleter) == object+" >"
	}
	return strings.HasSuffix(argument, "*") && !areSeveral(argument)
}

// isMadeOfPointer is takesPlainPointer for libc++, whose shared_ptr itself makes
// the counts.
func isMadeOfPointer(constructor string) bool {
	_, parameters, _ := strings.Cut(constructor, "(")
	parameters = strings.TrimSuffix(parameters, ")")
	if object, deleter, ok := strings.Cut(parameters, ", std::default_delete<"); ok {
		object = strings.TrimPrefix(object, "std::unique_ptr<")
		return deleter == object+"> >&&" && !areSeveral(object)
	}
	return strings.HasSuffix(parameters, "*") && !areSeveral(parameters)
}

// areSeveral tells whether a list has more than one template argument.
func areSeveral(arguments string) bool { return len(signature.Arguments(arguments)) > 1 }

// IsConstructor tells whether a demangled name is that of a constructor.
func IsConstructor(function string) bool {
	class, method := signature.Method(function)
	_, name := signature.Split(class)
	return name != "" && name == method
}

// destroys tells whether a function is the destructor of the class of which
// another one is a constructor.
func destroys(function, constructor string) bool {
	class, method := signature.Method(function)
	of, name := signature.Method(constructor)
	return IsConstructor(constructor) && class == of && method == "~"+name
}

func rustSymbol(function string) Symbol {
	switch {
	case strings.HasSuffix(function, " as core::clone::Clone>::clone") && slices.ContainsFunc(collectionsOfRust, func(name string) bool { return strings.HasPrefix(function, name) }):
		return Clone | CollectionClone
	case strings.HasSuffix(function, " as core::clone::Clone>::clone"),
		strings.HasSuffix(function, " as alloc::borrow::ToOwned>::to_owned"),
		isMadeOfSlice(function), strings.HasPrefix(strings.TrimLeft(function, "<"), "alloc::borrow::Cow<") && strings.HasSuffix(function, ">::into_owned"),
		strings.Contains(function, "alloc::borrow::ToOwned for "),
		function == "alloc::slice::<impl [T]>::to_vec", strings.HasPrefix(function, "<[") && strings.HasSuffix(function, "]>::to_vec"):
		return Clone
	case strings.HasPrefix(function, "<str as alloc::string::SpecToString>"), strings.HasPrefix(function, "<alloc::string::String as alloc::string::SpecToString>"):
		return Format | TextCopy
	case function == "alloc::fmt::format", strings.HasPrefix(function, "alloc::fmt::format::"),
		strings.Contains(function, " as alloc::string::ToString>::to_string"),
		strings.Contains(function, " as alloc::string::SpecToString>::spec_to_string"):
		return Format
	case changesText(function):
		return Format | TextChange
	case strings.Contains(function, "core::iter::traits::iterator::Iterator::collect"),
		strings.Contains(function, " as core::iter::traits::collect::FromIterator<"),
		strings.Contains(function, "::spec_from_iter"):
		return Collect
	case strings.HasPrefix(function, "alloc::boxed::Box<T") && (strings.HasSuffix(function, "::new") || strings.HasSuffix(function, "::new_in")),
		strings.HasPrefix(function, "<alloc::boxed::Box<") && strings.HasSuffix(function, ">>::new"),
		function == "alloc::alloc::exchange_malloc":
		return Box
	case isNewOf(function, "alloc::rc::Rc<"), isNewOf(function, "alloc::sync::Arc<"):
		return Counted
	}
	return 0
}

// isMadeOfSlice tells of From::from of a String or Vec, from what is borrowed.
func isMadeOfSlice(function string) bool {
	of, from, ok := strings.Cut(function, " as core::convert::From<&")
	return ok && strings.HasSuffix(from, ">>::from") && (of == "<alloc::string::String" || strings.HasPrefix(of, "<alloc::vec::Vec<"))
}

func changesText(function string) bool {
	method, ok := strings.CutPrefix(function, "alloc::str::<impl str>::")
	if !ok {
		method, ok = strings.CutPrefix(function, "<str>::")
	}
	method, _, _ = strings.Cut(method, "::<")
	return ok && slices.Contains([]string{"replace", "replacen", "to_lowercase", "to_uppercase", "to_ascii_lowercase", "to_ascii_uppercase"}, method)
}

// isNewOf tells whether the function is new of a type, written "Rc<T>::new" or
// "<Rc<usize>>::new".
func isNewOf(function, class string) bool {
	return strings.HasPrefix(function, class) && strings.HasSuffix(function, ">::new") || strings.HasPrefix(function, "<"+class) && strings.HasSuffix(function, ">>::new")
}

// collectionsOfRust are those whose clone clones all elements.
var collectionsOfRust = []string{"<alloc::vec::Vec<", "<alloc::collections::", "<std::collections::", "<hashbrown::"}
