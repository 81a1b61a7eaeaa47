package empty_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/empty"
	"mallow/internal/recording"
)

func TestEmpty(t *testing.T) {
	p := ruletest.NewProgram(t)
	comment := p.Stack(recording.Strdup, "strdup", "record rec.c:14")
	for i := range 1000 {
		size := uint64(1)
		if i%5 == 0 {
			size = 12
		}
		p.Alloc(comment, size)
	}
	p.Finds(empty.Rule, "strdup")
}

// The text of a number is a single character, and has no terminator.
func TestCharacter(t *testing.T) {
	p := ruletest.NewProgram(t)
	text := p.Stack(recording.NewArray, "operator new[](unsigned long)", "temp_iterator::temp_iterator(char const*, int) input.cc:3599")
	for range 1000 {
		p.Free(p.Alloc(text, 1))
	}
	p.Finds(empty.Rule, "character")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.Strdup, "strdup", "record rec.c:14")
	for i := range uint64(1000) {
		p.Alloc(name, 1+i%3)
	}
	// Objects of one byte are no texts: of a class without members, and an error
	// in a Box.
	strategy := p.Stack(recording.New, "operator new(unsigned long)", "choose shop.cc:9")
	failure := p.Stack(recording.Malloc, "alloc::alloc::alloc", "alloc::boxed::Box<T>::new", "shop::parse src/main.rs:12")
	merged := p.Stack(recording.Malloc, "shop::choose src/main.rs:20")
	for range 1000 {
		p.Alloc(strategy, 1)
		p.Alloc(failure, 1)
		p.Alloc(merged, 1)
	}
	p.Silent(empty.Rule)
}
