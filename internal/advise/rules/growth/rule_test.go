package growth_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/growth"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// 100 buffers, each of 10 equal steps.
func TestRealloc(t *testing.T) {
	p := ruletest.NewProgram(t)
	append_ := p.Stack(recording.Realloc, "append poll.c:117")
	for range 100 {
		b := p.Alloc(append_, 50)
		for size := uint64(100); size <= 500; size += 50 {
			b = p.Realloc(b, append_, size)
		}
		p.FreeFrom(b, p.By("done poll.c:130"))
	}
	p.Finds(growth.Rule, "realloc")
}

// Two callers read files alike, of which one is four times as large as all others:
// it makes no helper of the line that reads them.
func TestTwoCallers(t *testing.T) {
	p := ruletest.NewProgram(t)
	for _, caller := range []struct {
		line           string
		files, largest uint64
	}{{"left walk.rs:466", 110, 4096}, {"right walk.rs:471", 100, 16384}} {
		read := p.Stack(recording.Realloc, "read parse.rs:37", caller.line)
		for i := range caller.files {
			most := uint64(2048)
			if i == 50 {
				most = caller.largest
			}
			b := p.Alloc(read, 32)
			for size := uint64(64); size <= most; size *= 2 {
				b = p.Realloc(b, read, size)
			}
			p.FreeFrom(b, p.By(caller.line))
		}
	}
	p.Finds(growth.Rule, "two_callers")
}

// As Rust's containers do: malloc first, and four reallocs after it.
func TestBegunByMalloc(t *testing.T) {
	p := ruletest.NewProgram(t)
	begin := p.Stack(recording.Malloc, "alloc::alloc::alloc", "<alloc::raw_vec::RawVecInner>::grow_amortized", "m::grow grow.rs:10")
	grow := p.Stack(recording.Realloc, "alloc::alloc::realloc", "<alloc::raw_vec::RawVecInner>::grow_amortized", "m::grow grow.rs:10")
	for range 200 {
		b := p.Alloc(begin, 32)
		for size := uint64(64); size <= 512; size *= 2 {
			b = p.Realloc(b, grow, size)
		}
		p.FreeFrom(b, p.By("m::main grow.rs:20"))
	}
	p.Finds(growth.Rule, "begun_by_malloc")
}

// Each buffer is filled by several lines, so that it is another stack that enlarges
// what one has made. A second line that enlarges what the first has made is another matter.
func TestSeveralStacks(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.Realloc, "append buffer.c:7", "name main.c:10")
	city := p.Stack(recording.Realloc, "append buffer.c:7", "city main.c:11")
	begin := p.Stack(recording.Realloc, "begin list.c:10")
	end := p.Stack(recording.Realloc, "end list.c:20")
	for range 100 {
		b := p.Alloc(name, 50)
		for size := uint64(100); size <= 350; size += 100 {
			b = p.Realloc(b, city, size)
			b = p.Realloc(b, name, size+50)
		}
		p.FreeFrom(b, p.By("done main.c:12"))
		p.FreeFrom(p.Realloc(p.Alloc(begin, 20), end, 30), p.By("done main.c:13"))
	}
	p.Finds(growth.Rule, "several_stacks")
}

const (
	vectorGrows = "void std::vector<Item*, std::allocator<Item*> >::_M_realloc_insert<Item*>(Item**, Item*&&)"
	stringGrows = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)"
)

// grown makes a container whose blocks double up to a size. Those that are
// outgrown are released by one caller, the last one by another.
func grown(p *ruletest.Program, by recordingtest.Stack, least, most uint64, outgrown, owner string) {
	grownBy(p, by, least, most, p.By(outgrown), p.By(owner))
}

func grownBy(p *ruletest.Program, by recordingtest.Stack, least, most uint64, outgrown, owner uint32) {
	old := p.Alloc(by, least)
	for size := 2 * least; size <= most; size *= 2 {
		b := p.Alloc(by, size)
		p.FreeFrom(old, outgrown)
		old = b
	}
	p.FreeFrom(old, owner)
}

// 2,000 vectors of 100 elements of 8 bytes.
func TestVector(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", vectorGrows, "collect list.cc:20")
	for range 2000 {
		grown(p, grow, 8, 1024, vectorGrows, "collect list.cc:24")
	}
	p.Finds(growth.Rule, "vector")
}

