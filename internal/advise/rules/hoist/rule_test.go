package hoist_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/hoist"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// rounds makes a block and a node in each of 500 rounds, and releases the block.
func rounds(p *ruletest.Program, block, node recordingtest.Stack, size func(i uint64) uint64, releaser string) {
	for i := range uint64(500) {
		b := p.Alloc(block, size(i))
		p.Alloc(node, 24)
		p.FreeFrom(b, p.By(releaser))
	}
}

func always(size uint64) func(uint64) uint64 { return func(uint64) uint64 { return size } }

// Each round makes a node and a scratch buffer, which its function releases.
func TestVariable(t *testing.T) {
	p := ruletest.NewProgram(t)
	scratch := p.Stack(recording.Malloc, "resolve dns.c:40")
	node := p.Stack(recording.Malloc, "resolve dns.c:50")
	rounds(p, scratch, node, func(i uint64) uint64 { return 100 + i%50 }, "resolve dns.c:60")
	p.Finds(hoist.Rule, "variable")
}

// One helper makes lines for a loop that goes on with each for a while, and for one
// that drops them at once: of all together it is not so that each is gone before the
// next one comes.
func TestCallerOfHelper(t *testing.T) {
	p := ruletest.NewProgram(t)
	line := p.Stack(recording.Malloc, "text text.c:10", "next source.c:20", "assemble main.c:30")
	listed := p.Stack(recording.Malloc, "text text.c:10", "list source.c:40", "assemble main.c:30")
	token := p.Stack(recording.Malloc, "scan scan.c:50", "assemble main.c:31")
	for i := range uint64(500) {
		b := p.Alloc(line, 20+i%50)
		for range 12 {
			p.Free(p.Alloc(token, 16))
		}
		p.FreeFrom(b, p.By("assemble main.c:35"))
		if i%10 != 0 {
			p.FreeFrom(p.Alloc(listed, 20+i%50), p.By("list source.c:41"))
		}
	}
	p.Finds(hoist.Rule, "caller_of_helper")
}

// Of most of a helper's blocks it is not so: what is done about these is done about
// all.
func TestFewCallersOfHelper(t *testing.T) {
	p := ruletest.NewProgram(t)
	value := p.Stack(recording.Malloc, "value value.c:10", "sum eval.c:20", "evaluate eval.c:30")
	other := p.Stack(recording.Malloc, "value value.c:10", "name eval.c:40", "evaluate eval.c:31")
	for range 500 {
		row := []recordingtest.Block{p.Alloc(value, 128)}
		for range 4 {
			row = append(row, p.Alloc(other, 128))
		}
		for _, b := range row {
			p.FreeFrom(b, p.By("evaluate eval.c:50"))
		}
	}
	p.Finds(hoist.Rule, "few_callers_of_helper")
}

// A function lets another one make what takes the place of the last one, which it has
// released: no variable of its own is there for as long.
func TestReplacedByHelper(t *testing.T) {
	p := ruletest.NewProgram(t)
	state := p.Stack(recording.Malloc, "state_new state.c:12", "reset parser.c:41")
	token := p.Stack(recording.Malloc, "scan scan.c:50", "parse parser.c:60")
	last := p.Alloc(state, 64)
	for range 500 {
		p.Free(p.Alloc(token, 16))
		p.FreeFrom(last, p.By("reset parser.c:40"))
		last = p.Alloc(state, 64)
	}
	p.Finds(hoist.Rule, "replaced_by_helper")
}

// Texts that are equally long in this run: a variable of that size has no room for the next one.
func TestTexts(t *testing.T) {
	p := ruletest.NewProgram(t)
	text := p.Stack(recording.Malloc, "comment parser.c:58")
	node := p.Stack(recording.Malloc, "comment parser.c:65")
	rounds(p, text, node, always(5), "comment parser.c:70")
	p.Finds(hoist.Rule, "texts")
}

