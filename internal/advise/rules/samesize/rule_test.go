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

// In bursts of two hundred, with other work in between: on average there are fewer.
func TestBursts(t *testing.T) {
	for name, room := range map[string]uint64{"bursts": 16_000, "bursts-unseen": 1 << 20} {
		p := ruletest.NewProgram(t)
		p.Soon(1, room, p.Stack(recording.Malloc, "main main.c:3"))
		event := p.Stack(recording.Malloc, "post queue.c:12")
		for range 20 {
			p.Hold(200, 48, event)
			p.Noise(500)
		}
		p.Finds(samesize.Rule, name)
	}
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
