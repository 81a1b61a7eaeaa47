package growth_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/growth"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// 100 buffers, each of 10 equal steps.
func TestRealloc(t *testing.T) {
	p := ruletest.NewProgram(t)
	append_ := p.Stack(recording.Realloc, "append poll.c:117")
	for range 100 {
		b := p.Alloc(append_, 50)
		for size := uint64(100); size <= 500; size += 50 {
			b = p.Realloc(b, append_, size)
		}
		p.FreeFrom(b, p.By("done poll.c:130"))
	}
	p.Finds(growth.Rule, "realloc")
}

// 50 vectors of 100 elements of 8 bytes.
func TestVector(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", "void std::vector<Item*>::_M_realloc_insert<Item*>(Item**, Item*&&)", "collect list.cc:20")
	for range 50 {
		var old recordingtest.Block
		for size := uint64(8); size <= 1024; size *= 2 {
			b := p.Alloc(grow, size)
			if size > 8 {
				p.Free(old)
			}
			old = b
		}
		p.Free(old)
	}
	p.Finds(growth.Rule, "vector")
}

// Vectors of 16 elements, and a few of 2048: none knows beforehand what it will be.
func TestWidely(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", "void std::vector<Item*>::_M_realloc_insert<Item*>(Item**, Item*&&)", "collect list.cc:20")
	for i := range 200 {
		most := uint64(128)
		if i%100 == 0 {
			most = 16384
		}
		var old recordingtest.Block
		for size := uint64(8); size <= most; size *= 2 {
			b := p.Alloc(grow, size)
			if size > 8 {
				p.Free(old)
			}
			old = b
		}
		p.Free(old)
	}
	p.Finds(growth.Rule, "widely")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// One step each, and shrinking to fit.
	once := p.Stack(recording.Realloc, "fit fit.c:1")
	first := p.Stack(recording.Malloc, "fit fit.c:2")
	for range 500 {
		p.Free(p.Realloc(p.Alloc(first, 16), once, 64))
		p.Free(p.Realloc(p.Alloc(first, 256), once, 40))
	}
	// A vector with its size known.
	sized := p.Stack(recording.New, "operator new(unsigned long)", "std::vector<int>::reserve(unsigned long)", "sized list.cc:20")
	for i := range uint64(500) {
		p.Free(p.Alloc(sized, 64+i%100))
	}
	p.Silent(growth.Rule)
}
