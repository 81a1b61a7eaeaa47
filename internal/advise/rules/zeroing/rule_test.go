package zeroing_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/zeroing"
	"mallow/internal/recording"
)

func TestLarge(t *testing.T) {
	p := ruletest.NewProgram(t)
	frame := p.Stack(recording.Calloc, "frame_new video.c:5")
	for range 300 {
		p.Free(p.Alloc(frame, 1_000_000))
	}
	p.Finds(zeroing.Rule, "large")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	small := p.Stack(recording.Calloc, "node node.c:5")
	kept := p.Stack(recording.Calloc, "table table.c:5")
	plain := p.Stack(recording.Malloc, "frame frame.c:5")
	for range 300 {
		p.Free(p.Alloc(small, 64))
		p.Alloc(kept, 100_000)
		p.Free(p.Alloc(plain, 100_000))
	}
	p.Silent(zeroing.Rule)
}
