package regex

import (
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
	// Matching, and an expression that is kept.
	p.Soon(2000, 96, p.Stack(recording.New,
		"bool std::__detail::__regex_algo_impl<char const*, std::allocator<std::__cxx11::sub_match<char const*> >, char, std::__cxx11::regex_traits<char> >(char const*)",
		"filter filter.cc:40"))
	p.Keep(200, 64, p.Stack(recording.New, compiler, expression+"basic_regex(char const*, std::regex_constants::syntax_option_type)", "setup filter.cc:10"))
	p.Golden(Rule)
}
