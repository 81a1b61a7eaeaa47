package profile

import (
	"regexp"
	"testing"
)

func TestWrappers(t *testing.T) {
	for _, function := range []string{
		"operator new(unsigned long)",
		"operator new[](unsigned long, std::align_val_t)",
		"std::__new_allocator<char>::allocate(unsigned long, void const*)",
		"__gnu_cxx::new_allocator<std::pair<int const, Foo> >::allocate(unsigned long, void const*)",
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, unsigned long)",
		"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, int const&)",
		"std::shared_ptr<std::enable_if<!std::is_array<Node>::value, Node>::type> std::make_shared<Node, Node>(Node&&)",
		"xmalloc", "xstrdup", "g_malloc0", "g_strdup_printf", "asprintf", "__vasprintf_internal", "strdup",
		"PyMem_RawMalloc", "_PyMem_RawRealloc", "PyObject_Malloc", "_PyMem_DebugRawCalloc",
		"sqlite3MemMalloc", "sqlite3_malloc", "sqlite3DbMallocRaw", "sqlite3_malloc64",
		"__rust_alloc", "__rdl_realloc", "alloc::alloc::exchange_malloc", "alloc::raw_vec::RawVec<T,A>::grow_one",
		"<alloc::vec::Vec<T> as core::iter::traits::collect::FromIterator<T>>::from_iter",
		"<alloc::string::String as core::clone::Clone>::clone",
		"__rustc::__rust_alloc", "<mycrate::Counted as core::alloc::global::GlobalAlloc>::alloc_zeroed",
		"<u8 as <[_]>::to_vec_in::ConvertVec>::to_vec::<alloc::alloc::Global>",
		"<[u8]>::to_vec_in::<alloc::alloc::Global>",
		"<T as alloc::vec::spec_from_elem::SpecFromElem>::from_elem::<alloc::alloc::Global>",
		"<str as alloc::borrow::ToOwned>::to_owned",
		"<mycrate::Foo as <[_]>::to_vec_in::ConvertVec>::to_vec::<alloc::alloc::Global>",
		"<<alloc::string::String as core::convert::From<&str>>::from as core::ops::function::FnMut<(&str,)>>::call_mut",
		"<mycrate::parse as core::ops::function::FnOnce<(usize,)>>::call_once",
		"<&dyn core::ops::function::Fn<(), Output = i32> + core::panic::unwind_safe::RefUnwindSafe as core::ops::function::FnOnce<()>>::call_once",
		"<alloc::vec::Vec<m::Rec>>::push",
		"curl_maprintf", "Curl_memdup", "emalloc_real", "icalloc", "xmlStrndup", "zmalloc", "ztrymalloc_usable_internal", "jv_mem_alloc", "yyalloc", "zcalloc", "av_mallocz", "AcquireQuantumMemory", "AcquireAlignedMemory_POSIX", "AcquireSemaphoreMemory",
		"pg_malloc_internal", "pstrdup", "my_malloc", "my_multi_malloc", "ap_calloc",
		"yajl_internal_realloc", "default_bzalloc", "pugi::impl::(anonymous namespace)::default_allocate(unsigned long)", "defaultAlloc", "default_malloc", "_pcre2_memctl_malloc_8", "ft_mem_qrealloc", "png_malloc_base",
		"my_alloc", "xmallocz_gently", "xstrdup_or_null", "recallocarray", "allocate_array", "reallocate_array", "lsx_realloc_array",
		"__cxa_allocate_exception", "__cxxabiv1::__cxa_allocate_exception(unsigned long)", "__cxa_end_catch",
		"__gxx_exception_cleanup(_Unwind_Reason_Code, _Unwind_Exception*)",
		"xmalloc.part.0", "xmalloc.cold", "g_vasprintf",
		"__gnat_malloc", "system__pool_global__allocate", "ada__strings__unbounded__Oconcat__2",
		"_gfortran_pack", "_gfortrani_xmallocarray", "allocImpl__system_1725", "alignedAlloc0__system_u1897",
		"objc_calloc", "class_createInstance", "caml_stat_alloc_noexc", "stgMallocBytes", "rb_xmalloc_mul_add", "_emalloc", "Tcl_Alloc", "scm_realloc", "erts_sys_alloc",
		"decltype (::new ((void*)(0)) std::vector<int>((declval<int>)())) std::construct_at<std::vector<int>, int>(std::vector<int>*, int&&)",
		"decltype(::new((void*)0) T((declval<int>)())) std::construct_at<T, int>(T*, int&&)",
	} {
		if !isWrapper(function) {
			t.Errorf("%s is a wrapper", function)
		}
	}
	for _, function := range []string{
		"", "main", "ada_main__push", "push__t_7", "allocate__system_of_mine", "gfortran_pack", "poll_set_grow", "libsqlite3.so.0+0xa74f0", "xmalloc_statistics", "operatornew", "__cxa_demangle", "PyUnicode_New",
		"myalloc::grow", "stdx::vector<int>::push_back(int)", "PyObject_CallMethod",
		"Parser::parse(std::vector<int, std::allocator<int> > const&)",
		"std_string_of(char const*)",
		"void Parser::add<std::string>(std::string const&)",
		"std::vector<int, std::allocator<int> > collect<int>(int)",
		"<mycrate::Foo as core::clone::Clone>::clone", "<mycrate::Foo>::grow", "<&mycrate::Foo as core::fmt::Debug>::fmt",
		"<alloc::vec::Vec<u8> as mycrate::Encode>::encode",
		"(anonymous namespace)::Table::grow(unsigned long)",
		"main::{lambda(std::string)#1}::operator()(std::string) const",
		"mycrate::apply::<fn(u8) -> alloc::string::String>", "Table<int (*)() -> std::vector<int> >::grow()",
		"<", "<<<", ">(", "decltype", "decltype (", "decltype (std::f()) Parser::add<int>(int)", "decltypes", "decltype(std::f(",
	} {
		if isWrapper(function) {
			t.Errorf("%s is no wrapper", function)
		}
	}
}

