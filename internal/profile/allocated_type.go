package profile

import (
	"strings"

	"mallow/internal/signature"
)

// typeFinder tells what type a stack allocates, as far as the functions tell
// that it was passed on by: containers and allocators of C++ and Rust, their
// functions that make one object, and operator new of a class. The type of a
// plain new, and of what C allocates, is in no stack.
type typeFinder struct {
	sites *search
	told  map[string]string // by function
}

func newTypeFinder(p *Profile) *typeFinder {
	return &typeFinder{sites: p.sites, told: make(map[string]string)}
}

// of looks from the allocator outwards up to the site, whose names are known.
// The innermost that tells a type is right, but for those that several
// containers are made of.
func (t *typeFinder) of(leaf node) string {
	site := t.sites.node(leaf)
	found := ""
	for n := t.sites.known(leaf); n != root; n = t.sites.parent(n) {
		frames := t.sites.placeOf(n).frames
		last := len(frames)
		if n == site {
			last = t.sites.index(n) + 1
		}
		for i := range frames[:max(0, last)] {
			told := t.tells(frames[i].Function)
			if told == ofConstructor {
				return strings.TrimPrefix(found, anyOwner)
			}
			if told != "" && (found == "" || isPartOf(found, told)) {
				found = told
			}
		}
		if n == site {
			break
		}
	}
	return strings.TrimPrefix(found, anyOwner)
}

func (t *typeFinder) tells(function string) string {
	told, asked := t.told[function]
	if !asked {
		told = allocatedType(function)
		t.told[function] = told
	}
	return told
}

// anyOwner stands before what only an allocator was asked for: the container
// that asked, if there is one, tells more.
const anyOwner = "\x00"

// ofConstructor stands for functions that only construct objects where there is
// memory for them: what is allocated inside is the object's own, and not of the
// container around.
const ofConstructor = "\x01"

func isPartOf(part, whole string) bool {
	return strings.HasPrefix(part, anyOwner) && !strings.HasPrefix(whole, anyOwner) || part == "Vec<u8>" && whole == "String"
}

// allocatedType returns the type that a function allocates; "" where its name
// does not tell.
func allocatedType(function string) string {
	path := signature.Path(function)
	if self, _, ok := rustImplementation(function); ok {
		path = append(signature.Path(self), signature.Name{Name: "method"})
	}
	if len(path) < 2 {
		return ""
	}
	method := path[len(path)-1]
	class := path[:len(path)-1]
	owner := class[len(class)-1]
	if strings.HasPrefix(method.Name, "operator new") {
		return tidyType(joined(class))
	}
	switch path[0].Name {
	case "std", "__gnu_cxx":
		return libraryType(method, owner)
	case "alloc":
		return rustType(method, owner)
	}
	return ""
}

func joined(path []signature.Name) string {
	names := make([]string, len(path))
	for i, s := range path {
		if names[i] = s.Name; s.Arguments != "" {
			names[i] += "<" + s.Arguments + ">"
		}
	}
	return strings.Join(names, "::")
}

// libraryType knows what the classes and functions of C++'s library allocate.
func libraryType(method, owner signature.Name) string {
	arguments := templateArguments(owner.Arguments)
	of := func(container string, count int) string {
		if len(arguments) < count {
			return ""
		}
		return container + "<" + strings.Join(arguments[:count], ", ") + ">"
	}
	switch method.Name {
	case "construct", "construct_at", "__construct_at", "_Construct", "_Sp_counted_ptr_inplace", "__shared_ptr_emplace":
		return ofConstructor
	}
	switch owner.Name {
	case "vector", "_Vector_base":
		return of("std::vector", 1)
	case "deque", "_Deque_base":
		return of("std::deque", 1)
	case "list", "_List_base":
		return nodeOf(of("std::list", 1))
	case "forward_list", "_Fwd_list_base":
		return nodeOf(of("std::forward_list", 1))
	case "basic_string":
		return stringType(arguments)
	case "_Rb_tree":
		return treeType(arguments)
	case "_Hashtable":
		return hashType(arguments, method.Name)
	case "_Function_base", "_Base_manager":
		return "functor of std::function"
	case "function":
		return of("functor of std::function", 1)
	case "allocator", "new_allocator", "__new_allocator", "polymorphic_allocator":
		if strings.HasPrefix(method.Name, "allocate") && len(arguments) > 0 {
			return anyOwner + elementType(arguments[0])
		}
	case "__shared_count":
		return sharedType(method)
	}
	made := templateArguments(method.Arguments)
	if len(made) == 0 {
		return ""
	}
	switch method.Name {
	case "make_unique", "make_unique_for_overwrite":
		return tidyType(made[0])
	case "make_shared", "allocate_shared":
		return tidyType(made[0]) + " with its shared_ptr"
	}
	return ""
}

func nodeOf(container string) string {
	if container == "" {
		return ""
	}
	return "node of " + container
}