// Half of the vectors end with eight elements, half with two: who reserves the
// usual four spares the long ones less than all of their steps.
func TestSeveralSizes(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", vectorGrows, "insert map.cc:20")
	for range 2000 {
		grown(p, grow, 16, 128, vectorGrows, "insert map.cc:24")
		grown(p, grow, 16, 32, vectorGrows, "insert map.cc:24")
	}
	p.Finds(growth.Rule, "several_sizes")
}

// What libc++ notes while a regex is matched nobody else can reserve.
func TestRegex(t *testing.T) {
	const matches = "bool std::__1::basic_regex<char, std::__1::regex_traits<char> >::__match_at_start_ecma<std::__1::allocator<int> >(char const*) const"
	const grows = "void std::__1::vector<std::__1::__state<char>, std::__1::allocator<std::__1::__state<char> > >::__push_back_slow_path<int>(int&&)"
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", grows, matches, "find text.cc:20")
	for range 2000 {
		grown(p, grow, 8, 1024, grows, "find text.cc:24")
	}
	p.Silent(growth.Rule)
}

// The growth is inlined into the line, as by -O3.
func TestInlined(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", vectorGrows, "collect list.cc:20")
	for range 2000 {
		grown(p, grow, 8, 1024, "collect list.cc:20", "collect list.cc:24")
	}
	p.Finds(growth.Rule, "inlined")
}

// So is that of a string, with the destructor: both are known by what was inlined.
func TestInlinedString(t *testing.T) {
	const dispose = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_dispose()"
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", stringGrows, "write text.cc:20")
	for range 2000 {
		grownBy(p, grow, 31, 500, p.By(dispose, stringGrows, "write text.cc:20"), p.By(dispose, "write text.cc:24"))
	}
	p.Finds(growth.Rule, "inlined_string")
}

// Nothing is known by name: each block goes when one twice as large is there.
func TestUnnamed(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow, other := p.Stack(recording.New, "operator new(unsigned long)", "collect"), p.Stack(recording.Malloc, "other")
	for range 2000 {
		grown(p, grow, 8, 1024, "collect", "collect")
		p.Free(p.Alloc(other, 40))
	}
	p.Finds(growth.Rule, "unnamed")
}

// The compiler has made two copies of the growth, of which one makes the first block.
func TestUnnamedCopies(t *testing.T) {
	p := ruletest.NewProgram(t)
	first, other := p.Stack(recording.New, "operator new(unsigned long)", "collect"), p.Stack(recording.Malloc, "other")
	again := p.Stack(recording.New, "operator new(unsigned long, std::nothrow_t const&)", "collect")
	for range 2000 {
		old := p.Alloc(first, 31)
		for _, size := range []uint64{61, 121} {
			b := p.Alloc(again, size)
			p.FreeFrom(old, p.By("collect"))
			old = b
		}
		p.FreeFrom(old, p.By("collect"))
		p.Free(p.Alloc(other, 40))
	}
	p.Finds(growth.Rule, "unnamed_copies")
}

// Two buffers of which the second is twice as large do not grow.
func TestUnnamedTwo(t *testing.T) {
	p := ruletest.NewProgram(t)
	small, other := p.Stack(recording.New, "operator new(unsigned long)", "collect"), p.Stack(recording.Malloc, "other")
	large := p.Stack(recording.New, "operator new(unsigned long, std::nothrow_t const&)", "collect")
	for range 2000 {
		s, l := p.Alloc(small, 16), p.Alloc(large, 34)
		p.FreeFrom(s, p.By("collect"))
		p.FreeFrom(l, p.By("collect"))
		p.Free(p.Alloc(other, 40))
	}
	p.Silent(growth.Rule)
}

// Without optimization the owner and the growth call the same function.
func TestUnoptimized(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", vectorGrows, "collect list.cc:20")
	const release = "std::__new_allocator<Item*>::deallocate(Item**, unsigned long)"
	for range 50 {
		grown(p, grow, 8, 1024, release, release)
	}
	p.Finds(growth.Rule, "unoptimized")
}

func TestString(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", stringGrows, "write text.cc:20")
	for range 2000 {
		grown(p, grow, 31, 500, stringGrows, "write text.cc:24")
	}
	p.Finds(growth.Rule, "string")
}