// A helper makes it and another one releases it: too large to be made anew.
func TestKeep(t *testing.T) {
	p := ruletest.NewProgram(t)
	state := p.Stack(recording.Malloc, "inflate_init zip.c:7")
	node := p.Stack(recording.Malloc, "unpack pack.c:50")
	rounds(p, state, node, always(7160), "inflate_end zip.c:19")
	p.Finds(hoist.Rule, "keep")
}

func TestVector(t *testing.T) {
	p := ruletest.NewProgram(t)
	fields := p.Stack(recording.New, "operator new(unsigned long)", "std::vector<Field>::vector(unsigned long)", "parse parse.cc:9")
	node := p.Stack(recording.New, "operator new(unsigned long)", "parse parse.cc:12")
	rounds(p, fields, node, always(400), "parse parse.cc:20")
	p.Finds(hoist.Rule, "vector")
}

// Of a deque that is cleared its map and one node stay.
func TestDeque(t *testing.T) {
	const alloc, base, deque = "operator new(unsigned long)", "std::_Deque_base<int, std::allocator<int> >::", "std::deque<int, std::allocator<int> >::"
	p := ruletest.NewProgram(t)
	table := p.Stack(recording.New, alloc, base+"_M_allocate_map(unsigned long)", "parse parse.cc:9")
	first := p.Stack(recording.New, alloc, base+"_M_create_nodes(int**, int**)", "parse parse.cc:9")
	next := p.Stack(recording.New, alloc, deque+"_M_push_back_aux<int>(int&&)", "parse parse.cc:9")
	node := p.Stack(recording.New, alloc, "parse parse.cc:12")
	p.Free(p.Alloc(node, 1<<20)) // the peak, at which there is none of them
	for range 500 {
		all := []recordingtest.Block{p.Alloc(table, 64)}
		p.Free(p.Alloc(node, 24))
		all = append(all, p.Alloc(first, 512))
		p.Free(p.Alloc(node, 24))
		all = append(all, p.Alloc(next, 512))
		for _, b := range all {
			p.FreeFrom(b, p.By("parse parse.cc:20"))
		}
		for range 10 {
			p.Free(p.Alloc(node, 24))
		}
	}
	p.Finds(hoist.Rule, "deque")
}

// The string belongs to an object, which is what can stay.
func TestInObject(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.New, "operator new(unsigned long)", "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)", "Scope::Scope(char const*) scope.h:8", "visit visit.cc:30")
	node := p.Stack(recording.New, "operator new(unsigned long)", "visit visit.cc:31")
	for i := range uint64(500) {
		b := p.Alloc(name, 20+i%30)
		p.Alloc(node, 24)
		p.FreeFrom(b, p.By("visit visit.cc:40"))
	}
	p.Finds(hoist.Rule, "in-object")
}

