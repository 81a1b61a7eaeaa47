package nodes

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	p := ruletest.NewProgram(t)
	// As g++ writes them.
	p.Keep(3000, 48, p.Stack(recording.New,
		"std::__new_allocator<std::_Rb_tree_node<std::pair<int const, long> > >::allocate(unsigned long, void const*)",
		"std::_Rb_tree<int, std::pair<int const, long>, std::_Select1st<std::pair<int const, long> >, std::less<int>, std::allocator<std::pair<int const, long> > >::_M_get_node()",
		"std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >::operator[](int&&)",
		"index_words words.cc:17"))
	p.Hold(2000, 24, p.Stack(recording.New,
		"std::__new_allocator<std::__detail::_Hash_node<std::pair<int const, long>, false> >::allocate(unsigned long, void const*)",
		"std::unordered_map<int, long>::emplace(int&, int&)", "count words.cc:30"))
	p.Hold(2000, 24, p.Stack(recording.New, "std::__new_allocator<std::_List_node<int> >::allocate(unsigned long, void const*)",
		"std::__cxx11::list<int, std::allocator<int> >::push_back(int const&)", "queue words.cc:40"))
	// As clang writes those of libc++.
	p.Keep(1500, 40, p.Stack(recording.New, "std::__1::allocator<std::__1::__tree_node<int, void*> >::allocate(unsigned long)",
		"std::__1::set<int, std::__1::less<int>, std::__1::allocator<int> >::insert(int&&)", "seen words.cc:50"))
	// A string within a node is no node, nor are the buckets of a table.
	p.Keep(4000, 72, p.Stack(recording.New,
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_construct<char const*>(char const*, char const*, std::forward_iterator_tag)",
		"void std::__new_allocator<std::_Rb_tree_node<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > >::construct<>(int*)",
		"std::set<int>::insert(int&&)", "names words.cc:60"))
	p.Keep(2000, 800, p.Stack(recording.New,
		"std::__new_allocator<std::__detail::_Hash_node_base*>::allocate(unsigned long, void const*)",
		"std::unordered_map<int, long>::reserve(unsigned long)", "reserve words.cc:70"))
	// Too few.
	p.Keep(900, 48, p.Stack(recording.New, "std::__new_allocator<std::_Rb_tree_node<int> >::allocate(unsigned long, void const*)", "few words.cc:80"))
	p.Golden(Rule)
}