// On one line strings are put together, each by one block, and pushed back
// onto a vector: only that one grows.
func TestStringsOfOneBlock(t *testing.T) {
	p := ruletest.NewProgram(t)
	put := p.Stack(recording.New, "operator new(unsigned long)", stringGrows, "parse text.cc:9")
	grow := p.Stack(recording.New, "operator new(unsigned long)", vectorGrows, "parse text.cc:9")
	for i := range uint64(2000) {
		var texts []recordingtest.Block
		for length := range uint64(8) {
			texts = append(texts, p.Alloc(put, 31+(40*i+length)%300))
		}
		grown(p, grow, 32, 256, vectorGrows, "handle text.cc:10")
		for _, b := range texts {
			p.FreeFrom(b, p.By("handle text.cc:10"))
		}
	}
	p.Finds(growth.Rule, "strings_of_one_block")
}

// unevenly makes 2,000 containers by a line, which owner releases: isLarge tells
// which end larger than the others.
func unevenly(p *ruletest.Program, grows, line, owner string, least, most, large uint64, isLarge func(i int) bool) {
	by := p.Stack(recording.New, "operator new(unsigned long)", grows, line)
	for i := range 2000 {
		end := most
		if isLarge(i) {
			end = large
		}
		grown(p, by, least, end, grows, owner)
	}
}

// Of 2,000 vectors one ends with 1,024 elements and all others with one, which
// another line enlarges: what the sizes come to on average is no number of steps.
func TestOneLargeAmongMany(t *testing.T) {
	p := ruletest.NewProgram(t)
	const line = "parse manifest.cc:60"
	by := p.Stack(recording.New, "operator new(unsigned long)", vectorGrows, line)
	elsewhere := p.Stack(recording.New, "operator new(unsigned long)", vectorGrows, "other other.cc:72")
	for range 1999 {
		b := p.Alloc(by, 24)
		other := p.Alloc(elsewhere, 48)
		p.FreeFrom(b, p.By(vectorGrows))
		p.FreeFrom(other, p.By("parse manifest.cc:90"))
	}
	grown(p, by, 24, 196608, vectorGrows, "parse manifest.cc:90")
	p.Silent(growth.Rule)
}

const linesGrow = "void std::vector<Item, std::allocator<Item> >::_M_realloc_insert<Item const&>(Item const&)"

// itemsAt is the growth of vectors of items at a line.
func itemsAt(p *ruletest.Program, line string) recordingtest.Stack {
	return p.Stack(recording.New, "operator new(unsigned long)", "std::__new_allocator<Item>::allocate(unsigned long, void const*)", linesGrow, line)
}

// A function pushes back one item at a line and two at another one; once it has
// 8,192. Each of 2,000 vectors but that one takes three blocks, of which a reserve
// saves two.
func TestSeveralLines(t *testing.T) {
	p := ruletest.NewProgram(t)
	one, two := itemsAt(p, "parse manifest.cc:60"), itemsAt(p, "parse manifest.cc:72")
	outgrown, owner := p.By(linesGrow), p.By("parse manifest.cc:90")
	for range 1999 {
		first, second := p.Alloc(one, 24), p.Alloc(two, 48)
		p.FreeFrom(first, outgrown)
		third := p.Alloc(two, 96)
		p.FreeFrom(second, outgrown)
		p.FreeFrom(third, owner)
	}
	grownBy(p, one, 24, 196608, outgrown, owner)
	p.Finds(growth.Rule, "several_lines")
}

// Two lines that push back one item each: neither grows by itself.
func TestTwoLines(t *testing.T) {
	p := ruletest.NewProgram(t)
	one, two := itemsAt(p, "parse manifest.cc:60"), itemsAt(p, "parse manifest.cc:72")
	for range 2000 {
		first, second := p.Alloc(one, 24), p.Alloc(two, 48)
		p.FreeFrom(first, p.By(linesGrow))
		p.FreeFrom(second, p.By("parse manifest.cc:90"))
	}
	p.Finds(growth.Rule, "two_lines")
}

