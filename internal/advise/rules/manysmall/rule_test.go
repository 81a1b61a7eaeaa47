package manysmall_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/manysmall"
	"mallow/internal/recording"
)

func TestMany(t *testing.T) {
	p := ruletest.NewProgram(t)
	node := p.Stack(recording.Malloc, "insert tree.c:31")
	for range 5000 {
		p.Alloc(node, 32)
	}
	p.Noise(2000)
	p.Finds(manysmall.Rule, "many")
}

// An object with a text, made on one line: the text lies where its string wants.
func TestWithText(t *testing.T) {
	p := ruletest.NewProgram(t)
	item := p.Stack(recording.New, "operator new(unsigned long)", "add list.cc:12")
	text := p.Stack(recording.New, "operator new(unsigned long)", "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)", "add list.cc:12")
	for range 5000 {
		p.Alloc(item, 40)
		p.Alloc(text, 38)
	}
	p.Noise(2000)
	p.Finds(manysmall.Rule, "with-text")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	short := p.Stack(recording.Malloc, "f f.c:1")
	large := p.Stack(recording.Malloc, "g g.c:1")
	container := p.Stack(recording.New, "operator new(unsigned long)", "std::map<int, int>::operator[](int&&)", "h h.cc:1")
	for range 5000 {
		p.Free(p.Alloc(short, 32))
		p.Alloc(large, 200)
		p.Alloc(container, 48)
	}
	p.Silent(manysmall.Rule)
}
