package profile

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mallow/internal/signature"
)

// wrappers decides which functions only pass allocations on, so that the site
// is who called them.
type wrappers struct {
	extra []*regexp.Regexp
	known map[string]bool // what was decided
	// elsewhere are wrappers that not their name makes one, but their file or module.
	elsewhere map[string]bool
	// files are those whose functions are wrappers, in C++ and Rust where their names have no scope.
	files map[string]bool
}

func newWrappers(extra []*regexp.Regexp) *wrappers {
	return &wrappers{extra: extra, known: make(map[string]bool), elsewhere: make(map[string]bool), files: make(map[string]bool)}
}

// wraps tells whether a frame only passes allocations on.
func (w *wrappers) wraps(f *Frame) bool {
	if f.Function != "" && !f.Named() && IsLanguageLibrary(f.Module) {
		w.elsewhere[f.Function] = true // one that the library does not export
		return true
	}
	if strings.HasPrefix(f.Function, "<") && f.File != "" {
		// The name alone does not tell whose an implementation is: of generic ones it
		// has the types that they are made for, and From<Mine> for String is the
		// program's.
		if self, trait, ok := rustImplementation(f.Function); ok {
			if isRustFile(f.File) || isGlobalAlloc(trait) {
				w.elsewhere[f.Function] = true
				return true
			}
			if ofOthers(self) || ofOthers(trait) {
				return w.named(f.Function)
			}
		}
	}
	if w.match(f.Function) || isFortified(f.File) || isLoaders(f.File) {
		return true
	}
	if isLanguageSource(f.File) || isUnscoped(f.Function) && (isCppFile(f.File) || isRustFile(f.File)) {
		w.files[f.File] = true
		return true
	}
	return false
}

// IsLanguageLibrary tells the shared libraries of C++, Fortran and Ada themselves.
func IsLanguageLibrary(module string) bool {
	name := path.Base(module)
	return slices.ContainsFunc(languageLibraries, func(start string) bool { return strings.HasPrefix(name, start) })
}

var languageLibraries = []string{"libstdc++.so", "libc++.so", "libc++abi.so", "libgfortran.so", "libgnat-", "libgnarl-"}

// isCppFile tells the headers of the library of C++. Of what is inlined from them
// not all know the scope: heaptrack does not where a type of the program is in
// the name, and -gline-tables-only of clang and rustc never.
func isCppFile(file string) bool {
	before, after, ok := strings.Cut(file, "/c++/")
	version := strings.TrimPrefix(after, "v")
	return ok && version != "" && '0' <= version[0] && version[0] <= '9' &&
		(strings.HasSuffix(before, "/include") || strings.HasSuffix(path.Dir(before), "/include"))
}

// isUnscoped tells whether a name is that of a function alone. One that was not
// inlined has its parameters too, and may be of the program: without inlined
// functions in the debug information its line can be one of a header.
func isUnscoped(function string) bool {
	if function == "" || function == "main" {
		return false
	}
	for p := range signature.Parts(function) {
		if p.Depth == 0 && (p.Kind == signature.Open && p.Text == "(" || p.Kind == signature.Scope && p.Start > 0) {
			return false
		}
	}
	return !strings.HasPrefix(function, "(anonymous namespace)")
}

// isRustFile tells sources of Rust's own libraries, wherever those were built.
func isRustFile(file string) bool {
	return strings.HasPrefix(file, "/rustc/") || strings.HasPrefix(file, "/rust/deps/") || rustSources.MatchString(file)
}

var rustSources = regexp.MustCompile(`(^|/rust[^/]*/)library/(alloc|core|std)/src/|/hashbrown-[^/]*/src/`)

// ofOthers tells whether a type or trait of Rust is of, or made for, something
// that is not of its own libraries.
func ofOthers(name string) bool {
	return slices.ContainsFunc(crates.FindAllStringSubmatch(name, -1), func(crate []string) bool { return !inLibrary(crate[1]) })
}

// crates are where paths begin.
var crates = regexp.MustCompile(`(?:^|[^\w:>])(\w+::)`)

// fortified are the headers of glibc whose functions stand before functions of
// libc of the same name, inlined into those who call them.
var fortified = names("stdio.h", "stdio2.h", "stdlib.h", "string_fortified.h", "strings_fortified.h", "unistd.h", "wchar2.h",
	"fcntl2.h", "poll2.h", "select2.h", "socket2.h", "syslog.h", "mqueue2.h", "setjmp2.h")

func isFortified(file string) bool {
	at := strings.LastIndex(file, "/bits/")
	return at >= 0 && fortified[file[at+len("/bits/"):]]
}

