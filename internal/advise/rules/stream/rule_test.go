package stream

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	const text = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	const buffer = "std::__cxx11::basic_stringbuf<char, std::char_traits<char>, std::allocator<char> >"
	p := ruletest.NewProgram(t)
	line := "format log.cc:37"
	p.Soon(2000, 513, p.Stack(recording.New, text+"::reserve(unsigned long)", buffer+"::overflow(int)",
		"std::basic_streambuf<char, std::char_traits<char> >::xsputn(char const*, long)", line))
	p.Soon(2000, 36, p.Stack(recording.New, text+"::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)",
		buffer+"::str() const", "std::__cxx11::basic_ostringstream<char, std::char_traits<char>, std::allocator<char> >::str() const", line))
	p.Soon(2000, 41, p.Stack(recording.New, text+"::_M_construct<char const*>(char const*, char const*, std::forward_iterator_tag)",
		"std::__cxx11::basic_istringstream<char, std::char_traits<char>, std::allocator<char> >::basic_istringstream("+text+" const&, std::_Ios_Openmode)",
		"parse log.cc:38"))
	// One that is kept, and one that writes to a file.
	p.Keep(500, 513, p.Stack(recording.New, text+"::reserve(unsigned long)", buffer+"::overflow(int)", "collect log.cc:50"))
	p.Soon(500, 8191, p.Stack(recording.New, "std::basic_filebuf<char, std::char_traits<char> >::_M_allocate_internal_buffer()", "dump log.cc:60"))
	p.Golden(Rule)
}
