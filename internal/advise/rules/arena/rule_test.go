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

// A tree of which one node in seven was dropped while it was built: an arena keeps
// a seventh more, and the line takes part.
func TestSomeDropped(t *testing.T) {
	p := ruletest.NewProgram(t)
	node, text := p.Stack(recording.Malloc, "node_new tree.c:31"), p.Stack(recording.Malloc, "text_new tree.c:42")
	var all []recordingtest.Block
	for i := range 7000 {
		n, of := p.Alloc(node, 112), p.Alloc(text, 20)
		if i%7 == 0 {
			p.FreeFrom(of, p.By("tree_free tree.c:51"))
			p.FreeFrom(n, p.By("tree_free tree.c:50"))
			continue
		}
		all = append(all, n, of)
	}
	for _, b := range all {
		p.FreeFrom(b, p.By("tree_free tree.c:50"))
	}
	p.Finds(arena.Rule, "some_dropped")
}

func TestRust(t *testing.T) {
	p := ruletest.NewProgram(t)
	record := p.Stack(recording.Malloc, "alloc::alloc::alloc", "alloc::boxed::Box<T>::new", "csv::Record::new csv.rs:140")
	var all []recordingtest.Block
	for range 12_000 {
		all = append(all, p.Alloc(record, 88))
	}
	for _, b := range all {
		p.FreeFrom(b, p.By("drop csv.rs:150"))
	}
	p.Noise(1000)
	p.Finds(arena.Rule, "rust")
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

// A collector drops three of five objects with their texts while the program goes
// on: in an arena they would stay.
func TestCollected(t *testing.T) {
	p := ruletest.NewProgram(t)
	object, text := p.Stack(recording.Malloc, "object_new gc.c:20"), p.Stack(recording.Malloc, "text_new gc.c:30")
	var live []recordingtest.Block
	for i := range uint32(4) {
		p.Process.At(10 * i)
		var dropped []recordingtest.Block
		for k := range 2500 {
			into := &live
			if k%5 < 3 {
				into = &dropped
			}
			*into = append(*into, p.Alloc(object, 56), p.Alloc(text, 40))
		}
		for _, b := range dropped {
			p.FreeFrom(b, p.By("collect gc.c:90"))
		}
	}
	p.Process.At(50)
	for _, b := range live {
		p.FreeFrom(b, p.By("collect gc.c:90"))
	}
	p.Process.At(60)
	p.Silent(arena.Rule)
}

// Each request is parsed into four kinds of blocks, two of one of them, which
// others release.
func TestRounds(t *testing.T) {
	p := ruletest.NewProgram(t)
	parser := p.Stack(recording.Malloc, "parser_new parse.c:10", "prepare parse.c:100", "serve server.c:5")
	list := p.Stack(recording.Malloc, "list_new tree.c:20", "parse parse.c:50", "prepare parse.c:101", "serve server.c:5")
	item := p.Stack(recording.Malloc, "item_new tree.c:30", "parse parse.c:51", "prepare parse.c:101", "serve server.c:5")
	program := p.Stack(recording.Malloc, "program_new code.c:7", "prepare parse.c:102", "serve server.c:5")
	for range 3000 {
		a, b, c, d, e := p.Alloc(parser, 400), p.Alloc(list, 40), p.Alloc(item, 72), p.Alloc(item, 72), p.Alloc(program, 300)
		for _, block := range []recordingtest.Block{c, d, b, a} {
			p.FreeFrom(block, p.By("release mem.c:9"))
		}
		p.FreeFrom(e, p.By("release mem.c:9"))
	}
	p.Noise(1000)
	p.Finds(arena.Rule, "rounds")
}

// An evaluator calls itself at two lines: the rounds are below the function, and
// below no one of its lines.
func TestRoundsOfSeveralLines(t *testing.T) {
	p := ruletest.NewProgram(t)
	number := p.Stack(recording.Malloc, "number_new value.c:10", "eval eval.c:70", "serve server.c:5")
	text := p.Stack(recording.Malloc, "text_new value.c:20", "eval eval.c:80", "serve server.c:5")
	list := p.Stack(recording.Malloc, "list_new value.c:30", "eval eval.c:90", "serve server.c:5")
	item := p.Stack(recording.Malloc, "item_new value.c:40", "eval eval.c:90", "serve server.c:5")
	for range 3000 {
		for _, b := range []recordingtest.Block{p.Alloc(number, 72), p.Alloc(text, 30), p.Alloc(list, 16), p.Alloc(item, 24)} {
			p.FreeFrom(b, p.By("release mem.c:9"))
		}
	}
	p.Noise(1000)
	p.Finds(arena.Rule, "rounds_of_several_lines")
}

// Blocks that are made as often, but below functions that have nothing in
// common but main, at different times.
func TestNoRounds(t *testing.T) {
	p := ruletest.NewProgram(t)
	for _, function := range []string{"a a.c:1", "b b.c:1", "c c.c:1", "d d.c:1", "e e.c:1"} {
		s := p.Stack(recording.Malloc, function)
		for range 1000 {
			p.FreeFrom(p.Alloc(s, 100), p.By("release mem.c:9"))
		}
	}
	p.Silent(arena.Rule)
}
