package temporary_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/temporary"
	"mallow/internal/recording"
)

// A buffer of 8 to 64 bytes, in a loop that does nothing else.
func TestBuffer(t *testing.T) {
	p := ruletest.NewProgram(t)
	set := p.Stack(recording.Malloc, "poll poll.c:83")
	for i := range uint64(1000) {
		p.FreeFrom(p.Alloc(set, 8*(1+i%8)), p.By("poll poll.c:90"))
	}
	p.Noise(1000)
	p.Finds(temporary.Rule, "buffer")
}

// Blocks of one size, that of a struct as well as of an array.
func TestStruct(t *testing.T) {
	p := ruletest.NewProgram(t)
	hold := p.Stack(recording.Malloc, "push hold.c:10", "expand expand.c:30")
	for range 500 {
		p.FreeFrom(p.Alloc(hold, 24), p.By("expand expand.c:33"))
	}
	p.Noise(500)
	p.Finds(temporary.Rule, "struct")
}

// Not every language has a malloc.
func TestFortran(t *testing.T) {
	p := ruletest.NewProgram(t)
	twice := p.Stack(recording.Malloc, "twice sums.f90:19", "sums sums.f90:35")
	for range 500 {
		p.FreeFrom(p.Alloc(twice, 40), p.By("sums sums.f90:35"))
	}
	p.Noise(500)
	p.Finds(temporary.Rule, "fortran")
}

// A function that releases blocks for all may do so after the one that made this has returned: the array belongs to a
// caller then.
func TestPassedOn(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.Malloc, "name_of kind.c:12", "compare kind.c:40")
	part := p.Stack(recording.New, "bool xml::make<xml::Part>(xml::Text const&, unsigned long) part.cc:12", "compare kind.c:41")
	for range 500 {
		p.FreeFrom(p.Alloc(name, 23), p.By("value_free value.c:7"))
		p.FreeFrom(p.Alloc(part, 40), p.By("void xml::Part::remove(std::vector<int> const&) part.cc:70"))
	}
	p.Noise(500)
	p.Finds(temporary.Rule, "passed-on")
}

// One function of a library makes a block that has no room on the stack, another one releases it: it is who uses the
// library that can keep it.
func TestOfLibrary(t *testing.T) {
	p := ruletest.NewProgram(t)
	state := p.Stack(recording.Malloc, "libz!inflateInit2_", "unpack_init zlib.c:72", "unpack pack.c:50")
	for range 500 {
		p.FreeFrom(p.Alloc(state, 7160), p.By("libz!inflateEnd", "unpack_end zlib.c:90"))
	}
	p.Noise(500)
	p.Finds(temporary.Rule, "of-library")
}

// A library of C++ returns texts that are equally long in this run: no object has 17 bytes.
func TestTextOfLibrary(t *testing.T) {
	p := ruletest.NewProgram(t)
	text := p.Stack(recording.New, "operator new(unsigned long)", "fmt::v9::vformat[abi:cxx11](fmt::v9::basic_string_view<char>)", "line_of(User const&) main.cc:18")
	for range 500 {
		p.FreeFrom(p.Alloc(text, 17), p.By("line_of(User const&) main.cc:18"))
	}
	p.Noise(500)
	p.Finds(temporary.Rule, "text-of-library")
}

// A text that a function returns: to assign it to a string that is kept takes its new block.
func TestReturned(t *testing.T) {
	p := ruletest.NewProgram(t)
	text := p.Stack(recording.New, "operator new(unsigned long)",
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, unsigned long)",
		"join(Name const&) name.cc:12", "print(Names const&) name.cc:20")
	for range 500 {
		p.FreeFrom(p.Alloc(text, 31), p.By("print(Names const&) name.cc:20"))
	}
	p.Noise(500)
	p.Finds(temporary.Rule, "returned")
}

// Another caller keeps what is returned, so that only a part of the line's blocks is temporary.
func TestReturnedToOneCaller(t *testing.T) {
	p := ruletest.NewProgram(t)
	names := []string{"operator new(unsigned long)", "std::vector<Name, std::allocator<Name> >::reserve(unsigned long)", "members(Value const&) value.cc:12"}
	print_ := p.Stack(recording.New, append(names, "print(Value const&) print.cc:20", "main main.cc:9")...)
	keep := p.Stack(recording.New, append(names, "keep(Value const&) keep.cc:30", "main main.cc:10")...)
	for range 500 {
		p.Alloc(keep, 96)
		p.FreeFrom(p.Alloc(print_, 64), p.By("print(Value const&) print.cc:24"))
	}
	p.Finds(temporary.Rule, "returned-to-one-caller")
}

