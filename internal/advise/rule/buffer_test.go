package rule

import "testing"

func TestOfBufferOwner(t *testing.T) {
	for function, want := range map[string]bool{
		"std::vector<int, std::allocator<int> >::reserve(unsigned long)":                             true,
		"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int*, int&&)":           true,
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create": true,
		"<alloc::vec::Vec<T> as core::clone::Clone>::clone":                                          true,
		"alloc::string::String::with_capacity":                                                       true,
		"std::__cxx11::list<std::vector<int> >::push_back(std::vector<int> const&)":                  false,
		"std::_Rb_tree<int, std::pair<int const, std::vector<int> > >::_M_get_node()":                false,
		"make(std::vector<int>)":        false,
		"my::std::vector<int>::reserve": false,
		"std::make_unique<Value>()":     false,
		"":                              false,
		"operator new(unsigned long)":   false,
		"std::unique_ptr<std::vector<int> >::reset(std::v)": false,
	} {
		if got := ofBufferOwner(function); got != want {
			t.Errorf("%q: %v", function, got)
		}
	}
}