// The vectors of one line grow in another function, and those of the other line
// are of their own: reserve for one of them saves nothing at the other.
func TestLinesOfTheirOwn(t *testing.T) {
	p := ruletest.NewProgram(t)
	one, two := itemsAt(p, "parse manifest.cc:60"), itemsAt(p, "parse manifest.cc:72")
	elsewhere := itemsAt(p, "add manifest.cc:10")
	for i := range 2000 {
		first, second := p.Alloc(one, 24), p.Alloc(elsewhere, 48)
		p.FreeFrom(first, p.By(linesGrow))
		p.FreeFrom(second, p.By("parse manifest.cc:90"))
		if i%2 == 0 {
			p.FreeFrom(p.Alloc(two, 48), p.By("parse manifest.cc:90"))
		}
	}
	p.Silent(growth.Rule)
}

func oneInHundred(i int) bool { return i%100 == 0 }

// Vectors of 16 elements, and a few of 2048: none knows beforehand what it will be.
func TestWidely(t *testing.T) {
	p := ruletest.NewProgram(t)
	unevenly(p, vectorGrows, "collect list.cc:20", "collect list.cc:24", 8, 128, 16384, oneInHundred)
	p.Finds(growth.Rule, "widely")
}

// Of five vectors three have a single element: a first reserve of eight saves
// nothing of those, and three steps of the two others, 2,400 in all.
func TestMostDoNotGrow(t *testing.T) {
	p := ruletest.NewProgram(t)
	unevenly(p, vectorGrows, "collect list.cc:20", "collect list.cc:24", 2, 2, 256, func(i int) bool { return i%5 >= 3 })
	p.Finds(growth.Rule, "most_do_not_grow")
}

// Strings that are short need no block, and must not get one.
func TestWidelyStrings(t *testing.T) {
	p := ruletest.NewProgram(t)
	unevenly(p, stringGrows, "write text.cc:20", "write text.cc:24", 31, 62, 4000, oneInHundred)
	p.Finds(growth.Rule, "widely_strings")
}

// What an element takes while it is constructed in its new place is not the
// growth's: 3 of 4 blocks of this line are copies of what is pushed back.
func TestElements(t *testing.T) {
	p := ruletest.NewProgram(t)
	grow := p.Stack(recording.New, "operator new(unsigned long)", vectorGrows, "rows rows.cc:20")
	row := p.Stack(recording.New, "operator new(unsigned long)", "std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> > const&)",
		"void std::allocator_traits<std::allocator<Row> >::construct<Row, Row const&>(std::allocator<Row>&, Row*, Row const&)", vectorGrows, "rows rows.cc:20")
	for range 2000 {
		var rows []recordingtest.Block
		for range 12 {
			rows = append(rows, p.Alloc(row, 64))
		}
		grown(p, grow, 24, 192, vectorGrows, "main main.cc:66")
		for _, b := range rows {
			p.FreeFrom(b, p.By("main main.cc:66"))
		}
	}
	p.Finds(growth.Rule, "elements")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// One step each, and shrinking to fit.
	once := p.Stack(recording.Realloc, "fit fit.c:1")
	first := p.Stack(recording.Malloc, "fit fit.c:2")
	for range 500 {
		p.Free(p.Realloc(p.Alloc(first, 16), once, 64))
		p.Free(p.Realloc(p.Alloc(first, 256), once, 40))
	}
	// What Rust collects, of which rust-collect tells.
	collect := p.Stack(recording.Realloc, "alloc::alloc::realloc", "core::iter::traits::iterator::Iterator::collect", "words words.rs:13")
	for range 500 {
		b := p.Alloc(first, 32)
		for size := uint64(64); size <= 512; size *= 2 {
			b = p.Realloc(b, collect, size)
		}
		p.Free(b)
	}
	// Sizes that double, of blocks that are there together.
	level := p.Stack(recording.Malloc, "levels pyramid.c:1")
	for range 500 {
		var levels []recordingtest.Block
		for size := uint64(16); size <= 512; size *= 2 {
			levels = append(levels, p.Alloc(level, size))
		}
		for _, b := range levels {
			p.FreeFrom(b, p.By("levels pyramid.c:9"))
		}
		p.Free(p.Alloc(first, 16))
	}
	// A vector with its size known.
	sized := p.Stack(recording.New, "operator new(unsigned long)", "std::vector<int>::reserve(unsigned long)", "sized list.cc:20")
	for i := range uint64(500) {
		p.Free(p.Alloc(sized, 64+i%100))
	}
	p.Silent(growth.Rule)
}
