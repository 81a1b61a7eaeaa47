package rounding_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/rounding"
	"mallow/internal/recording"
)

// With a header of 16 bytes a power of two becomes a power of two and much
// that nobody uses.
func TestHeader(t *testing.T) {
	p := ruletest.NewProgram(t)
	p.Process.Granule = 1024
	node := p.Stack(recording.Malloc, "page_new page.c:9")
	for range 200 {
		p.Alloc(node, 2064)
	}
	p.Finds(rounding.Rule, "header")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	p.Process.Granule = 256
	a, b := p.Stack(recording.Malloc, "f f.c:1"), p.Stack(recording.Malloc, "g g.c:1")
	for range 200 {
		p.Alloc(a, 2064)
		p.Free(p.Alloc(b, 300))
	}
	p.Silent(rounding.Rule)
}
