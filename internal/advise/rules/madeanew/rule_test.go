package madeanew_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/madeanew"
	"mallow/internal/recording"
)

const (
	alloc    = "operator new(unsigned long)"
	create   = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, unsigned long)"
	copied   = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)"
	intoAny  = "void std::any::_Manager_external<Point>::_S_create<Point>(std::any::_Storage&, Point&&)"
	toString = "std::__cxx11::to_string(long)"
	internal = "std::basic_filebuf<char, std::char_traits<char> >::_M_allocate_internal_buffer()"
	open     = "std::basic_filebuf<char, std::char_traits<char> >::open(char const*, std::_Ios_Openmode)"
	thread   = "std::thread::thread<main::{lambda()#1}, , void>(main::{lambda()#1}&&)"
	buffer   = "std::pair<Row*, long> std::get_temporary_buffer<Row>(long)"
)

func TestGolden(t *testing.T) {
	p := ruletest.NewProgram(t)
	p.Soon(1000, 24, p.Stack(recording.New, alloc, intoAny, "draw shape.cc:10"))
	p.Soon(1000, 20, p.Stack(recording.New, alloc, create, toString, "log log.cc:20"))
	p.Soon(900, 8192, p.Stack(recording.New, alloc, internal, open, "load load.cc:30"))
	p.Soon(900, 800, p.Stack(recording.New, alloc, buffer, "rank rank.cc:40"))
	p.Soon(800, 144, p.Stack(recording.Malloc, "__cxa_allocate_exception", "parse parse.cc:50"))
	p.Soon(800, 40, p.Stack(recording.New, alloc, "std::runtime_error::runtime_error(char const*)", "BadWord::BadWord(char const*) word.h:5", "parse parse.cc:50"))
	p.Soon(700, 48, p.Stack(recording.New, alloc, "std::promise<int>::promise()", "ask ask.cc:60"))
	p.Soon(600, 24, p.Stack(recording.New, alloc, thread, "add add.cc:70"))
	// Of those that it looks up, it keeps what is new.
	name := p.Stack(recording.New, alloc, create, toString, "number log.cc:25")
	p.Keep(200, 20, name)
	p.Soon(1000, 20, name)
	p.Golden(madeanew.Rule)
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// What is kept is needed.
	p.Keep(1000, 24, p.Stack(recording.New, alloc, intoAny, "settings shape.cc:10"))
	p.Hold(1000, 20, p.Stack(recording.New, alloc, create, toString, "names log.cc:20"))
	p.Keep(1000, 48, p.Stack(recording.New, alloc, "std::promise<int>::promise()", "ask ask.cc:60"))
	// A variant would need the text of a string as well.
	p.Soon(1000, 40, p.Stack(recording.New, alloc, create, copied, intoAny, "draw shape.cc:12"))
	// The exception's own, which it makes in its own way.
	p.Soon(1000, 40, p.Stack(recording.Malloc, "BadWord::BadWord(char const*) word.h:5", "parse parse.cc:50"))
	// Each goes on while the others do.
	p.Hold(150, 24, p.Stack(recording.New, alloc, thread, "serve serve.cc:70"))
	p.Silent(madeanew.Rule)
}
