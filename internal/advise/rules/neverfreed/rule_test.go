package neverfreed_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/neverfreed"
	"mallow/internal/recording"
)

// A server starts up, serves for ten seconds and is then told to end. Its
// sessions stay, its requests do not.
func server(p *ruletest.Program, leak bool) {
	config := p.Stack(recording.Malloc, "configure config.c:3")
	session := p.Stack(recording.Malloc, "accept server.c:40", "main main.c:9")
	request := p.Stack(recording.Malloc, "handle server.c:70", "main main.c:9")
	p.Process.At(0)
	for range 3000 {
		p.Alloc(config, 50)
	}
	for i := range uint32(10_000) {
		p.Process.At(100 + i)
		p.Free(p.Alloc(request, 100))
		p.Free(p.Alloc(request, 200))
		s := p.Alloc(session, 64)
		if !leak || i%5 == 0 {
			p.Free(s)
		}
	}
}

func TestLeak(t *testing.T) {
	p := ruletest.NewProgram(t)
	server(p, true)
	p.Finds(neverfreed.Rule, "leak")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	server(p, false)
	p.Silent(neverfreed.Rule)
}

// A compiler keeps what it makes and then ends: that is no leak.
func TestBatch(t *testing.T) {
	p := ruletest.NewProgram(t)
	node, scratch := p.Stack(recording.Malloc, "parse parse.c:3"), p.Stack(recording.Malloc, "scan scan.c:3")
	for i := range uint32(5000) {
		p.Process.At(i)
		p.Alloc(node, 64)
		p.Free(p.Alloc(scratch, 64))
	}
	p.Silent(neverfreed.Rule)
}
