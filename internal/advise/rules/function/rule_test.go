package function

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	p := ruletest.NewProgram(t)
	p.Soon(2000, 24, p.Stack(recording.New,
		"std::_Function_base::_Base_manager<visit(int)::<lambda(int)> >::_M_create<visit(int)::<lambda(int)> >",
		"std::function<int(int)>::function<visit(int)::<lambda(int)> >", "visit tree.cc:26"))
	kept := p.Stack(recording.New,
		"std::_Function_handler<void (), connect::{lambda()#1}>::_M_manager(std::_Any_data&, std::_Any_data const&, std::_Manager_operation)",
		"std::vector<std::function<void ()>, std::allocator<std::function<void ()> > >::push_back(std::function<void ()> const&)", "connect signal.cc:8")
	p.Keep(300, 32, kept)
	p.Keep(300, 48, kept)
	// One that holds a std::shared_ptr has no room, however small it is.
	const manager = "std::_Function_base::_Base_manager<share(int)::<lambda(int)> >::_M_create<share(int)::<lambda(int)> >"
	p.Soon(1000, 16, p.Stack(recording.New, manager, "std::function<int(int)>::function<share(int)::<lambda(int)> >", "share tree.cc:36"))
	// The text that a callable holds needs room wherever it is.
	p.Soon(1000, 40, p.Stack(recording.New, "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
		manager, "std::function<int(int)>::function<share(int)::<lambda(int)> >", "share tree.cc:37"))
	// What a callable allocates itself is its own affair.
	p.Soon(2000, 100, p.Stack(recording.Malloc, "work tree.cc:40",
		"std::_Function_handler<int (int), visit::{lambda(int)#1}>::_M_invoke(std::_Any_data const&, int&&)", "visit tree.cc:27"))
	p.Golden(Rule)
}