func TestFortified(t *testing.T) {
	w := newWrappers(nil)
	for file, want := range map[string]bool{
		"/usr/include/x86_64-linux-gnu/bits/stdio2.h": true, "/usr/include/bits/string_fortified.h": true,
		"/usr/include/x86_64-linux-gnu/bits/types.h": false, "/src/bits/parse.h": false, "stdio2.h": false, "": false,
	} {
		if got := w.wraps(&Frame{Function: "fprintf", File: file}); got != want {
			t.Errorf("fprintf of %q: %v", file, got)
		}
	}
}

// Not every tool knows of which scope a function of a header is.
func TestHeadersOfCpp(t *testing.T) {
	w := newWrappers(nil)
	for file, want := range map[string]bool{
		"/usr/include/c++/12/bits/std_function.h": true, "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h": true,
		"/usr/lib/llvm-14/include/c++/v1/__functional/function.h": true, "/opt/gcc/include/c++/13.2.0/new": true,
		"/src/c++/12/function.h": false, "/usr/include/c++/mine/function.h": false, "/usr/include/c++/": false,
		"/usr/include/boost/function.hpp": false, "function.h": false, "": false,
	} {
		if got := w.wraps(&Frame{Function: "_M_create<main()::<lambda(int)> >", File: file}); got != want {
			t.Errorf("_M_create of %q: %v", file, got)
		}
	}
}

