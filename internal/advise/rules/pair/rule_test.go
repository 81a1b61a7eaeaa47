package pair_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/pair"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// A connection and the node that holds it.
func TestPair(t *testing.T) {
	p := ruletest.NewProgram(t)
	connection := p.Stack(recording.Malloc, "open conn.c:162")
	node := p.Stack(recording.Malloc, "list_append list.c:40", "open conn.c:165")
	for range 20 {
		var row [][2]recordingtest.Block
		for range 30 {
			row = append(row, [2]recordingtest.Block{p.Alloc(connection, 32), p.Alloc(node, 24)})
		}
		for _, b := range row {
			p.FreeFrom(b[1], p.By("list_remove list.c:66"))
			p.FreeFrom(b[0], p.By("close conn.c:127"))
		}
	}
	p.Noise(1000)
	p.Finds(pair.Rule, "pair")
}

// A list and its items, few of which outgrow the room that they begin with: the others have it in the list. Of strings
// that grow more often it is not said.
func TestFewGrow(t *testing.T) {
	p := ruletest.NewProgram(t)
	list, items := p.Stack(recording.Malloc, "list_new list.c:8"), p.Stack(recording.Calloc, "list_new list.c:11")
	text, chars := p.Stack(recording.Malloc, "text_new text.c:8"), p.Stack(recording.Malloc, "text_new text.c:11")
	more, longer := p.Stack(recording.Realloc, "list_add list.c:20"), p.Stack(recording.Realloc, "text_add text.c:20")
	rows := func(object, part, enlarged recordingtest.Stack, each int, drop string) {
		for range 20 {
			var row [][2]recordingtest.Block
			for i := range 50 {
				b, n := p.Alloc(object, 32), p.Alloc(part, 64)
				if i%each == 0 {
					n = p.Realloc(n, enlarged, 128)
				}
				row = append(row, [2]recordingtest.Block{b, n})
			}
			for _, b := range row {
				p.FreeFrom(b[1], p.By(drop+":30"))
				p.FreeFrom(b[0], p.By(drop+":31"))
			}
		}
	}
	rows(list, items, more, 50, "list_drop list.c")
	rows(text, chars, longer, 5, "text_drop text.c")
	p.Finds(pair.Rule, "few_grow")
}

// A connection and the node of a list that others append to, too: the line is named that does.
func TestHelper(t *testing.T) {
	p := ruletest.NewProgram(t)
	connection := p.Stack(recording.Malloc, "open conn.c:162")
	node := p.Stack(recording.Malloc, "list_append list.c:40", "open conn.c:165")
	others := p.Stack(recording.Malloc, "list_append list.c:40", "watch watch.c:12")
	for range 300 {
		b, n := p.Alloc(connection, 32), p.Alloc(node, 24)
		p.FreeFrom(n, p.By("list_remove list.c:66"))
		p.FreeFrom(b, p.By("close conn.c:127"))
	}
	for range 30 {
		p.FreeFrom(p.Alloc(others, 24), p.By("list_remove list.c:66"))
	}
	p.Finds(pair.Rule, "helper")
}

// One line asks two helpers that others ask for blocks of other sizes: their lines tell the two apart.
func TestHelpersOfOneLine(t *testing.T) {
	p := ruletest.NewProgram(t)
	table := func(caller string) recordingtest.Stack {
		return p.Stack(recording.Calloc, "table_new table.c:73", "insert array.c:20", caller)
	}
	leaf := func(caller string) recordingtest.Stack {
		return p.Stack(recording.Calloc, "leaf_new leaf.c:64", "insert array.c:21", caller)
	}
	both := func(times int, size uint64, caller string) {
		t, l := table(caller), leaf(caller)
		for range times {
			a, b := p.Alloc(t, size), p.Alloc(l, size)
			p.FreeFrom(b, p.By("clear array.c:40"))
			p.FreeFrom(a, p.By("clear array.c:41"))
		}
	}
	both(300, 256, "split field.c:968")
	both(60, 16, "main main.c:7")
	both(60, 4096, "load load.c:8")
	p.Finds(pair.Rule, "helpers_of_one_line")
}

// One line gets two texts by one helper, through two functions that others call,
// too: these tell the texts apart.
func TestOneHelperByTwoWays(t *testing.T) {
	p := ruletest.NewProgram(t)
	text := func(way, caller string) recordingtest.Stack {
		return p.Stack(recording.Malloc, "dup text.c:32", way, caller)
	}
	pairs := func(times int, name, value uint64, caller string) {
		first, second := text("name_of token.c:99", caller), text("value_of token.c:55", caller)
		for i := range times {
			more := uint64(i%2) * 3
			a, b := p.Alloc(first, name+more), p.Alloc(second, value+more)
			p.FreeFrom(b, p.By("drop token.c:70"))
			p.FreeFrom(a, p.By("drop token.c:71"))
		}
	}
	pairs(300, 3, 3, "body parser.c:90")
	pairs(60, 77, 897, "main main.c:7")
	p.Finds(pair.Rule, "one_helper_by_two_ways")
}

