package profile

import "testing"

func TestAllocatedType(t *testing.T) {
	for function, want := range map[string]string{
		"operator new(unsigned long)":          "",
		"main":                                 "",
		"Pool::operator new(unsigned long)":    "Pool",
		"a::Node<int>::operator new[](size_t)": "a::Node<int>",
		"void std::vector<Foo, std::allocator<Foo> >::_M_realloc_insert<Foo>(__gnu_cxx::__normal_iterator<Foo*, int>, Foo&&)":                                                    "std::vector<Foo>",
		"std::_Vector_base<Foo, std::allocator<Foo> >::_M_allocate(unsigned long)":                                                                                               "std::vector<Foo>",
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, unsigned long)":                                              "std::string",
		"std::_Rb_tree<int, std::pair<int const, Foo>, std::_Select1st<std::pair<int const, Foo> >, std::less<int>, std::allocator<std::pair<int const, Foo> > >::_M_get_node()": "node of std::map<int, Foo>",
		"std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>, std::allocator<int> >::_M_get_node()":                                                                      "node of std::set<int>",
		"std::_Hashtable<int, int, std::allocator<int>, x>::_M_rehash(unsigned long)":                                                                                            "buckets of std::unordered_set<int>",
		"std::__new_allocator<std::_List_node<Foo> >::allocate(unsigned long, void const*)":                                                                                      "\x00node of std::list<Foo>",
		"std::__new_allocator<Foo*>::allocate(unsigned long, void const*)":                                                                                                       "\x00Foo*",
		"__gnu_cxx::new_allocator<std::_Sp_counted_ptr_inplace<Foo, std::allocator<Foo>, (__gnu_cxx::_Lock_policy)2> >::allocate(unsigned long, void const*)":                    "\x00Foo with its shared_ptr",
		"std::allocator<Foo>::allocator()": "",
		"void std::allocator_traits<std::allocator<std::any> >::construct<std::any>(std::allocator<std::any>&, std::any*)": ofConstructor,
		"std::any* std::construct_at<std::any>(std::any*)":                                                                 ofConstructor,
		"std::_MakeUniq<Foo>::__single_object std::make_unique<Foo, int>(int&&)":                                           "Foo",
		"std::shared_ptr<Foo> std::make_shared<Foo>()":                                                                     "Foo with its shared_ptr",
		"std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Foo*>(Foo*)":                                      "control block of std::shared_ptr<Foo>",
		"alloc::vec::Vec<u8, alloc::alloc::Global>::with_capacity":                                                         "Vec<u8>",
		"alloc::raw_vec::RawVec<T,A>::grow_one":                                                                            "",
		"<alloc::string::String as core::clone::Clone>::clone":                                                             "String",
		"<alloc::boxed::Box<app::Node>>::new":                                                                              "Box<app::Node>",
		"<alloc::vec::Vec<(fn(u8) -> u8, usize)>>::push":                                                                   "Vec<(fn(u8) -> u8, usize)>",
	} {
		if got := allocatedType(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}

func TestTidyType(t *testing.T) {
	for name, want := range map[string]string{
		"std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > >": "std::vector<std::string>",
		"Foo":                              "Foo",
		"std::vector<int, std::allocator<": "std::vector<int",
	} {
		if got := tidyType(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
