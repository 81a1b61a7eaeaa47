package samesize_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/samesize"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// Fifty at a time, each living for a while.
func TestPool(t *testing.T) {
	p := ruletest.NewProgram(t)
	event := p.Stack(recording.Malloc, "post queue.c:12")
	var queue []recordingtest.Block
	for range 2000 {
		queue = append(queue, p.Alloc(event, 48))
		if len(queue) == 50 {
			p.FreeFrom(queue[0], p.By("take queue.c:30"))
			queue = queue[1:]
		}
	}
	p.Finds(samesize.Rule, "pool")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	kept := p.Stack(recording.Malloc, "keep keep.c:1")
	mixed := p.Stack(recording.Malloc, "mix mix.c:1")
	for i := range uint64(1000) {
		p.Alloc(kept, 48)
		p.Free(p.Alloc(mixed, 16+i%100))
	}
	p.Silent(samesize.Rule)
}