// Two callers want a key: one frees it at once, the other keeps it.
func TestOneCaller(t *testing.T) {
	p := ruletest.NewProgram(t)
	find := p.Stack(recording.Malloc, "key_of cache.c:95", "find cache.c:107")
	add := p.Stack(recording.Malloc, "key_of cache.c:95", "add cache.c:117", "main main.c:2")
	for range 500 {
		p.Alloc(add, 20)
		p.FreeFrom(p.Alloc(find, 20), p.By("find cache.c:112"))
	}
	p.Finds(temporary.Rule, "one-caller")
}

// Of what only a thread does at once that begins in the library, no caller is the program's.
func TestThread(t *testing.T) {
	p := ruletest.NewProgram(t)
	keep := p.Stack(recording.Malloc, "key_of(int) cache.cc:95", "main cache.cc:117", "__libc_start_call_main")
	thread := p.Stack(recording.Malloc, "key_of(int) cache.cc:95",
		"std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)()> > >::_M_run()", "start_thread", "__clone3")
	for range 500 {
		p.Alloc(keep, 20)
		p.FreeFrom(p.Alloc(thread, 20), p.By("key_of(int) cache.cc:99"))
	}
	p.Finds(temporary.Rule, "thread")
}

// Most blocks are small, some have a megabyte: the array holds nearly all.
func TestFewLarge(t *testing.T) {
	p := ruletest.NewProgram(t)
	line := p.Stack(recording.Malloc, "read_line io.c:30")
	for i := range 2000 {
		size := uint64(100)
		if i%500 == 0 {
			size = 100_000
		}
		p.Free(p.Alloc(line, size))
	}
	p.Finds(temporary.Rule, "few-large")
}

// No array is as large as that: the block is to be used again.
func TestLarge(t *testing.T) {
	p := ruletest.NewProgram(t)
	page := p.Stack(recording.Malloc, "load page.c:12")
	for range 500 {
		p.Free(p.Alloc(page, 100_000))
	}
	p.Finds(temporary.Rule, "large")
}

// A local string in a loop is no array, but it can stay.
func TestString(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.New, "operator new(unsigned long)", "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)", "parse parse.cc:9")
	for range 500 {
		p.FreeFrom(p.Alloc(name, 40), p.By("parse parse.cc:12"))
	}
	p.Finds(temporary.Rule, "string")
}

// Where the debug information has lines alone, the file tells that it is a string,
// or the node of a list, which is not told.
func TestLinesAlone(t *testing.T) {
	const headers = "/usr/include/c++/12/bits/"
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.New, "allocate "+headers+"new_allocator.h:137", "_M_construct<char*> "+headers+"basic_string.tcc:225", "parse parse.cc:9")
	word := p.Stack(recording.Malloc, "alloc /rustc/1234/library/alloc/src/alloc.rs:95", "to_vec<u8> /rustc/1234/library/alloc/src/slice.rs:432", "words::parse parse.rs:9")
	node := p.Stack(recording.New, "allocate "+headers+"new_allocator.h:137", "_M_get_node "+headers+"stl_list.h:510", "parse parse.cc:20")
	object := p.Stack(recording.New, "make_unique<Shape> "+headers+"unique_ptr.h:1065", "parse parse.cc:30")
	for range 500 {
		p.FreeFrom(p.Alloc(name, 40), p.By("parse parse.cc:12"))
		p.FreeFrom(p.Alloc(word, 40), p.By("words::parse parse.rs:12"))
		p.FreeFrom(p.Alloc(node, 24), p.By("parse parse.cc:22"))
		p.FreeFrom(p.Alloc(object, 24), p.By("parse parse.cc:32"))
	}
	p.Finds(temporary.Rule, "lines-alone")
}

// A vector within an object makes room when the object is made: always the same
// has its place there; else the object can stay.
func TestInObject(t *testing.T) {
	const room = "std::vector<Token const*, std::allocator<Token const*> >::reserve(unsigned long)"
	p := ruletest.NewProgram(t)
	fixed := p.Stack(recording.New, "operator new(unsigned long)", room, "SmallVector<Token const*, 9ul>::SmallVector() small.h:55", "visit visit.cc:20")
	named := p.Stack(recording.New, "operator new(unsigned long)", "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)", "Scope::Scope(char const*) scope.h:8", "visit visit.cc:30")
	for i := range uint64(500) {
		p.Free(p.Alloc(fixed, 72))
		p.Free(p.Alloc(named, 20+i%30))
	}
	p.Finds(temporary.Rule, "in-object")
}

