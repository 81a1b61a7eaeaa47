package profile

import "testing"

// FuzzAllocatedType looks for names that are taken apart in no time, or into
// more than they are made of.
func FuzzAllocatedType(f *testing.F) {
	for _, name := range []string{
		"operator new(unsigned long)", "void std::vector<Foo, std::allocator<Foo> >::_M_realloc_insert<Foo>(int)",
		"std::_Rb_tree<int, std::pair<int const, Foo>, std::_Select1st<std::pair<int const, Foo> > >::_M_get_node()",
		"<alloc::vec::Vec<T> as core::clone::Clone>::clone", "std::vector<(anonymous namespace)::A<-> >::x", "a<<<>>::(::", "",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		const most = len("node of std::unordered_map<, > with its shared_ptr")
		if told := allocatedType(name); len(told) > len(name)+most {
			t.Errorf("%q: %q", name, told)
		}
	})
}