// All texts of this run are as long: the next may be longer, and must not become a member.
func TestTextsOfOneLength(t *testing.T) {
	for golden, text := range map[string]struct {
		function recording.Function
		size     uint64
	}{"text_of_3_bytes": {recording.Malloc, 3}, "text_by_strdup": {recording.Strdup, 8}} {
		p := ruletest.NewProgram(t)
		node := p.Stack(recording.Malloc, "comment_new tree.c:55")
		content := p.Stack(text.function, "comment_new tree.c:65")
		for range 300 {
			b, c := p.Alloc(node, 120), p.Alloc(content, text.size)
			p.FreeFrom(c, p.By("comment_free tree.c:90"))
			p.FreeFrom(b, p.By("comment_free tree.c:91"))
		}
		p.Finds(pair.Rule, golden)
	}
}

// Buffers that one function makes and releases have no owner to be members of: they
// are its own variables, which hoist tells.
func TestLocals(t *testing.T) {
	p := ruletest.NewProgram(t)
	text := p.Stack(recording.Malloc, "scan scanner.c:10")
	breaks := p.Stack(recording.Malloc, "scan scanner.c:11")
	for range 300 {
		a, b := p.Alloc(text, 16), p.Alloc(breaks, 16)
		p.FreeFrom(a, p.By("scan scanner.c:90"))
		p.FreeFrom(b, p.By("scan scanner.c:91"))
	}
	p.Noise(1000)
	p.Finds(pair.Rule, "locals")
}

// Two instances of a template have one line: who calls them tells them apart.
func TestInstances(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.New, "operator new(unsigned long)", "Map<char const*>::insert(char const*) map.h:18", "define parser.cc:40")
	number := p.Stack(recording.New, "operator new(unsigned long)", "Map<int>::insert(int) map.h:18", "define parser.cc:41")
	for range 600 {
		p.Alloc(name, 48)
		p.Alloc(number, 40)
	}
	p.Finds(pair.Rule, "instances")
}

// A session with a name and a buffer, made by its constructor.
func TestGroup(t *testing.T) {
	p := ruletest.NewProgram(t)
	session := p.Stack(recording.New, "operator new(unsigned long)", "serve serve.cc:10")
	name := p.Stack(recording.Strdup, "strdup", "Session::Session() session.cc:5", "serve serve.cc:10")
	buffer := p.Stack(recording.New, "operator new[](unsigned long)", "Session::Session() session.cc:6", "serve serve.cc:10")
	for i := range uint64(200) {
		s, n, b := p.Alloc(session, 80), p.Alloc(name, 5+i%10), p.Alloc(buffer, 512)
		p.FreeFrom(b, p.By("Session::~Session() session.cc:11"))
		p.FreeFrom(n, p.By("Session::~Session() session.cc:12"))
		p.FreeFrom(s, p.By("serve serve.cc:14"))
	}
	p.Finds(pair.Rule, "group")
}

// Made together, and kept.
func TestKept(t *testing.T) {
	p := ruletest.NewProgram(t)
	symbol := p.Stack(recording.Malloc, "intern sym.c:7")
	text := p.Stack(recording.Malloc, "intern sym.c:8")
	for i := range uint64(500) {
		p.Alloc(symbol, 16)
		p.Alloc(text, 3+i%20)
	}
	p.Finds(pair.Rule, "kept")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// Born together, but one of them stays.
	a, b := p.Stack(recording.Malloc, "f f.c:1"), p.Stack(recording.Malloc, "f f.c:2")
	for range 500 {
		p.Free(p.Alloc(a, 16))
		p.Alloc(b, 32)
	}
	// One after the other is not together.
	scratch, change := p.Stack(recording.Malloc, "diff diff.c:1"), p.Stack(recording.Malloc, "diff diff.c:2")
	for range 500 {
		p.Free(p.Alloc(scratch, 64))
		p.Free(p.Alloc(change, 48))
	}
	// Functions that have nothing to do with each other.
	c, d := p.Stack(recording.Malloc, "token lex.c:9", "parse parse.c:1"), p.Stack(recording.Malloc, "row table.c:9", "store store.c:1", "main main.c:2")
	for range 500 {
		first, second := p.Alloc(c, 16), p.Alloc(d, 32)
		p.Free(first)
		p.Free(second)
	}
	// Two strings of a library's making cannot be put together.
	s1 := p.Stack(recording.New, "std::string::_M_create(unsigned long&, unsigned long)", "g g.cc:1")
	s2 := p.Stack(recording.New, "std::string::_M_create(unsigned long&, unsigned long)", "g g.cc:2")
	for range 500 {
		first, second := p.Alloc(s1, 40), p.Alloc(s2, 40)
		p.Free(first)
		p.Free(second)
	}
	// An object and the counts of its std::shared_ptr have a rule of their own.
	object := p.Stack(recording.New, "operator new(unsigned long)", "make shape.cc:3", "share shape.cc:9")
	counts := p.Stack(recording.New, "std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Shape*>(Shape*)", "share shape.cc:9")
	for range 500 {
		first, second := p.Alloc(object, 16), p.Alloc(counts, 24)
		p.Free(first)
		p.Free(second)
	}
	p.Silent(pair.Rule)
}