// isLoaders tells the header by whose inline functions ld.so calls malloc.
func isLoaders(file string) bool { return file[strings.LastIndexByte(file, '/')+1:] == "rtld-malloc.h" }

// isLanguageSource tells what the libraries of Ada, Nim and Zig compile into a
// program: Ada's generic packages, whose functions have the program's names, and
// all of Nim's and Zig's, whose have everybody's.
func isLanguageSource(file string) bool {
	switch path.Ext(file) {
	case ".adb", ".ads":
		return strings.Contains(file, "/adainclude/")
	case ".nim":
		return nimSources.MatchString(file)
	case ".zig":
		return strings.Contains(file, "/lib/std/") || strings.Contains(file, "/zig/std/")
	}
	return false
}

var nimSources = regexp.MustCompile(`/nim[^/]*/lib/`)

func (w *wrappers) match(function string) bool {
	if function == "" {
		return false
	}
	wraps, decided := w.known[function]
	if !decided {
		wraps = isWrapper(function) || w.named(function)
		w.known[function] = wraps
	}
	return wraps
}

// named tells whether a function is one of those that were asked for.
func (w *wrappers) named(function string) bool {
	return slices.ContainsFunc(w.extra, func(e *regexp.Regexp) bool { return MatchesName(e, function) })
}

// MatchesName tells whether an expression matches the name of a function, as it
// is or as reports show it: they leave namespaces without a name out.
func MatchesName(e *regexp.Regexp, function string) bool {
	shown := signature.WithoutAnonymous(function)
	return e.MatchString(function) || shown != function && e.MatchString(shown)
}

// each visits the wrappers that were met.
func (w *wrappers) each(visit func(function string)) {
	for function, wraps := range w.known {
		if wraps {
			visit(function)
		}
	}
	for function := range w.elsewhere {
		visit(function)
	}
}

// libraryScopes are the standard libraries of C++, Rust, Ada and Fortran: whatever they
// allocate, their caller wanted it.
var libraryScopes = []string{"std::", "__gnu_cxx::", "__cxxabiv1::", "alloc::", "core::", "hashbrown::", "__rustc::",
	"mallow::api::",
	"ada__", "system__", "gnat__", "__gnat_", // as GNAT writes them
	"_gfortran_", "_gfortrani_"}

