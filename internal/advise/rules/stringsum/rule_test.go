package stringsum_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/stringsum"
	"mallow/internal/recording"
)

const (
	text   = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	sum    = text + " std::operator+<char, std::char_traits<char>, std::allocator<char> >(" + text + " const&, " + text + " const&)"
	longer = text + " std::operator+<char, std::char_traits<char>, std::allocator<char> >(" + text + "&&, char const*)"
	grows  = text + "::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)"
	create = text + "::_M_create(unsigned long&, unsigned long)"
)

// r = r + x + ", ": the sum of two is outgrown by the comma, and the whole
// replaces r.
func TestLoop(t *testing.T) {
	p := ruletest.NewProgram(t)
	two := p.Stack(recording.New, "operator new(unsigned long)", create, sum, "join join.cc:37")
	three := p.Stack(recording.New, "operator new(unsigned long)", grows, longer, "join join.cc:37")
	for range 1000 {
		r := p.Alloc(p.Stack(recording.New, "operator new(unsigned long)", "join join.cc:30"), 31)
		for length := uint64(40); length < 400; length += 40 {
			b := p.Alloc(two, length)
			whole := p.Alloc(three, 2*length)
			p.FreeFrom(b, p.By(grows))
			p.FreeFrom(r, p.By("join join.cc:37"))
			r = whole
		}
		p.FreeFrom(r, p.By("main join.cc:90"))
	}
	p.Finds(stringsum.Rule, "loop")
}

// "name " + number + " of " + name: each result of + is outgrown but the last.
func TestPieces(t *testing.T) {
	p := ruletest.NewProgram(t)
	first := p.Stack(recording.New, "operator new(unsigned long)", grows, longer, "line log.cc:19")
	last := p.Stack(recording.New, "operator new(unsigned long)", grows, longer, "line log.cc:20")
	for i := range uint64(1000) {
		b := p.Alloc(first, 31)
		whole := p.Alloc(last, 61+i%300)
		p.FreeFrom(b, p.By(grows))
		p.FreeFrom(whole, p.By("main log.cc:90"))
	}
	p.Finds(stringsum.Rule, "pieces")
}

// One + whose result is used as it is takes what it needs.
func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	two := p.Stack(recording.New, "operator new(unsigned long)", create, sum, "path path.cc:7")
	for i := range uint64(1000) {
		p.FreeFrom(p.Alloc(two, 40+i%100), p.By("path path.cc:7"))
	}
	p.Silent(stringsum.Rule)
}
