package coroutine_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/coroutine"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

const alloc = "operator new(unsigned long)"

// The three ways in which a frame is released: by the function that destroys the
// coroutine, by the same where its line is known, and by a handle that calls it last.
func TestGolden(t *testing.T) {
	p := ruletest.NewProgram(t)
	leaf := p.Stack(recording.New, alloc, "leaf(int)")
	fire := p.Stack(recording.New, alloc, "fire(long&) fire.cc:9")
	count := p.Stack(recording.New, alloc, "count(int) count.cc:12")
	for range 500 {
		p.FreeFrom(p.Alloc(leaf, 56), p.By("leaf(leaf(int)::_Z4leafi.Frame*)"))
		p.FreeFrom(p.Alloc(fire, 48), p.By("fire fire.cc:9"))
		p.FreeFrom(p.Alloc(count, 64), p.By("std::__n4861::coroutine_handle<Generator::promise_type>::destroy() const", "Generator::~Generator() count.cc:5"))
	}
	p.Golden(coroutine.Rule)
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// What the body makes, and what another function of that name releases.
	body := p.Stack(recording.New, alloc, "leaf(leaf(int)::_Z4leafi.Frame*) leaf.cc:3")
	overload := p.Stack(recording.New, alloc, "drop(int) drop.cc:3")
	for range 500 {
		p.FreeFrom(p.Alloc(body, 40), p.By("leaf(leaf(int)::_Z4leafi.Frame*) leaf.cc:4"))
		p.FreeFrom(p.Alloc(overload, 40), p.By("drop drop.cc:9"))
	}
	// All at once.
	kept := p.Stack(recording.New, alloc, "keep(int)")
	var all []recordingtest.Block
	for range 500 {
		all = append(all, p.Alloc(kept, 56))
	}
	for _, b := range all {
		p.FreeFrom(b, p.By("keep(keep(int)::_Z4keepi.Frame*)"))
	}
	p.Silent(coroutine.Rule)
}
