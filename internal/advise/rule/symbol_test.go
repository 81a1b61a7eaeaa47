package rule

import "testing"

// As compilers write them.
func TestSymbolOf(t *testing.T) {
	const text = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	for function, want := range map[string]Symbol{
		"std::__new_allocator<std::_Rb_tree_node<std::pair<int const, long> > >::allocate(unsigned long, void const*)":                                           TreeNode,
		"__gnu_cxx::new_allocator<std::_Rb_tree_node<int> >::allocate(unsigned long, void const*)":                                                               TreeNode,
		"std::allocator_traits<std::allocator<std::_List_node<int> > >::allocate(std::allocator<std::_List_node<int> >&, int)":                                   ListNode,
		"std::__1::allocator<std::__1::__hash_node<int, void*> >::allocate(unsigned long)":                                                                       HashNode,
		"std::__new_allocator<int>::allocate(unsigned long, void const*)":                                                                                        0,
		"void std::__new_allocator<std::_Rb_tree_node<int> >::construct<int>(int*)":                                                                              Element,
		"std::_Function_handler<int (int), main::{lambda(int)#1}>::_M_manager(std::_Any_data&)":                                                                  StdFunction,
		"std::_Function_handler<int (int), main::{lambda(int)#1}>::_M_invoke(std::_Any_data const&, int&&)":                                                      0,
		"std::__1::__function::__func<main::$_0, std::__1::allocator<main::$_0>, int (int)>::__clone() const":                                                    StdFunction,
		text + "::basic_string(" + text + " const&)":                                                                                                             StringCopy,
		text + "::basic_string(" + text + "&&)":                                                                                                                  0,
		text + "::basic_string(" + text + " const&, unsigned long, unsigned long)":                                                                               0,
		text + "::substr(unsigned long, unsigned long) const":                                                                                                    Substring,
		text + "::basic_string<std::allocator<char> >(char const*, std::allocator<char> const&)":                                                                 StringLiteral,
		"std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> > const&)":                                                          ContainerCopy,
		"std::vector<int, std::allocator<int> >::operator=(std::vector<int, std::allocator<int> > const&)":                                                       ContainerCopy,
		"std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> >&&)":                                                               0,
		"std::vector<int, std::allocator<int> >::vector(unsigned long, int const&, std::allocator<int> const&)":                                                  0,
		text + " std::operator+<char, std::char_traits<char>, std::allocator<char> >(" + text + "&&, char const*)":                                               StringSum,
		"std::_Deque_iterator<int, int&, int*> std::operator+(std::_Deque_iterator<int, int&, int*> const&, long)":                                               0,
		"std::pair<int const, std::vector<int> >::pair(std::pair<int const, std::vector<int> > const&)":                                                          ContainerCopy,
		"std::pair<int, std::vector<int> >::pair(int const&, std::vector<int> const&)":                                                                           0,
		"std::queue<int, std::deque<int> >::queue(std::queue<int, std::deque<int> > const&)":                                                                     ContainerCopy,
		"std::map<int, long>::map(std::map<int, long> const&)":                                                                                                   ContainerCopy,
		"std::__1::unordered_set<int>::unordered_set(std::__1::unordered_set<int> const&)":                                                                       ContainerCopy,
		"std::map<int, long>::map(std::initializer_list<std::pair<int const, long> >, std::less<int> const&)":                                                    0,
		"void std::allocator_traits<std::allocator<Row> >::construct<Row, Row const&>(std::allocator<Row>&, Row*, Row const&)":                                   Element,
		"decltype (::new ((void*)(0)) Row((declval<Row const&>)())) std::construct_at<Row, Row const&>(Row*, Row const&)":                                        Element,
		"std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Node*>(Node*)":                                                                          ControlBlock,
		"std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Node, std::allocator<void> >(Node*&)":                                                   0,
		"std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Node, std::default_delete<Node> >(std::unique_ptr<Node, std::default_delete<Node> >&&)": ControlBlock,
		"std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Map<int, long>, std::default_delete<Map<int, long> > >":                                 ControlBlock,
		"std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Node, Close>(std::unique_ptr<Node, Close>&&)":                                           0,
		"std::__cxx11::basic_stringbuf<char, std::char_traits<char>, std::allocator<char> >::overflow(int)":                                                      Stream,
		"std::basic_filebuf<char, std::char_traits<char> >::_M_allocate_internal_buffer()":                                                                       FileBuffer,
		"std::basic_filebuf<char, std::char_traits<char> >::open(char const*, std::_Ios_Openmode)":                                                               0, // opens a FILE, too
		"std::any::any<Point, Point, std::any::_Manager_external<Point>, true>(Point&&)":                                                                         AnyValue,
		"void std::any::_Manager_external<Point>::_S_create<Point>(std::any::_Storage&, Point&&)":                                                                AnyValue,
		"Point const& std::any_cast<Point const&>(std::any const&)":                                                                                              0,
		"std::__cxx11::to_string(long)": NumberText,
		"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >::basic_string(std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> > const&)": StringCopy,
		"std::__1::shared_ptr<long>::shared_ptr<long, void>(long*)":                                                                                                                       ControlBlock,
		"std::__1::shared_ptr<Item>::shared_ptr<Item, std::__1::default_delete<Item>, void>(std::__1::unique_ptr<Item, std::__1::default_delete<Item> >&&)":                               ControlBlock,
		"std::__1::shared_ptr<long>::shared_ptr<long, Closer, void>(long*, Closer)":                                                                                                       0,
		"std::__1::shared_ptr<Item>::shared_ptr(std::__1::shared_ptr<Item> const&)":                                                                                                       0,
		"std::__1::basic_regex<char, std::__1::regex_traits<char> >::basic_regex(char const*, unsigned int)":                                                                              RegexCompile,
		"bool std::__1::basic_regex<char, std::__1::regex_traits<char> >::__match_at_start_ecma<std::__1::allocator<std::__1::sub_match<char const*> > >(char const*, char const*) const": Matching,
		"std::__1::to_string(long)":                                                                          NumberText,
		"std::pair<Row*, long> std::get_temporary_buffer<Row>(long)":                                         SortBuffer,
		"std::_Temporary_buffer<Row*, Row>::_Temporary_buffer(Row*, long)":                                   SortBuffer,
		"__cxa_allocate_exception":                                                                           Exception,
		"std::runtime_error::runtime_error(char const*)":                                                     Exception,
		"std::ios_base::failure[abi:cxx11]::failure(char const*, std::error_code const&)":                    Exception,
		"std::__throw_invalid_argument(char const*)":                                                         Exception,
		"std::promise<int>::promise()":                                                                       SharedState,
		"std::async<main()::<lambda()> >":                                                                    SharedState,
		"std::packaged_task<int (int)>::packaged_task<main::{lambda(int)#1}, void>(main::{lambda(int)#1}&&)": SharedState,
		"std::future<int>::get()":                                                                            0,
		"std::thread::thread<main::{lambda()#1}, , void>(main::{lambda()#1}&&)":                              ThreadStart,
		"std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_alternative()":                      RegexCompile,
		"alloc::slice::<impl [T]>::to_vec":                                                                   Clone,
		"<alloc::vec::Vec<T> as core::convert::From<&[T]>>::from":                                            Clone,
		"<alloc::vec::Vec<T> as core::convert::From<alloc::string::String>>::from":                           0,
		"alloc::borrow::Cow<B>::into_owned":                                                                  Clone,
		"<[u8]>::to_vec":                                                                                     Clone,
		"alloc::slice::<impl [T]>::to_vec_in":                                                                0, // of to_vec, and of all that makes a copy
		"<alloc::string::String as core::clone::Clone>::clone":                                               Clone,
		"<T as alloc::string::ToString>::to_string":                                                          Format,
		"<str as alloc::string::SpecToString>::spec_to_string":                                               Format | TextCopy,
		"<usize as alloc::string::SpecToString>::spec_to_string":                                             Format,
		"alloc::str::<impl str>::replace":                                                                    Format | TextChange,
		"<str>::replace::<&str>":                                                                             Format | TextChange,
		"alloc::str::<impl str>::to_lowercase":                                                               Format | TextChange,
		"<str>::to_lowercase":                                                                                Format | TextChange,
		"alloc::str::<impl str>::into_string":                                                                0,
		"core::iter::traits::iterator::Iterator::collect":                                                    Collect,
		"alloc::boxed::Box<T>::new":                                                                          Box,
		"alloc::sync::Arc<T>::new":                                                                           Counted,
		"<alloc::rc::Rc<usize>>::new":                                                                        Counted,
		"alloc::rc::Rc<T>::new_uninit":                                                                       0,
		"<alloc::vec::Vec<T,A> as core::clone::Clone>::clone":                                                Clone | CollectionClone,
		"<std::collections::hash::map::HashMap<K,V,S,A> as core::clone::Clone>::clone":                       Clone | CollectionClone,
		"": 0, "(": 0, "std::": 0, "std::>>>::allocate(": 0, "std::<<<": 0, "alloc::": 0, "std::(anonymous namespace": 0,
	} {
		if got := symbolOf(withoutVersion(function)); got != want {
			t.Errorf("%s: %b, want %b", function, got, want)
		}
	}
}

func TestCopyOf(t *testing.T) {
	for function, want := range map[string]string{
		"db::Row<std::map, int>::Row(db::Row<std::map, int> const&)":         "db::Row",
		"User::User(User const&)":                                            "User",
		"User::operator=(User const&)":                                       "User",
		"(anonymous namespace)::Key::Key((anonymous namespace)::Key const&)": "Key",
		"User::User(Person const&)":                                          "",
		"User::User(User const&, int)":                                       "",
		"User::operator==(User const&)":                                      "",
		"swap(User const&)":                                                  "",
		"std::map<int, User>::map(std::map<int, User> const&)":               "",
		"<table::Row as core::clone::Clone>::clone":                          "table::Row",
		"<table::Row<T> as core::clone::Clone>::clone":                       "table::Row",
		"<alloc::vec::Vec<table::Row> as core::clone::Clone>::clone":         "",
		"<T as core::clone::Clone>::clone":                                   "",
		"Row::Row(Row&&)":                                                    "",
	} {
		if class, ok := CopyOf(function); class != want && ok || ok != (want != "") {
			t.Errorf("%s: %q, %v", function, class, ok)
		}
	}
}
