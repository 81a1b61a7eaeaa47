package regex

import (
	"fmt"
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	const compiler = "std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_Compiler(char const*, char const*, std::locale const&, std::regex_constants::syntax_option_type)"
	const expression = "std::__cxx11::basic_regex<char, std::__cxx11::regex_traits<char> >::"
	p := ruletest.NewProgram(t)
	p.Hold(2000, 64, p.Stack(recording.New, compiler,
		expression+"_M_compile(char const*, char const*, std::regex_constants::syntax_option_type)",
		expression+"basic_regex(char const*, std::regex_constants::syntax_option_type)", "matches filter.cc:39"))
	// One that compiles what it is given, and an object that has one.
	given := []string{compiler, expression + "basic_regex(char const*, std::regex_constants::syntax_option_type)", "make(char const*) make.cc:5"}
	p.Hold(1000, 64, p.Stack(recording.New, append(given, "number make.cc:20")...))
	p.Hold(1000, 64, p.Stack(recording.New, append(given, "word make.cc:30")...))
	p.Hold(1000, 64, p.Stack(recording.New, compiler, expression+"basic_regex(char const*, std::regex_constants::syntax_option_type)", "Filter::Filter() filter.h:7", "filter filter.cc:50"))
	// Matching, and an expression that is kept.
	p.Soon(2000, 96, p.Stack(recording.New,
		"bool std::__detail::__regex_algo_impl<char const*, std::allocator<std::__cxx11::sub_match<char const*> >, char, std::__cxx11::regex_traits<char> >(char const*)",
		"filter filter.cc:40"))
	p.Keep(200, 64, p.Stack(recording.New, compiler, expression+"basic_regex(char const*, std::regex_constants::syntax_option_type)", "setup filter.cc:10"))
	p.Golden(Rule)
}

// A static expression is compiled once, by many stacks, and released when the
// program ends.
func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	for i := range 20 {
		p.Hold(1+100*(i%2)*(i%3), 64, p.Stack(recording.New, fmt.Sprintf("std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_%d()", i), "words words.cc:3"))
	}
	p.Silent(Rule)
}
