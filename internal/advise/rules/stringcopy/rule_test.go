package stringcopy

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

const (
	text    = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	copied  = text + "::basic_string(" + text + " const&)"
	literal = text + "::basic_string<std::allocator<char> >(char const*, std::allocator<char> const&)"
	viewed  = text + "::basic_string(char const*, unsigned long, std::allocator<char> const&)"
	view    = text + "::basic_string<std::basic_string_view<char, std::char_traits<char> >, void>(std::basic_string_view<char, std::char_traits<char> > const&, std::allocator<char> const&)"
	joined  = text + " std::operator+<char, std::char_traits<char>, std::allocator<char> >(" + text + " const&, char const*)"
)

func TestGolden(t *testing.T) {
	p := ruletest.NewProgram(t)
	p.Soon(2000, 37, p.Stack(recording.New, copied, "log_line log.cc:28"))
	p.Soon(1000, 37, p.Stack(recording.New, literal, "log_line log.cc:29"))
	p.Soon(3000, 31, p.Stack(recording.New, text+"::basic_string("+text+" const&, unsigned long, unsigned long)",
		text+"::substr(unsigned long, unsigned long) const", "fields log.cc:32"))
	p.Soon(1500, 31, p.Stack(recording.New, viewed, view, "field log.cc:35"))
	// Who keeps a copy needs it.
	p.Keep(2000, 37, p.Stack(recording.New, copied, "remember log.cc:40"))
	p.Keep(2000, 37, p.Stack(recording.New, literal, "remember log.cc:41"))
	// Of those that it looks up, it keeps what is new.
	word := p.Stack(recording.New, literal, "count log.cc:45")
	p.Keep(300, 40, word)
	p.Soon(1700, 40, word)
	// + copies its first string; a growing one is no copy.
	p.Soon(2000, 23, p.Stack(recording.New, copied, joined, "path log.cc:50"))
	p.Soon(2000, 61, p.Stack(recording.New, text+"::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)", text+"::push_back(char)", "append log.cc:60"))
	p.Golden(Rule)
}

// A copy that is appended to is outgrown at once: a view of the first text
// would not help.
func TestOutgrown(t *testing.T) {
	const mutate = text + "::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)"
	p := ruletest.NewProgram(t)
	first := p.Stack(recording.New, copied, "concat log.cc:5")
	whole := p.Stack(recording.New, mutate, text+"::append(char const*)", "concat log.cc:6")
	for i := range uint64(2000) {
		b := p.Alloc(first, 61)
		both := p.Alloc(whole, 121+i%200)
		p.FreeFrom(b, p.By(mutate))
		p.FreeFrom(both, p.By("main log.cc:24"))
	}
	p.Finds(Rule, "outgrown")
}

// Who returns a string does not have it any more: where the characters were its own, as in a buffer on the stack, a view
// would outlive them.
func TestReturned(t *testing.T) {
	p := ruletest.NewProgram(t)
	formatted := p.Stack(recording.New, viewed, "fmt::format(int) format.h:40", "line report.cc:8", "report report.cc:20")
	named := p.Stack(recording.New, copied, "Item::name() const item.h:5", "report report.cc:21")
	for range 2000 {
		for _, stack := range []recordingtest.Stack{formatted, named} {
			p.FreeFrom(p.Alloc(stack, 61), p.By("report report.cc:20"))
		}
	}
	p.Finds(Rule, "returned")
}

// What an object has of a string goes with the object, wherever that goes.
func TestInObject(t *testing.T) {
	p := ruletest.NewProgram(t)
	label := p.Stack(recording.New, copied, "Label::Label("+text+" const&) label.h:5", "report report.cc:20")
	item := p.Stack(recording.New, copied, "item("+text+" const&) item.cc:9", "report report.cc:21")
	for range 2000 {
		p.FreeFrom(p.Alloc(label, 61), p.By("report report.cc:20"))
		p.FreeFrom(p.Alloc(item, 61), p.By("Item::~Item() item.h:3"))
	}
	p.Finds(Rule, "in_object")
}
