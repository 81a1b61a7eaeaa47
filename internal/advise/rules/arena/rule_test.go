package arena_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/arena"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// Twenty documents are read into a tree, and dropped as a whole.
func TestWaves(t *testing.T) {
	p := ruletest.NewProgram(t)
	value := p.Stack(recording.New, "operator new(unsigned long)", "read json.cc:98")
	text := p.Stack(recording.Malloc, "read json.cc:120")
	for document := range uint32(20) {
		p.Process.At(document * 10)
		var tree []recordingtest.Block
		for i := range uint64(500) {
			tree = append(tree, p.Alloc(value, 96), p.Alloc(text, 10+i%30))
		}
		for _, b := range tree {
			p.FreeFrom(b, p.By("Value::~Value() json.cc:87"))
		}
	}
	p.Finds(arena.Rule, "waves")
}

// Released in a long row at the end.
func TestRows(t *testing.T) {
	p := ruletest.NewProgram(t)
	node := p.Stack(recording.Malloc, "insert tree.c:31")
	var all []recordingtest.Block
	for range 12_000 {
		all = append(all, p.Alloc(node, 40))
	}
	for _, b := range all {
		p.FreeFrom(b, p.By("tree_free tree.c:50"))
	}
	p.Noise(1000)
	p.Finds(arena.Rule, "rows")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// A queue: as many come as go, all the time.
	event, note := p.Stack(recording.Malloc, "post queue.c:12"), p.Stack(recording.Malloc, "post queue.c:13")
	var queue []recordingtest.Block
	for i := range uint32(3000) {
		p.Process.At(i)
		queue = append(queue, p.Alloc(event, 48), p.Alloc(note, 30))
		if len(queue) >= 100 {
			p.Free(queue[0])
			p.Free(queue[1])
			queue = queue[2:]
		}
	}
	p.Silent(arena.Rule)
}
