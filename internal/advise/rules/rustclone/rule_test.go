package rustclone

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	const text = "<alloc::string::String as core::clone::Clone>::clone"
	p := ruletest.NewProgram(t)
	p.Soon(2000, 9, p.Stack(recording.Malloc, "alloc::alloc::alloc", "<alloc::vec::Vec<u8> as core::clone::Clone>::clone", text, "parser::names parser.rs:8"))
	p.Soon(1000, 16, p.Stack(recording.Malloc, "alloc::slice::<impl [T]>::to_vec_in", "<str as alloc::borrow::ToOwned>::to_owned", "parser::key parser.rs:12"))
	p.Soon(1500, 20, p.Stack(recording.Malloc, "alloc::slice::<impl [T]>::to_vec_in", "alloc::slice::<impl [T]>::to_vec", "parser::field parser.rs:16"))
	// The caller of a type's own implementation of Clone is told by object-copy.
	p.Soon(3000, 12, p.Stack(recording.Malloc, text, "<parser::Item as core::clone::Clone>::clone parser.rs:2", "parser::visit parser.rs:20"))
	// A copy that is changed is none to borrow.
	p.Soon(2000, 34, p.Stack(recording.Malloc, "<str as alloc::borrow::ToOwned>::to_owned", "alloc::str::<impl str>::to_ascii_lowercase", "parser::path parser.rs:40"))
	// Who keeps a clone needs it.
	p.Keep(2000, 9, p.Stack(recording.Malloc, text, "parser::remember parser.rs:30"))
	p.Golden(Rule)
}