func stringType(arguments []string) string {
	if len(arguments) == 0 {
		return ""
	}
	switch arguments[0] {
	case "char":
		return "std::string"
	case "wchar_t":
		return "std::wstring"
	}
	return "std::basic_string<" + arguments[0] + ">"
}

// treeType: the second argument is what a node holds, a pair in maps.
func treeType(arguments []string) string {
	if len(arguments) < 2 {
		return ""
	}
	if key, value, ok := pair(arguments[1]); ok && key == arguments[0] {
		return "node of std::map<" + key + ", " + value + ">"
	}
	return "node of std::set<" + arguments[0] + ">"
}

func hashType(arguments []string, method string) string {
	if len(arguments) < 2 {
		return ""
	}
	table := "std::unordered_set<" + arguments[0] + ">"
	if key, value, ok := pair(arguments[1]); ok && key == arguments[0] {
		table = "std::unordered_map<" + key + ", " + value + ">"
	}
	if strings.Contains(method, "rehash") || strings.Contains(method, "buckets") {
		return "buckets of " + table
	}
	return "node of " + table
}

func sharedType(method signature.Name) string {
	arguments := templateArguments(method.Arguments)
	if method.Name != "__shared_count" || len(arguments) == 0 {
		return ""
	}
	if object, isPointer := strings.CutSuffix(arguments[0], "*"); isPointer {
		return "control block of std::shared_ptr<" + object + ">"
	}
	return arguments[0] + " with its shared_ptr"
}

// elementType is what an allocator was made for, named by what it is a part of.
func elementType(element string) string {
	path := signature.Path(element)
	class := path[len(path)-1]
	arguments := templateArguments(class.Arguments)
	if strings.HasSuffix(element, "*") || len(arguments) == 0 {
		return tidyType(element)
	}
	switch class.Name {
	case "_Rb_tree_node":
		if key, value, ok := pair(arguments[0]); ok {
			return "node of std::map<" + key + ", " + value + ">"
		}
		return "node of std::set<" + arguments[0] + ">"
	case "_Hash_node":
		if key, value, ok := pair(arguments[0]); ok {
			return "node of std::unordered_map<" + key + ", " + value + ">"
		}
		return "node of std::unordered_set<" + arguments[0] + ">"
	case "_List_node":
		return "node of std::list<" + arguments[0] + ">"
	case "_Fwd_list_node":
		return "node of std::forward_list<" + arguments[0] + ">"
	case "_Sp_counted_ptr_inplace":
		return arguments[0] + " with its shared_ptr"
	}
	return tidyType(element)
}

// pair returns the types of a std::pair<K const, V>.
func pair(element string) (key, value string, ok bool) {
	inside, isPair := strings.CutPrefix(element, "std::pair<")
	if !isPair {
		return "", "", false
	}
	arguments := templateArguments(strings.TrimSuffix(inside, ">"))
	if len(arguments) != 2 {
		return "", "", false
	}
	key, ok = strings.CutSuffix(arguments[0], " const")
	if !ok {
		key, ok = strings.CutPrefix(arguments[0], "const ")
	}
	return key, arguments[1], ok
}

// rustType knows the owners of Rust's library. Parameters that are no types,
// such as T, are those of names without them.
func rustType(method, owner signature.Name) string {
	arguments := templateArguments(owner.Arguments)
	if owner.Name == "String" || owner.Name == "string" {
		return "String"
	}
	if len(arguments) == 0 || len(arguments[0]) == 1 {
		return ""
	}
	switch owner.Name {
	case "Vec", "RawVec":
		return "Vec<" + arguments[0] + ">"
	case "Box", "Rc", "Arc", "VecDeque":
		return owner.Name + "<" + arguments[0] + ">"
	}
	return ""
}

// templateArguments divides a list as a programmer writes its types.
func templateArguments(list string) []string {
	arguments := signature.Arguments(list)
	for i, argument := range arguments {
		arguments[i] = tidyType(argument)
	}
	return arguments
}

// defaults are the arguments that a programmer leaves out.
var defaults = []string{", std::allocator<", ", std::less<", ", std::hash<", ", std::equal_to<", ", std::char_traits<", ", std::default_delete<",
	", alloc::alloc::Global"}

// tidyType writes a type as a programmer does: without the arguments that
// containers have by default, and without namespaces that nobody writes.
func tidyType(t string) string {
	t = strings.TrimSpace(t)
	for _, inline := range []string{"__cxx11::", "__cxx1998::", "__1::", "(anonymous namespace)::"} {
		t = strings.ReplaceAll(t, inline, "")
	}
	for _, d := range defaults {
		for {
			at := strings.Index(t, d)
			if at < 0 {
				break
			}
			rest, closed := t[at+len(d):], true
			if strings.HasSuffix(d, "<") {
				_, rest, closed = signature.CutBrackets("<" + rest)
			}
			if t = t[:at]; closed {
				t += rest
			}
		}
	}
	t = strings.ReplaceAll(t, " >", ">")
	t = strings.ReplaceAll(t, "std::basic_string<char>", "std::string")
	return t
}