// A name with its scope or parameters tells itself whose the function is.
func TestUnscopedNames(t *testing.T) {
	const (
		header = "/usr/include/c++/12/bits/stl_algo.h"
		source = "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/alloc.rs"
	)
	w := newWrappers(nil)
	for function, want := range map[string]bool{
		"alloc": true, "to_vec<alloc::string::String, alloc::alloc::Global>": true, "{closure#0}": true, "words::parse": false,
	} {
		for file, want := range map[string]bool{source: want, "/src/words.rs": false} {
			if got := w.wraps(&Frame{Function: function, File: file}); got != want {
				t.Errorf("%s of %s: %v", function, file, got)
			}
		}
	}
	for function, want := range map[string]bool{
		"allocate": true, "_M_construct<char *>": true, "operator=": true, "operator()<int, int>": true, "operator<<<std::char_traits<char> >": true,
		"copy_if<int const*, evens(const std::vector<int>&)::<lambda(int)> >": true,
		"call_mut<fn(usize) -> std::vector<int>, (usize)>":                    true,
		"evens(std::vector<int> const&)":                                      false, "shape::parse": false, "main": false, "": false,
	} {
		if got := w.wraps(&Frame{Function: function, File: header}); got != want {
			t.Errorf("%s: %v", function, got)
		}
	}
}

// Before it has libc's malloc, ld.so calls its own by inline functions of the
// same names.
func TestLoaderWrappers(t *testing.T) {
	w := newWrappers(nil)
	for _, function := range []string{"malloc", "calloc", "realloc", "free"} {
		for file, want := range map[string]bool{
			"/build/glibc-2.36/elf/../include/rtld-malloc.h": true, "./elf/../include/rtld-malloc.h": true, "rtld-malloc.h": true,
			"/src/my-rtld-malloc.h": false, "/src/malloc.c": false, "": false,
		} {
			if got := w.wraps(&Frame{Function: function, File: file}); got != want {
				t.Errorf("%s of %q: %v", function, file, got)
			}
		}
	}
}

// What of the libraries of Ada, Nim and Zig is compiled into a program is known by its
// files.
func TestLanguageSources(t *testing.T) {
	for file, want := range map[string]bool{
		"/usr/lib/gcc/x86_64-linux-gnu/12/adainclude/a-convec.adb":            true,
		"/usr/lib/nim/lib/system/strs_v2.nim":                                 true,
		"/opt/choosenim/toolchains/nim-2.0.0/lib/pure/collections/tables.nim": true,
		"/opt/zig-x86_64-linux-0.15.1/lib/std/mem/Allocator.zig":              true,
		"/usr/lib/zig/std/array_list.zig":                                     true,
		"/src/lib/words.zig":                                                  false,
		"/src/nim/words.nim":                                                  false,
		"/src/nim/lib/glue.c":                                                 false,
		"/src/a-convec.adb":                                                   false,
		"":                                                                    false,
	} {
		w := newWrappers(nil)
		if got := w.wraps(&Frame{Function: "append", File: file}); got != want || w.files[file] != want {
			t.Errorf("%q: %v", file, got)
		}
	}
}

