package containercopy_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/containercopy"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

const (
	tree   = "std::map<int, Row, std::less<int>, std::allocator<std::pair<int const, Row> > >"
	copied = tree + "::map(" + tree + " const&)"
	vector = "std::vector<int, std::allocator<int> >"
	pushed = "void std::allocator_traits<std::allocator<" + vector + " > >::construct<" + vector + ">(" + vector + "*)"
)

// A map of 60 nodes is passed by value. One that is a member of a structure is
// copied with it, which is another rule's.
func TestByValue(t *testing.T) {
	p := ruletest.NewProgram(t)
	node := p.Stack(recording.New, "operator new(unsigned long)", "std::__new_allocator<std::_Rb_tree_node<int> >::allocate(unsigned long, void const*)",
		copied, "run run.cc:40")
	member := p.Stack(recording.New, "operator new(unsigned long)", copied, "Config::Config(Config const&) config.cc:3", "run run.cc:50")
	for range 200 {
		var nodes []recordingtest.Block
		for range 60 {
			nodes = append(nodes, p.Alloc(node, 96), p.Alloc(member, 96))
		}
		for _, b := range nodes {
			p.FreeFrom(b, p.By("std::_Rb_tree<int>::_M_erase(std::_Rb_tree_node<int>*)"))
		}
	}
	p.Finds(containercopy.Rule, "by_value")
}

// A loop over a map copies its elements, and so their strings.
func TestPairs(t *testing.T) {
	const (
		text    = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
		element = "std::pair<" + text + " const, " + text + " >"
		create  = text + "::basic_string(" + text + " const&)"
	)
	p := ruletest.NewProgram(t)
	loop := p.Stack(recording.New, "operator new(unsigned long)", create, element+"::pair("+element+" const&)", "list config.cc:12")
	// An element that is made of one of them needs it.
	insert := p.Stack(recording.New, "operator new(unsigned long)", create, element+"::pair("+element+" const&)",
		"std::map<"+text+", "+text+" >::insert("+element+" const&)", "merge config.cc:20")
	p.Soon(4000, 30, loop)
	p.Soon(4000, 30, insert)
	p.Finds(containercopy.Rule, "pairs")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// Copies that are kept.
	kept := p.Stack(recording.New, "operator new(unsigned long)", vector+"::vector("+vector+" const&)", "remember keep.cc:10")
	p.Keep(2000, 64, kept)
	// A vector of vectors copies the one that is pushed back: it needs one.
	element := p.Stack(recording.New, "operator new(unsigned long)", vector+"::vector("+vector+" const&)", pushed,
		"std::vector<"+vector+" >::push_back("+vector+" const&)", "rows rows.cc:20")
	p.Soon(2000, 64, element)
	// No copies.
	moved := p.Stack(recording.New, "operator new(unsigned long)", vector+"::vector(unsigned long, std::allocator<int> const&)", "room rows.cc:30")
	p.Soon(2000, 64, moved)
	p.Silent(containercopy.Rule)
}
