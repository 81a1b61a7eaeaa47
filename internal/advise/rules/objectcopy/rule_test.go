package objectcopy_test

import (
	"fmt"
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/objectcopy"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

const (
	copyRow  = "db::Row<std::map>::Row(db::Row<std::map> const&) row.h:20"
	copyCell = "db::Cell::Cell(db::Cell const&) cell.h:8"
	keep     = "db::Cell::Text::make(char const*) cell.h:30"
	copyMap  = "std::map<int, db::Cell>::map(std::map<int, db::Cell> const&)"
)

// copies makes what a row holds, as often as times says, and throws it away.
func copies(p *ruletest.Program, times int, outer ...string) {
	cells := p.Stack(recording.New, append([]string{"operator new(unsigned long)", keep, copyCell, copyMap, copyRow}, outer...)...)
	nodes := p.Stack(recording.New, append([]string{"operator new(unsigned long)", copyMap, copyRow}, outer...)...)
	for range times {
		var all []recordingtest.Block
		for range 20 {
			all = append(all, p.Alloc(nodes, 48), p.Alloc(cells, 30))
		}
		for _, b := range all {
			p.Free(b)
		}
	}
}

// A loop copies each row, and so does a function that takes it by value. Of
// what a row holds the line that has the row copied is told, and only it.
func TestRows(t *testing.T) {
	p := ruletest.NewProgram(t)
	copies(p, 100, "main main.cc:12")
	copies(p, 50, "sum(db::Row<std::map>) sum.cc:3", "main main.cc:20")
	p.Noise(1000)
	p.Finds(objectcopy.Rule, "rows")
}

// What the class holds comes from malloc. Of its copies on one line half stay.
func TestMalloc(t *testing.T) {
	p := ruletest.NewProgram(t)
	names := []string{"json::duplicate value.cc:121", "json::Key::Key(json::Key const&) value.cc:248"}
	thrown := p.Stack(recording.Malloc, append(names, "json::resolve(char const*) value.cc:1069", "main main.cc:9")...)
	kept := p.Stack(recording.Malloc, append(names, "json::resolve(char const*) value.cc:1070", "main main.cc:9")...)
	for i := range uint64(2000) {
		b := p.Alloc(thrown, 5+i%20)
		p.Alloc(kept, 5+i%20)
		p.Free(b)
	}
	p.Finds(objectcopy.Rule, "malloc")
}

// What is put into a map is copied twice on the way, and the map goes when a document
// is done: the copy in the map is needed once the other one is not made.
func TestOnTheWayIntoMap(t *testing.T) {
	p := ruletest.NewProgram(t)
	names := []string{"json::duplicate value.cc:121", "json::Key::Key(json::Key const&) value.cc:248"}
	member := p.Stack(recording.Malloc, append(names, "json::resolve(char const*) value.cc:1069", "main main.cc:9")...)
	kept := p.Stack(recording.Malloc, append(names, "json::resolve(char const*) value.cc:1070", "main main.cc:9")...)
	for range 50 {
		var document []recordingtest.Block
		for i := range uint64(40) {
			b := p.Alloc(member, 5+i%20)
			document = append(document, p.Alloc(kept, 5+i%20))
			p.Free(b)
		}
		for _, b := range document {
			p.FreeFrom(b, p.By("json::~Value value.cc:300"))
		}
	}
	p.Finds(objectcopy.Rule, "on_the_way_into_map")
}

// A class is copied at many lines, none of which matters by itself: together
// they do.
func TestLines(t *testing.T) {
	p := ruletest.NewProgram(t)
	for line := range 5 {
		copies(p, 1+line, fmt.Sprintf("parse parse.cc:%d", 10+line), "main main.cc:30")
	}
	p.Noise(20_000)
	p.Finds(objectcopy.Rule, "lines")
}

func TestAssignment(t *testing.T) {
	p := ruletest.NewProgram(t)
	set := p.Stack(recording.NewArray, "operator new[](unsigned long)", "Image::operator=(Image const&) image.cc:9", "show show.cc:7")
	for range 500 {
		b := p.Alloc(set, 300)
		p.Noise(2)
		p.Free(b)
	}
	p.Finds(objectcopy.Rule, "assignment")
}

// What Rust clones is larger than what the rule for clones looks at: it is not gone at once.
func TestClone(t *testing.T) {
	p := ruletest.NewProgram(t)
	tags := p.Stack(recording.Malloc, "alloc::alloc::alloc", "alloc::slice::<impl [T]>::to_vec_in", "<alloc::string::String as core::clone::Clone>::clone",
		"<alloc::vec::Vec<T,A> as core::clone::Clone>::clone", "<table::Row as core::clone::Clone>::clone table.rs:3", "table::sum table.rs:30")
	for range 100 {
		var all []recordingtest.Block
		for range 40 {
			all = append(all, p.Alloc(tags, 9))
		}
		for _, b := range all {
			p.Free(b)
		}
	}
	p.Finds(objectcopy.Rule, "clone")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	// Copies that stay are needed.
	stay := p.Stack(recording.New, "operator new(unsigned long)", copyCell, "remember cache.cc:4")
	// Those of the standard library have rules of their own.
	list := p.Stack(recording.New, "operator new(unsigned long)", copyMap, "visit visit.cc:3")
	// A constructor that takes something else copies nothing.
	made := p.Stack(recording.New, "operator new(unsigned long)", "Image::Image(char const*, unsigned long) image.cc:3", "load load.cc:5")
	// The object that is copied at last lies too far out.
	far := p.Stack(recording.New, "operator new(unsigned long)", "a a.cc:1", "b a.cc:2", "c a.cc:3", "d a.cc:4", copyCell, "e a.cc:5")
	for range 2000 {
		p.Alloc(stay, 30)
		p.Free(p.Alloc(list, 48))
		p.Free(p.Alloc(made, 50))
		p.Free(p.Alloc(far, 60))
	}
	p.Silent(objectcopy.Rule)
}
