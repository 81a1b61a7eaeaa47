package rustcollect

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	const from = "<alloc::vec::Vec<T> as alloc::vec::spec_from_iter_nested::SpecFromIterNested<T,I>>::from_iter"
	const collect = "core::iter::traits::iterator::Iterator::collect"
	p := ruletest.NewProgram(t)
	first := p.Stack(recording.Malloc, "alloc::vec::Vec<T>::with_capacity", from, collect, "words::split words.rs:14")
	again := p.Stack(recording.Realloc, "alloc::raw_vec::RawVecInner<A>::finish_grow", from, collect, "words::split words.rs:14")
	for range 500 {
		p.Grow(64, first, again, 3)
	}
	// One of known length is allocated once.
	p.Soon(2000, 160, p.Stack(recording.Malloc, "alloc::vec::Vec<T>::with_capacity", from, collect, "words::lengths words.rs:20"))
	p.Golden(Rule)
}
