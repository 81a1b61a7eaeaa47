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

// Functions of core only call what they are given.
func TestPassedOn(t *testing.T) {
	const (
		bytes = "<alloc::vec::Vec<u8> as core::clone::Clone>::clone"
		clone = "<alloc::string::String as core::clone::Clone>::clone"
		owned = "<str as alloc::borrow::ToOwned>::to_owned"
		from  = "<alloc::string::String as core::convert::From<&str>>::from"
		slice = "alloc::slice::<impl [T]>::to_vec"
		once  = "core::ops::function::FnOnce::call_once"
	)
	p := ruletest.NewProgram(t)
	for i, way := range [][]string{
		{owned, from, "<T as core::convert::Into<U>>::into", "parser::name parser.rs:1"},
		{owned, from, "<&str as core::convert::Into<alloc::string::String>>::into", "parser::name parser.rs:2"},
		{bytes, clone, once, "core::option::Option<T>::map", "core::option::Option<&T>::cloned", "parser::known parser.rs:3"},
		{owned, "alloc::borrow::Cow<B>::into_owned", "parser::text parser.rs:4"},
		{owned, "<alloc::borrow::Cow<str>>::into_owned", "parser::text parser.rs:5"},
		{slice, "<alloc::vec::Vec<T> as core::convert::From<&[T]>>::from", "<T as core::convert::Into<U>>::into", "parser::bytes parser.rs:6"},
	} {
		p.Soon(1000+i, 20, p.Stack(recording.Malloc, append([]string{"alloc::alloc::alloc"}, way...)...))
	}
	// What a collection makes of clones is the collection's.
	p.Soon(1000, 20, p.Stack(recording.Malloc, bytes, clone, once, "core::option::Option<T>::map", "core::iter::traits::iterator::Iterator::fold", "<alloc::vec::Vec<T> as alloc::vec::spec_extend::SpecExtend<T,I>>::spec_extend", "parser::list parser.rs:7"))
	p.Finds(Rule, "passed_on")
}

// A clone of a map outlives those of its keys, but not the call that it is made for.
func TestCollection(t *testing.T) {
	const text = "<alloc::string::String as core::clone::Clone>::clone"
	maps := []string{"<hashbrown::map::HashMap<K,V,S,A> as core::clone::Clone>::clone", "<std::collections::hash::map::HashMap<K,V,S,A> as core::clone::Clone>::clone", "count::sum count.rs:10"}
	p := ruletest.NewProgram(t)
	table := p.Stack(recording.Malloc, append([]string{"alloc::alloc::alloc"}, maps...)...)
	key := p.Stack(recording.Malloc, append([]string{"alloc::alloc::alloc", text}, maps...)...)
	name := p.Stack(recording.Malloc, "alloc::alloc::alloc", text, "count::names count.rs:20")
	for range 200 {
		room := p.Alloc(table, 2000)
		p.Hold(50, 14, key)
		p.Free(room)
		p.Hold(50, 14, name) // of names alone nobody knows
	}
	p.Finds(Rule, "collection")
}
