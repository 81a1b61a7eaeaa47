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
