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

// Lines of libraries of expressions are sites, and who has them compile is further out.
func TestLibraries(t *testing.T) {
	const re2 = "re2::RE2::RE2(re2::StringPiece const&) re2.cc:118"
	const new = "regex::regex::string::Regex::new string.rs:180"
	p := ruletest.NewProgram(t)
	// Two lines within a library, and a container that one of them fills.
	p.Hold(2000, 64, p.Stack(recording.New, "re2::Prog::Flatten() prog.cc:566", "re2::RE2::Init(re2::StringPiece const&) re2.cc:200", re2, "has_tag(char const*) tags.cc:6"))
	p.Hold(1000, 40, p.Stack(recording.New, "std::vector<int, std::allocator<int> >::push_back(int const&)", "re2::Regexp::Parse() parse.cc:20", re2, "has_tag(char const*) tags.cc:6"))
	p.Hold(900, 640, p.Stack(recording.Malloc, "<regex_automata::meta::strategy::Core as regex_automata::meta::strategy::Strategy>::create_cache strategy.rs:50",
		"regex_syntax::parser::Parser::parse parser.rs:30", new, "rsp::is_red main.rs:9"))
	p.Hold(800, 640, p.Stack(recording.Malloc, "regex_syntax::parser::Parser::parse parser.rs:30",
		"<regex::regex::string::Regex as core::str::traits::FromStr>::from_str string.rs:99", "rsp::is_blue main.rs:19"))
	p.Hold(700, 640, p.Stack(recording.New, "boost::re_detail_500::basic_regex_creator<char>::append_state() creator.hpp:30",
		"boost::basic_regex<char, boost::regex_traits<char> >::assign(char const*) basic_regex.hpp:50", "word word.cc:3"))
	// To match takes memory too, and an expression that is compiled once many blocks.
	p.Hold(2000, 64, p.Stack(recording.New, "re2::DFA::CachedState() dfa.cc:762", "re2::RE2::DoMatch() re2.cc:700", "has_tag(char const*) tags.cc:6"))
	for i := range 300 {
		p.Hold(1+i%5, 64, p.Stack(recording.New, fmt.Sprintf("re2::Compiler::Copy%d() compile.cc:7", i), re2, "setup tags.cc:1"))
	}
	p.Keep(900, 64, p.Stack(recording.New, "re2::Prog::Flatten() prog.cc:566", re2, "keep tags.cc:8"))
	p.Finds(Rule, "libraries")
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