// An object, an array of several lengths, a member that is set anew, and what a
// container points to: each by C++'s new.
func TestKinds(t *testing.T) {
	const alloc, array = "operator new(unsigned long)", "operator new[](unsigned long)"
	p := ruletest.NewProgram(t)
	object := p.Stack(recording.New, alloc, "move game.cc:10")
	text := p.Stack(recording.NewArray, array, "write game.cc:20")
	last := p.Stack(recording.New, alloc, "set game.cc:31")
	element := p.Stack(recording.New, alloc, "collect game.cc:40")
	other := p.Stack(recording.Malloc, "other game.cc:50")
	for i := range uint64(500) {
		for _, of := range []struct {
			stack recordingtest.Stack
			size  uint64
			by    uint32
		}{
			{object, 24, p.By("move game.cc:12")},
			{text, 100 + i%50, p.By("write game.cc:24")},
			{last, 24, p.By("set game.cc:30")},
			{element, 32, p.By("std::unique_ptr<Move>::~unique_ptr()", "void std::_Destroy<std::unique_ptr<Move>*>(std::unique_ptr<Move>*, std::unique_ptr<Move>*)", "collect game.cc:44")},
		} {
			b := p.Alloc(of.stack, of.size)
			p.Alloc(other, 40)
			p.FreeFrom(b, of.by)
		}
	}
	p.Finds(hoist.Rule, "kinds")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// Ten at a time.
	item := p.Stack(recording.Malloc, "work work.c:1")
	for range 100 {
		var row []recordingtest.Block
		for range 10 {
			row = append(row, p.Alloc(item, 40))
		}
		for _, b := range row {
			p.FreeFrom(b, p.By("work work.c:9"))
		}
	}
	// A short list, and much else before the next one.
	link, much := p.Stack(recording.Malloc, "script diff.c:1", "diff diff.c:20"), p.Stack(recording.Malloc, "much diff.c:9", "diff diff.c:21")
	for range 300 {
		first, second := p.Alloc(link, 48), p.Alloc(link, 48)
		for _, b := range []recordingtest.Block{first, second} {
			p.FreeFrom(b, p.By("diff diff.c:30"))
		}
		for range 40 {
			p.Free(p.Alloc(much, 1000))
		}
	}
	// The rows of a vector of vectors: to clear it gives them back.
	const vector = "std::vector<int, std::allocator<int> >"
	grow := p.Stack(recording.New, "operator new(unsigned long)", "std::vector<Row>::_M_realloc_insert<Row const&>(Row*, Row const&)", "rows rows.cc:20")
	row := p.Stack(recording.New, "operator new(unsigned long)", vector+"::vector("+vector+" const&)",
		"void std::allocator_traits<std::allocator<Row> >::construct<Row, Row const&>(std::allocator<Row>&, Row*, Row const&)",
		"std::vector<Row>::_M_realloc_insert<Row const&>(Row*, Row const&)", "rows rows.cc:20")
	for range 500 {
		var rows []recordingtest.Block
		for size := uint64(24); size <= 192; size *= 2 {
			rows = append(rows, p.Alloc(grow, size), p.Alloc(row, 64))
		}
		for _, b := range rows {
			p.FreeFrom(b, p.By("rows rows.cc:30"))
		}
		for range 20 {
			p.Free(p.Alloc(much, 1000))
		}
	}
	// A small object that is handed on.
	object, other := p.Stack(recording.Malloc, "make object.c:1"), p.Stack(recording.Malloc, "make object.c:2")
	for range 1000 {
		b := p.Alloc(object, 40)
		p.Alloc(other, 40)
		p.FreeFrom(b, p.By("drop object.c:9"))
	}
	// A node of a map goes when the map is cleared.
	tree := p.Stack(recording.New, "std::__new_allocator<std::_Rb_tree_node<int> >::allocate(unsigned long, void const*)", "std::_Rb_tree<int, int>::_M_get_node()", "count count.cc:3")
	for range 1000 {
		b := p.Alloc(tree, 48)
		p.Alloc(other, 40)
		p.FreeFrom(b, p.By("count count.cc:9"))
	}
	p.Silent(hoist.Rule)
}

// A function that makes a longer block for each one that is full releases most of its blocks, but another one the last
// of each text: they outlive its calls, and cannot be its variables.
func TestOutlivesCall(t *testing.T) {
	p := ruletest.NewProgram(t)
	full := p.Stack(recording.Malloc, "append text.c:73", "dump dump.c:20")
	other := p.Stack(recording.Malloc, "visit dump.c:30")
	p.Soon(1, 1<<20, other)
	for range 200 {
		text := p.Alloc(full, 32)
		for _, size := range []uint64{70, 150, 310, 630} {
			p.Soon(8, 48, other)
			longer := p.Alloc(full, size)
			p.FreeFrom(text, p.By("append text.c:79"))
			text = longer
		}
		p.Soon(8, 48, other)
		p.FreeFrom(text, p.By("close text.c:40"))
		p.Soon(8, 48, other)
	}
	p.Silent(hoist.Rule)
}
