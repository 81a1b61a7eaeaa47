package rule

import "testing"

func TestIsContainer(t *testing.T) {
	for function, want := range map[string]bool{
		"std::vector<int, std::allocator<int> >::reserve(unsigned long)":                             true,
		"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int*, int&&)":           true,
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create": true,
		"std::_Rb_tree<int, std::pair<int const, std::vector<int> > >::_M_get_node()":                true,
		"<alloc::vec::Vec<T> as core::clone::Clone>::clone":                                          true,
		"alloc::string::String::with_capacity":                                                       true,
		"alloc::boxed::Box<T>::new":                                                                  false,
		"alloc::alloc::exchange_malloc":                                                              false,
		"std::__1::__unique_if<Value>::__unique_single std::__1::make_unique<Value>()":               false,
		"std::__1::allocator<Value>::allocate(unsigned long)":                                        false,
		"void* std::__1::__libcpp_operator_new<unsigned long>(unsigned long)":                        false,
		"std::__1::vector<int, std::__1::allocator<int> >::reserve(unsigned long)":                   true,
		"std::unique_ptr<Value> std::make_unique<Value>()":                                           false,
		"std::__new_allocator<Value>::allocate(unsigned long, void const*)":                          false,
		"std::__shared_ptr<std::vector<int>, (__gnu_cxx::_Lock_policy)2>::__shared_ptr()":            false,
		"make(std::vector<int>)":                                                                     false,
		"my::std::vector<int>::reserve":                                                              false,
		"operator new(unsigned long)":                                                                false,
		"libc++abi.so.1+0x990":                                                                       true,
		"ada__strings__unbounded__allocate":                                                          true,
		"_gfortran_pack":                                                                             true,
		"__gnat_malloc":                                                                              false,
		"allocImpl__system_1725":                                                                     false,
		"":                                                                                           false,
	} {
		if got := isContainer(withoutVersion(function)); got != want {
			t.Errorf("%q: %v", function, got)
		}
	}
}

func TestIsClearable(t *testing.T) {
	for function, want := range map[string]bool{
		"std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)":                        true,
		"std::__1::vector<int, std::__1::allocator<int> >::reserve(unsigned long)":                        true,
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create":      true,
		"std::__detail::_Hashtable_alloc<std::allocator<int> >::_M_allocate_buckets(unsigned long)":       true,
		"std::_Deque_base<int, std::allocator<int> >::_M_allocate_map(unsigned long)":                     true,
		"alloc::string::String::with_capacity":                                                            true,
		"<alloc::vec::Vec<T> as core::clone::Clone>::clone":                                               true,
		"std::_Rb_tree<int, std::pair<int const, std::vector<int> > >::_M_get_node()":                     false,
		"std::__cxx11::list<int, std::allocator<int> >::push_back(int const&)":                            false,
		"std::__detail::_Hashtable_alloc<std::allocator<int> >::_M_allocate_node<int const&>(int const&)": false,
		"std::valarray<double>::valarray(double const&, unsigned long)":                                   false,
		"std::deque<int, std::allocator<int> >::_M_push_back_aux<int>(int&&)":                             false,
		"alloc::collections::btree::map::BTreeMap<K,V>::insert":                                           false,
		"std::string::_Rep::_S_create(unsigned long, unsigned long, std::allocator<char> const&)":         false, // of copies that are shared
		"my::vector<int>::reserve": false,
		"":                         false,
	} {
		if got := isClearable(withoutVersion(function)); got != want {
			t.Errorf("%q: %v", function, got)
		}
	}
}

// Files tell what of the libraries of Ada, Nim and Zig keeps its blocks to itself.
func TestSymbolsOfFile(t *testing.T) {
	for file, want := range map[string]bool{
		"/usr/lib/gcc/x86_64-linux-gnu/12/adainclude/a-convec.adb": true,
		"/usr/lib/nim/lib/system/strs_v2.nim":                      true,
		"/usr/lib/nim/lib/system/seqs_v2.nim":                      true,
		"/usr/lib/nim/lib/pure/collections/tableimpl.nim":          true,
		"/usr/lib/zig/std/array_list.zig":                          true,
		"/usr/lib/zig/std/hash_map.zig":                            true,
		"/usr/lib/zig/std/mem/Allocator.zig":                       false,
		"/usr/lib/nim/lib/system/arc.nim":                          false,
		"/usr/lib/nim/lib/system/mm/malloc.nim":                    false,
	} {
		if got := Symbol(symbolsOfFile(file))&inContainer != 0; got != want {
			t.Errorf("%q: %v", file, got)
		}
	}
}
