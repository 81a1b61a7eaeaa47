package rustformat

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	p := ruletest.NewProgram(t)
	p.Soon(2000, 32, p.Stack(recording.Malloc, "<alloc::string::String>::with_capacity", "alloc::fmt::format::format_inner", "alloc::fmt::format", "server::line server.rs:10"))
	p.Soon(1000, 4, p.Stack(recording.Malloc, "<str as alloc::borrow::ToOwned>::to_owned", "<usize as alloc::string::SpecToString>::spec_to_string",
		"<T as alloc::string::ToString>::to_string", "server::id server.rs:11"))
	p.Soon(3000, 8, p.Stack(recording.Malloc, "<str as alloc::borrow::ToOwned>::to_owned", "<str as alloc::string::SpecToString>::spec_to_string",
		"<T as alloc::string::ToString>::to_string", "server::lookup server.rs:14"))
	p.Soon(4000, 8, p.Stack(recording.Malloc, "<alloc::string::String>::push_str", "alloc::str::<impl str>::replace", "server::path server.rs:17"))
	// Who keeps a few of them needs those.
	keys := p.Stack(recording.Malloc, "alloc::fmt::format::format_inner", "server::count server.rs:30")
	p.Keep(300, 8, keys)
	p.Soon(1700, 8, keys)
	p.Keep(1000, 32, p.Stack(recording.Malloc, "alloc::fmt::format::format_inner", "server::names server.rs:20"))
	p.Golden(Rule)
}
