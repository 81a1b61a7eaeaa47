package rustbox

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	p := ruletest.NewProgram(t)
	shapes := func(size uint64, n int) {
		p.Keep(n, size, p.Stack(recording.Malloc, "alloc::alloc::alloc", "alloc::boxed::box_new_uninit", "alloc::boxed::Box<T>::new", "scene::shapes scene.rs:17"))
	}
	shapes(8, 1000)
	shapes(16, 1000)
	// Great ones, the nodes of a BTreeMap, and reference counts.
	p.Keep(2000, 512, p.Stack(recording.Malloc, "alloc::boxed::Box<T>::new", "scene::pages scene.rs:20"))
	p.Keep(2000, 48, p.Stack(recording.Malloc, "alloc::boxed::Box<T,A>::new_uninit_in", "alloc::collections::btree::node::LeafNode<K,V>::new", "scene::index scene.rs:30"))
	p.Keep(2000, 32, p.Stack(recording.Malloc, "alloc::sync::Arc<T>::new_uninit", "scene::room scene.rs:40"))
	p.Keep(2000, 24, p.Stack(recording.Malloc, "alloc::boxed::Box<T>::new", "alloc::sync::Arc<T>::new", "scene::share scene.rs:50"))
	p.Golden(Rule)
}
