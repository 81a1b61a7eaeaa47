package freenull_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/freenull"
	"mallow/internal/recording"
)

func TestLoop(t *testing.T) {
	p := ruletest.NewProgram(t)
	null := p.Stack(recording.FreeNull, "clear slot.c:30")
	rare := p.Stack(recording.FreeNull, "close slot.c:40")
	for range 150_000 {
		p.FreeNull(null)
	}
	for range 20 {
		p.FreeNull(rare)
	}
	p.Noise(3000)
	p.Finds(freenull.Rule, "loop")
}
