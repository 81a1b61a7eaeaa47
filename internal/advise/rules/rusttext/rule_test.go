package rusttext_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/rusttext"
	"mallow/internal/recording"
)

const (
	copies = "alloc::slice::<impl [T]>::to_vec_in"
	owned  = "alloc::str::<impl alloc::borrow::ToOwned for str>::to_owned"
)

func TestStay(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.Malloc, "alloc::alloc::alloc", copies, owned, "parse::text parse.rs:426")
	for i := range uint64(5000) {
		p.Alloc(name, 1+i%9)
	}
	p.Noise(2000)
	p.Finds(rusttext.Rule, "stay")
}

// A tenth of them is long: nobody knows which, but not more than the mean allows.
func TestSomeLong(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.Malloc, "alloc::alloc::alloc", copies, owned, "parse::text parse.rs:426")
	for i := range uint64(5000) {
		size := uint64(4)
		if i%10 == 0 {
			size = 60
		}
		p.Alloc(name, size)
	}
	p.Noise(2000)
	p.Finds(rusttext.Rule, "some-long")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	long := p.Stack(recording.Malloc, copies, owned, "parse::line parse.rs:1")
	soon := p.Stack(recording.Malloc, copies, owned, "parse::key parse.rs:2")
	bytes := p.Stack(recording.Malloc, copies, "alloc::slice::<impl [T]>::to_vec", "parse::bytes parse.rs:3")
	for range 5000 {
		p.Alloc(long, 60)
		p.Free(p.Alloc(soon, 4))
		p.Alloc(bytes, 8)
	}
	p.Silent(rusttext.Rule)
}
