package sharedptr

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	const count = "std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count"
	p := ruletest.NewProgram(t)
	p.Keep(2000, 24, p.Stack(recording.New, count+"<Node*>(Node*)", count+"<Node*>(Node*, std::integral_constant<bool, false>)",
		"std::shared_ptr<Node>::shared_ptr<Node, void>(Node*)", "insert tree.cc:35"))
	p.Keep(2000, 32, p.Stack(recording.New, "insert tree.cc:35"))
	p.Keep(800, 24, p.Stack(recording.New, count+"<(anonymous namespace)::Block*>", "std::shared_ptr<(anonymous namespace)::Block>::shared_ptr<(anonymous namespace)::Block>", "fill tree.cc:55"))
	p.Keep(500, 24, p.Stack(recording.New, count+"<Table<int, long>*>(Table<int, long>*)", "open tree.cc:50"))
	p.Keep(400, 48, p.Stack(recording.New, count+"<Shape, std::default_delete<Shape> >(std::unique_ptr<Shape, std::default_delete<Shape> >&&)",
		"std::shared_ptr<Shape>::shared_ptr<Shape, std::default_delete<Shape>, void>(std::unique_ptr<Shape, std::default_delete<Shape> >&&)", "share tree.cc:80"))
	// make_shared, and a deleter of one's own.
	p.Keep(2000, 48, p.Stack(recording.New,
		"std::__new_allocator<std::_Sp_counted_ptr_inplace<Node, std::allocator<void>, (__gnu_cxx::_Lock_policy)2> >::allocate(unsigned long, void const*)",
		count+"<Node, std::allocator<void> >(Node*&, std::_Sp_alloc_shared_tag<std::allocator<void> >)", "make tree.cc:60"))
	p.Keep(2000, 32, p.Stack(recording.New, count+"<_IO_FILE*, int (*)(_IO_FILE*)>(_IO_FILE*, int (*)(_IO_FILE*))", "files tree.cc:70"))
	p.Golden(Rule)
}