// An object that is handed on may be destroyed by functions that have not called
// its constructor. Its room has its place in it all the same; what differs in
// length can only stay where it is nobody else's.
func TestDestroyedElsewhere(t *testing.T) {
	const alloc, create = "operator new(unsigned long)", "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)"
	p := ruletest.NewProgram(t)
	const reserve = "std::vector<long, std::allocator<long> >::reserve(unsigned long)"
	destroyed := p.Stack(recording.New, alloc, reserve, "SmallVector<long, 9ul>::SmallVector<>() small.h:55", "follow follow.cc:20")
	taken := p.Stack(recording.New, alloc, reserve, "Fields::Fields() fields.h:5", "follow follow.cc:21")
	named := p.Stack(recording.New, alloc, create, "Scope::Scope(char const*) scope.h:8", "follow follow.cc:30")
	given := p.Stack(recording.New, alloc, create, "Message::Message(char const*) message.h:8", "follow follow.cc:40")
	node := p.Stack(recording.New, "std::__new_allocator<std::_List_node<int> >::allocate(unsigned long, void const*)",
		"std::__cxx11::list<int, std::allocator<int> >::push_back(int const&)", "Queue::Queue() queue.h:3", "follow follow.cc:50")
	for i := range uint64(500) {
		p.FreeFrom(p.Alloc(destroyed, 72), p.By("SmallVector<long, 9ul>::~SmallVector() small.h:47"))
		p.FreeFrom(p.Alloc(taken, 64), p.By("use(long) use.cc:9"))
		p.FreeFrom(p.Alloc(named, 20+i%30), p.By("Scope::~Scope() scope.h:6"))
		p.FreeFrom(p.Alloc(given, 20+i%30), p.By("use(long) use.cc:19"))
		p.FreeFrom(p.Alloc(node, 24), p.By("use(long) use.cc:29"))
	}
	p.Finds(temporary.Rule, "destroyed")
}

// What Rust has in a Box, or in a short Vec of its own.
func TestRust(t *testing.T) {
	p := ruletest.NewProgram(t)
	ranges := p.Stack(recording.Malloc, "alloc::alloc::alloc", "alloc::boxed::Box<T>::new", "utf8::Sequences::new utf8.rs:307")
	// Of calls that it merged LLVM does not know of which library they are.
	merged := p.Stack(recording.Malloc, "choose choose.rs:9")
	for range 500 {
		p.Free(p.Alloc(ranges, 8))
		p.Free(p.Alloc(merged, 8))
	}
	p.Finds(temporary.Rule, "rust")
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
	for i := range uint64(500) {
		p.FreeFrom(p.Alloc(object, 24), p.By("move game.cc:12"))
		p.FreeFrom(p.Alloc(text, 100+i%50), p.By("write game.cc:24"))
		p.FreeFrom(p.Alloc(last, 24), p.By("set game.cc:30"))
		p.FreeFrom(p.Alloc(element, 32), p.By("std::unique_ptr<Move>::~unique_ptr()", "std::vector<std::unique_ptr<Move> >::~vector()", "collect game.cc:44"))
	}
	p.Finds(temporary.Rule, "kinds")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// Blocks that a realloc takes over were not freed.
	grow := p.Stack(recording.Realloc, "append buffer.c:20")
	for range 100 {
		b := p.Alloc(p.Stack(recording.Malloc, "append buffer.c:18"), 16)
		for size := uint64(32); size < 400; size += 16 {
			b = p.Realloc(b, grow, size)
		}
		p.Free(b)
	}
	// Something else is allocated in between.
	a, c := p.Stack(recording.Malloc, "pair pair.c:1"), p.Stack(recording.Malloc, "pair pair.c:2")
	for range 1000 {
		first := p.Alloc(a, 16)
		p.Alloc(c, 16)
		p.Free(first)
	}
	// A list keeps nothing when it is cleared; and what another function takes over cannot be kept.
	list := p.Stack(recording.New, "std::__new_allocator<std::_List_node<int> >::allocate(unsigned long, void const*)", "std::__cxx11::list<int, std::allocator<int> >::push_back(int const&)", "collect collect.cc:3")
	given := p.Stack(recording.New, "operator new(unsigned long)", "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)", "give give.cc:4")
	for range 500 {
		p.Free(p.Alloc(list, 24))
		p.FreeFrom(p.Alloc(given, 40), p.By("take(std::string&&) take.cc:9"))
	}
	p.Noise(1000)
	p.Silent(temporary.Rule)
}

// What an object's constructor makes, and its destructor releases, has its place in
// the object, which is handed on: no function has it on its stack.
func TestMadeByConstructor(t *testing.T) {
	const textOf, made = "operator new[](unsigned long)", "Text::Text(char const*, int) input.cc:3599"
	p := ruletest.NewProgram(t)
	text := p.Stack(recording.NewArray, textOf, made, "makeText input.cc:3618", "number input.cc:4917")
	state := p.Stack(recording.New, "operator new(unsigned long)", "Parser::Parser() parser.cc:12", "parse main.cc:20")
	for i := range uint64(500) {
		p.FreeFrom(p.Alloc(text, 1+i%6), p.By("Text::~Text() input.cc:3608"))
		p.FreeFrom(p.Alloc(state, 40), p.By("Parser::~Parser() parser.cc:17"))
	}
	p.Finds(temporary.Rule, "made-by-constructor")
}