// What the library of a language does not export has no name.
func TestNamelessFunctionsOfLanguages(t *testing.T) {
	w := newWrappers(nil)
	for _, c := range []struct {
		function, module string
		want             bool
	}{
		{"libstdc++.so.6+0x16a990", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", true},
		{"libc++.so.1+0x990", "/usr/lib/libc++.so.1", true},
		{"libc++abi.so.1+0x990", "/usr/lib/libc++abi.so.1", true},
		{"libgfortran.so.5+0x990", "/usr/lib/x86_64-linux-gnu/libgfortran.so.5", true},
		{"libgnat-12.so+0x990", "/usr/lib/x86_64-linux-gnu/libgnat-12.so", true},
		{"libz.so.1+0x990", "/usr/lib/libz.so.1", false},
		{"tool+0x990", "/usr/bin/tool", false},
		{"__cxa_demangle", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", false},
		{"", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", false},
	} {
		if got := w.wraps(&Frame{Function: c.function, Module: c.module}); got != c.want {
			t.Errorf("%s of %s: %v", c.function, c.module, got)
		}
	}
	met := make(map[string]bool)
	w.each(func(function string) { met[function] = true })
	if len(met) != 5 || !met["libstdc++.so.6+0x16a990"] {
		t.Errorf("met %v", met)
	}
}

// Whose an implementation is tells the file: names of version 0 have the types
// that a generic one is made for.
func TestRustImplementationsByFile(t *testing.T) {
	const (
		released = "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/slice.rs"
		source   = "/opt/rust/lib/rustlib/src/rust/library/core/src/convert/mod.rs"
		table    = "/rust/deps/hashbrown-0.16.1/src/raw.rs"
		crate    = "/opt/cargo/registry/src/registry-1/hashbrown-0.15.2/src/raw/mod.rs"
		own      = "/src/main.rs"
	)
	for _, c := range []struct {
		function, file string
		want           bool
	}{
		{"<mycrate::Tag as core::convert::Into<alloc::string::String>>::into", source, true},
		{"<(mycrate::Name, u32) as core::clone::Clone>::clone", released, true},
		{"<mycrate::Name as core::array::SpecArrayClone>::clone::<2>", released, true},
		{"<alloc::vec::Vec<mycrate::Name> as core::clone::Clone>::clone", released, true},
		{"<alloc::boxed::Box<dyn core::error::Error> as core::convert::From<mycrate::Oops>>::from", released, true},
		{"<hashbrown::raw::RawTable<(mycrate::Name, u32)> as core::clone::Clone>::clone", table, true},
		{"<hashbrown::raw::RawTable<(mycrate::Name, u32)> as core::clone::Clone>::clone", crate, true},
		{"<alloc::string::String as core::convert::From<mycrate::Tag>>::from", own, false},
		{"<alloc::string::String as core::iter::traits::collect::FromIterator<mycrate::Tag>>::from_iter", own, false},
		{"<alloc::string::String as core::convert::From<&str>>::from", "", true},
		{"<alloc::vec::Vec<T,A> as alloc::vec::spec_extend::SpecExtend<T,I>>::spec_extend", "/usr/src/rustc-1.63.0/library/alloc/src/vec/spec_extend.rs", true},
		{"<alloc::vec::Vec<T,A> as alloc::vec::spec_extend::SpecExtend<T,I>>::spec_extend", "/elsewhere/spec_extend.rs", true},
		{"<mycrate::Counted<std::alloc::System> as core::alloc::global::GlobalAlloc>::realloc", "/src/counted.rs", true},
		{"<mycrate::Counted as mycrate::GlobalAlloc>::alloc", "/src/counted.rs", false},
		{"<[mycrate::Name]>::to_vec", "/usr/src/rustc-1.63.0/library/alloc/src/slice.rs", true},
		{"<mycrate::Name as core::clone::Clone>::clone", own, false},
		{"mycrate::parse", own, false},
	} {
		if got := newWrappers(nil).wraps(&Frame{Function: c.function, File: c.file}); got != c.want {
			t.Errorf("%s of %q: %v", c.function, c.file, got)
		}
	}
	w := newWrappers([]*regexp.Regexp{regexp.MustCompile("Tag>>::from$")})
	if !w.wraps(&Frame{Function: "<alloc::string::String as core::convert::From<mycrate::Tag>>::from", File: own}) {
		t.Error("an expression that names it does not make it one")
	}
}

func FuzzWrapper(f *testing.F) {
	f.Add("void std::vector<int>::push_back(int&&)")
	f.Add("<alloc::vec::Vec<T> as core::clone::Clone>::clone")
	f.Fuzz(func(_ *testing.T, function string) { isWrapper(function) })
}

// Reports show names without anonymous namespaces, and names are copied from
// reports.
func TestExpressionsMatchNamesAsTheyAreShown(t *testing.T) {
	const name = "net::(anonymous namespace)::both(int)"
	for expression, want := range map[string]bool{
		`net::both`:                          true,
		`^net::both\(int\)$`:                 true,
		`net::\(anonymous namespace\)::both`: true,
		`^both`:                              false,
		`anonymous`:                          true,
	} {
		e := []*regexp.Regexp{regexp.MustCompile(expression)}
		m := matcher{expressions: e}
		if got := m.frame(Frame{Function: name}); got != want {
			t.Errorf("filter %s: %v", expression, got)
		}
		if got := newWrappers(e).match(name); got != want {
			t.Errorf("wrapper %s: %v", expression, got)
		}
	}
}