// wrapperNames are the families of plain functions, by name.
var wrapperNames = names(
	// operator new, and what Rust calls instead
	"operator new", "operator new[]",
	"__rust_alloc", "__rust_alloc_zeroed", "__rust_realloc",
	"__rdl_alloc", "__rdl_alloc_zeroed", "__rdl_realloc", "__rg_alloc", "__rg_alloc_zeroed", "__rg_realloc",
	"exchange_malloc",
	// the C++ run time, when something is thrown
	"__cxa_allocate_exception", "__cxa_allocate_dependent_exception",
	"__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_throw_bad_array_new_length",
	// libc: copies of strings, and formatters that allocate what they return
	"strdup", "strndup", "__strdup", "__strndup", "wcsdup", "__wcsdup",
	"posix_memalign", "tc_posix_memalign", // where libmallow is linked statically
	"asprintf", "vasprintf", "__asprintf", "__vasprintf", "___asprintf", "__asprintf_chk", "__vasprintf_chk",
	"__vasprintf_internal",
	// GNU and BSD programs: allocate or die
	"xmalloc", "xcalloc", "xrealloc", "xreallocarray", "xzalloc", "xnmalloc", "xnrealloc", "xcharalloc",
	"ximalloc", "xicalloc", "xirealloc", "xizalloc", "ximemdup", "x2realloc", "x2nrealloc", "xpalloc",
	"xmallocz", "do_xmalloc", "do_xmallocz", "xmallocarray", "xmemdup", "xmemdup0", "xmemdupz", "ximemdup0",
	"xstrdup", "xstrndup", "xasprintf", "xvasprintf", "sh_xmalloc", "sh_xrealloc",
	"recallocarray", "xrecallocarray", "imalloc", "icalloc", "irealloc", "ireallocarray",
	"emalloc", "ecalloc", "erealloc", "estrdup", "emalloc_real", "ezalloc_real", "erealloc_real", "safe_malloc", "safe_calloc", "safe_realloc", "safe_strdup",
	"checked_malloc", "checked_realloc", "savestring", "Perl_safesysmalloc", "Perl_safesyscalloc",
	"Perl_safesysrealloc", "Perl_savepv", "Perl_savepvn",
	// GLib
	"g_malloc", "g_malloc0", "g_malloc_n", "g_malloc0_n", "g_realloc", "g_realloc_n", "g_try_malloc",
	"g_try_malloc0", "g_try_malloc_n", "g_try_malloc0_n", "g_try_realloc", "g_try_realloc_n",
	"g_aligned_alloc", "g_aligned_alloc0", "g_slice_alloc", "g_slice_alloc0", "g_slice_copy",
	"g_memdup", "g_memdup2", "g_strdup", "g_strndup", "g_strdup_printf", "g_strdup_vprintf", "g_vasprintf", "g_strconcat",
	"g_strjoin",
	// SQLite
	"sqlite3_malloc", "sqlite3_malloc64", "sqlite3_realloc", "sqlite3_realloc64",
	"sqlite3MemMalloc", "sqlite3MemRealloc", "sqlite3Malloc", "sqlite3MallocZero", "sqlite3Realloc",
	"mallocWithAlarm", "sqlite3DbMallocRaw", "sqlite3DbMallocRawNN", "dbMallocRawFinish", "sqlite3DbMallocZero",
	"sqlite3DbRealloc", "dbReallocFinish", "sqlite3DbReallocOrFree", "sqlite3DbStrDup", "sqlite3DbStrNDup",
	"sqlite3DbSpanDup", "sqlite3_mprintf", "sqlite3_vmprintf", "sqlite3MPrintf", "sqlite3VMPrintf",
	"sqlite3_str_vappendf", "sqlite3StrAccumEnlarge", "sqlite3StrAccumFinish", "strAccumFinishRealloc",
	// OpenSSL, nginx, libuv, Lua
	"CRYPTO_malloc", "CRYPTO_zalloc", "CRYPTO_calloc", "CRYPTO_realloc", "CRYPTO_clear_realloc", "CRYPTO_strdup",
	"CRYPTO_strndup", "CRYPTO_memdup", "CRYPTO_aligned_alloc", "CRYPTO_malloc_array", "CRYPTO_realloc_array",
	"ngx_alloc", "ngx_calloc", "ngx_memalign", "uv__malloc", "uv__calloc", "uv__realloc", "uv__reallocf", "uv__strdup",
	"uv__strndup", "l_alloc", "luaM_malloc_", "luaM_realloc_", "luaM_saferealloc_", "luaM_growaux_",
	// git, rsync, flex, SoX; jq, nano, gnuplot, zsh, poppler; mawk, redis and graphviz; scanners that flex makes
	"xmallocz_gently", "xstrdup_or_null", "my_alloc", "allocate_array", "reallocate_array", "lsx_realloc", "lsx_realloc_array",
	"jv_mem_alloc", "jv_mem_alloc_unguarded", "jv_mem_calloc", "jv_mem_calloc_unguarded", "jv_mem_realloc", "jv_mem_strdup",
	"jv_mem_strdup_unguarded", "nmalloc", "nrealloc", "measured_copy", "copy_of", "gp_alloc", "gp_realloc", "gp_strdup",
	"zalloc", "zshcalloc", "ztrdup", "gmalloc", "gmallocn", "grealloc", "greallocn", "copyString",
	"zmalloc", "zcalloc", "zrealloc", "zstrdup", "yyalloc", "yyrealloc",
	"zmalloc_usable", "ztrymalloc", "ztrymalloc_usable", "ztrymalloc_usable_internal", "zcalloc_num", "zcalloc_usable", "ztrycalloc",
	"ztrycalloc_usable", "ztrycalloc_usable_internal", "zrealloc_usable", "ztryrealloc", "ztryrealloc_usable", "ztryrealloc_usable_internal",
	// the tools of PostgreSQL, MariaDB and MySQL, Apache
	"pg_malloc", "pg_malloc0", "pg_malloc_extended", "pg_malloc_internal", "pg_realloc", "pg_strdup",
	"palloc", "palloc0", "palloc_extended", "repalloc", "pstrdup", "pnstrdup",
	"my_malloc", "my_realloc", "my_strdup", "my_strndup", "my_memdup", "my_multi_malloc", "ap_malloc", "ap_calloc", "ap_realloc",
	// FFmpeg, ImageMagick, libxml2, liblzma, libevent
	"av_malloc", "av_mallocz", "av_calloc", "av_malloc_array", "av_mallocz_array", "av_realloc", "av_realloc_f", "av_realloc_array",
	"av_reallocp", "av_reallocp_array", "av_strdup", "av_strndup", "av_memdup", "AcquireMagickMemory", "AcquireQuantumMemory",
	"AcquireCriticalMemory", "AcquireAlignedMemory", "AcquireAlignedMemory_POSIX", "AcquireSemaphoreMemory", "ResizeMagickMemory", "ResizeQuantumMemory", "AcquireString", "ConstantString",
	"xmlStrdup", "xmlStrndup", "xmlCharStrdup", "xmlCharStrndup", "lzma_alloc", "lzma_alloc_zero", "event_mm_malloc_", "event_mm_calloc_", "event_mm_realloc_", "event_mm_strdup_",
	// what the hooks for a malloc lead to where there is none: yajl, bzip2, pugixml, HTML Tidy, PCRE2, nghttp2, c-ares, Jansson, Expat
	"yajl_internal_malloc", "yajl_internal_realloc", "default_bzalloc", "pugi::impl::default_allocate", "defaultAlloc", "defaultRealloc",
	"default_malloc", "default_calloc", "default_realloc", "_pcre2_memctl_malloc_8", "_pcre2_memctl_malloc_16", "_pcre2_memctl_malloc_32",
	"ares_malloc", "ares_malloc_zero", "ares_realloc", "ares_realloc_zero", "ares_strdup", "jsonp_malloc", "jsonp_strdup", "jsonp_strndup",
	"expat_malloc", "expat_realloc",
	// GMP, libpng, LibTIFF, FreeType, D-Bus, OpenLDAP
	"__gmp_default_allocate", "__gmp_default_reallocate", "png_malloc", "png_malloc_base", "png_malloc_warn", "png_malloc_default",
	"png_malloc_array", "png_realloc_array", "png_calloc", "_TIFFmalloc", "_TIFFcalloc", "_TIFFrealloc", "_TIFFmallocExt", "_TIFFcallocExt",
	"_TIFFreallocExt", "_TIFFCheckMalloc", "_TIFFCheckRealloc", "ft_alloc", "ft_realloc", "ft_mem_alloc", "ft_mem_qalloc", "ft_mem_realloc",
	"ft_mem_qrealloc", "ft_mem_dup", "ft_mem_strdup", "dbus_malloc", "dbus_malloc0", "dbus_realloc", "_dbus_strdup",
	"ber_memalloc", "ber_memalloc_x", "ber_memcalloc", "ber_memcalloc_x", "ber_memrealloc", "ber_memrealloc_x", "ber_strdup", "ber_strdup_x",
	// the run times of Objective-C, OCaml, Haskell, Ruby, PHP, Tcl, Guile and Erlang
	"class_createInstance", "objc_malloc", "objc_calloc", "objc_realloc",
	"caml_stat_alloc", "caml_stat_alloc_noexc", "caml_stat_alloc_aligned", "caml_stat_alloc_aligned_noexc",
	"caml_stat_calloc_noexc", "caml_stat_resize", "caml_stat_resize_noexc", "caml_stat_strdup", "caml_stat_strdup_noexc", "caml_stat_memdup",
	"stgMallocBytes", "stgCallocBytes", "stgReallocBytes", "stgMallocAlignedBytes",
	"ruby_xmalloc", "ruby_xmalloc2", "ruby_xcalloc", "ruby_xrealloc", "ruby_xrealloc2", "ruby_strdup",
	"rb_xmalloc_mul_add", "rb_xcalloc_mul_add", "rb_xrealloc_mul_add", "rb_gc_impl_malloc", "rb_gc_impl_calloc", "rb_gc_impl_realloc",
	"_emalloc", "_ecalloc", "_erealloc", "_erealloc2", "_estrdup", "_estrndup", "_safe_emalloc", "_safe_malloc", "_safe_erealloc", "_safe_realloc",
	"__zend_malloc", "__zend_calloc", "__zend_realloc", "zend_strndup",
	"Tcl_Alloc", "Tcl_Realloc", "Tcl_AttemptAlloc", "Tcl_AttemptRealloc", "TclpAlloc", "TclpRealloc",
	"scm_malloc", "scm_calloc", "scm_realloc", "scm_strdup", "scm_strndup",
	"erts_sys_alloc", "erts_sys_realloc",
	// formatters of other programs
	"aprintf", "curl_maprintf", "curl_mvaprintf", "alloc_addbyter", "Curl_saferealloc", "Curl_memdup",
	"curl_dbg_malloc", "curl_dbg_calloc", "curl_dbg_realloc", "curl_dbg_strdup",
	// those that only release
	"operator delete", "operator delete[]",
	"__cxa_free_exception", "__cxa_free_dependent_exception", "__cxa_end_catch", "__gxx_exception_cleanup", "_Unwind_DeleteException",
	"__rust_dealloc", "__rdl_dealloc", "__rg_dealloc",
	"xfree", "sh_xfree", "safe_free", "Perl_safesysfree", "g_free", "g_slice_free1", "g_aligned_free",
	"sqlite3_free", "sqlite3MemFree", "sqlite3DbFree", "sqlite3DbFreeNN", "sqlite3DbNNFreeNN",
	"CRYPTO_free", "CRYPTO_clear_free", "uv__free", "luaM_free_", "curl_dbg_free", "jv_mem_free", "zfree", "gfree", "yyfree", "pg_free", "pfree", "my_free",
	"av_free", "av_freep", "RelinquishMagickMemory", "RelinquishAlignedMemory", "RelinquishSemaphoreMemory", "lzma_free", "event_mm_free_",
	"yajl_internal_free", "default_bzfree", "pugi::impl::default_deallocate", "defaultFree", "default_free", "ares_free", "jsonp_free", "expat_free",
	"__gmp_default_free", "png_free", "png_free_default", "_TIFFfree", "_TIFFfreeExt", "ft_free", "ft_mem_free", "dbus_free", "ber_memfree", "ber_memfree_x",
	"object_dispose", "objc_free", "caml_stat_free", "stgFree", "ruby_xfree", "rb_gc_impl_free", "_efree", "Tcl_Free", "TclpFree", "erts_sys_free",
)

