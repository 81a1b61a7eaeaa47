package table_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	table_ "mallow/internal/advise/rules/table"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// A table of 53 lists, which another part of the program makes, too.
func TestTable(t *testing.T) {
	p := ruletest.NewProgram(t)
	table := p.Stack(recording.Malloc, "cache_new cache.c:88")
	slot := p.Stack(recording.Malloc, "list_new list.c:33", "cache_new cache.c:89")
	host := p.Stack(recording.Malloc, "list_new list.c:33", "cache_add cache.c:117")
	name := p.Stack(recording.Strdup, "strdup", "cache_add cache.c:118")
	for range 50 {
		blocks := []recordingtest.Block{p.Alloc(table, 424)}
		for range 53 {
			blocks = append(blocks, p.Alloc(slot, 24))
		}
		for range 6 {
			blocks = append(blocks, p.Alloc(name, 10), p.Alloc(host, 24))
		}
		for i := len(blocks) - 1; i >= 0; i-- {
			p.FreeFrom(blocks[i], p.By("cache_free cache.c:140"))
		}
	}
	p.Finds(table_.Rule, "table")
}

// The remedy is one that the language has: neither Rust nor C++ puts elements behind a vector.
func TestWords(t *testing.T) {
	p := ruletest.NewProgram(t)
	rows := func(table, element recordingtest.Stack, by string) {
		for range 20 {
			blocks := []recordingtest.Block{p.Alloc(table, 1600)}
			for range 100 {
				blocks = append(blocks, p.Alloc(element, 8))
			}
			for i := len(blocks) - 1; i >= 0; i-- {
				p.FreeFrom(blocks[i], p.By(by))
			}
		}
	}
	rows(p.Stack(recording.Malloc, "alloc::alloc::alloc", "alloc::raw_vec::RawVecInner<A>::try_allocate_in", "draw::shapes draw.rs:10"),
		p.Stack(recording.Malloc, "alloc::alloc::alloc", "alloc::boxed::Box<T>::new", "draw::shapes::{{closure}} draw.rs:11", "draw::shapes draw.rs:10"), "draw::shapes draw.rs:12")
	rows(p.Stack(recording.New, "operator new(unsigned long)", "make scene.cc:20"), p.Stack(recording.New, "operator new(unsigned long)", "make scene.cc:21"), "drop scene.cc:30")
	p.Finds(table_.Rule, "words")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// Elements come and go while the table stays.
	table := p.Stack(recording.Malloc, "host_add host.c:8")
	element := p.Stack(recording.Malloc, "host_add host.c:9")
	for range 100 {
		kept := p.Alloc(table, 64)
		for range 20 {
			p.Free(p.Alloc(element, 24))
		}
		p.Free(kept)
	}
	// A block with too little room for pointers to all that follow it.
	text := p.Stack(recording.Malloc, "event_new event.c:8")
	field := p.Stack(recording.Malloc, "event_new event.c:9")
	for range 1000 {
		blocks := []recordingtest.Block{p.Alloc(text, 40)}
		for range 7 {
			blocks = append(blocks, p.Alloc(field, 40))
		}
		for _, b := range blocks {
			p.FreeFrom(b, p.By("event_free event.c:20"))
		}
	}
	p.Silent(table_.Rule)
}