// nimSystem are functions of Nim's module system: alloc0Impl__system_1727.
var nimSystem = regexp.MustCompile(`^\w+__system_u?\d+$`)

// cpython are CPython's layers between an object and malloc: PyMem_Malloc,
// _PyMem_RawRealloc, PyObject_Calloc, _PyObject_DebugMalloc and so on.
var cpython = regexp.MustCompile(`^_?Py(Mem|Object)_(Raw|Debug|DebugRaw)?(Malloc|Calloc|Realloc|Alloc|Strdup|Wcsdup|Free)$`)

func names(list ...string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

// isWrapper knows the common wrappers by their demangled names.
func isWrapper(function string) bool {
	if self, trait, ok := rustImplementation(function); ok {
		return belongsToRust(self, trait)
	}
	if ofGoRuntime(function) {
		return true
	}
	name := signature.Qualified(function)
	return inLibrary(name) || wrapperNames[name] || cpython.MatchString(name) || nimSystem.MatchString(name)
}

// goRuntime are what Go's compiler calls for make, append, + and the like, and
// the buffers that grow by them; of profiles that were imported.
var goRuntime = []string{"runtime.", "internal/bytealg.MakeNoZero", "strings.(*Builder).", "bytes.(*Buffer).grow", "bytes.growSlice"}

func ofGoRuntime(function string) bool {
	for _, prefix := range goRuntime {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

func inLibrary(name string) bool {
	for _, scope := range libraryScopes {
		if strings.HasPrefix(name, scope) {
			return true
		}
	}
	return false
}

// belongsToRust tells whether "<self as trait>" is an implementation of Rust's
// own libraries: of one of their traits, for one of their types, a generic
// parameter, a primitive or a slice; of a trait that only one of their functions
// knows; of a call, which nobody else can implement; or the allocator that
// all of them use, whoever wrote it.
func belongsToRust(self, trait string) bool {
	if nestedSelf, nestedTrait, ok := rustImplementation(trait); ok {
		return belongsToRust(nestedSelf, nestedTrait)
	}
	if isGlobalAlloc(trait) {
		return true
	}
	if trait != "" && !inLibrary(trait) {
		return false
	}
	if strings.HasPrefix(trait, "core::ops::function::Fn") {
		return true
	}
	self = strings.TrimPrefix(strings.TrimLeft(self, "&*"), "mut ")
	return inLibrary(self) || strings.HasPrefix(self, "[") || !strings.Contains(self, "::")
}

// isGlobalAlloc tells the trait of what a program makes its #[global_allocator]:
// all that it allocates goes through that.
func isGlobalAlloc(trait string) bool {
	return strings.HasPrefix(trait, "core::alloc::global::GlobalAlloc>::")
}

// rustImplementation takes "<self as trait>::method" apart.
func rustImplementation(function string) (self, trait string, ok bool) {
	if !strings.HasPrefix(function, "<") {
		return "", "", false
	}
	for p := range signature.Parts(function) {
		switch {
		case p.Kind == signature.Close && p.Depth == 0:
			return function[1:p.Start], "", true // an inherent method
		case p.Kind == signature.Space && p.Depth == 1 && strings.HasPrefix(function[p.Start:], " as "):
			return function[1:p.Start], function[p.Start+len(" as "):], true
		}
	}
	return "", "", false
}
