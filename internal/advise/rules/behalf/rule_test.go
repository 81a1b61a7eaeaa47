package behalf

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
)

func TestGolden(t *testing.T) {
	p := ruletest.NewProgram(t)
	p.Soon(1000, 64, p.Stack(recording.Malloc, "libc!allocate_address", "libc!gaih_inet", "libc!getaddrinfo", "connect_to net.c:23"))
	p.Hold(500, 472, p.Stack(recording.Malloc, "libc!__fopen_internal", "read_config config.c:20"))
	p.Hold(500, 4096, p.Stack(recording.Malloc, "libc!_IO_file_doallocate", "libc!fgets", "read_config config.c:21"))
	// The line is kept, the streams are not; and a stream that is read by whatever means.
	p.Hold(400, 4096, p.Stack(recording.Malloc, "libc!_IO_file_doallocate", "libc!_IO_new_file_underflow", "libc!getdelim", "count count.c:30"))
	p.Hold(300, 120, p.Stack(recording.Malloc, "libc!getdelim", "count count.c:30"))
	p.Hold(450, 4096, p.Stack(recording.Malloc, "libc!_IO_file_doallocate", "libc!_IO_new_file_underflow", "libc!_IO_default_uflow", "first count.c:40"))
	p.Hold(350, 4096, p.Stack(recording.Malloc, "libc!_IO_file_doallocate", "libc!_IO_new_file_seekoff", "libc!fseek", "last count.c:50"))
	// One call of setlocale makes many allocations, by many ways.
	for _, category := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"} {
		p.Keep(12, 20, p.Stack(recording.Malloc, "libc!load_"+category, "libc!setlocale", "main main.c:2"))
	}
	// A tree of directories is walked, or one is read again: not to be told.
	p.Soon(700, 32816, p.Stack(recording.Malloc, "libc!__alloc_dir", "libc!opendir_tail", "walk walk.c:8"))
	// Which of an expression's blocks are for positions is not known.
	p.Soon(600, 280, p.Stack(recording.Malloc, "libc!re_search_internal", "libc!regexec", "match match.c:12"))
	p.Soon(300, 24, p.Stack(recording.Malloc, "libc!re_search_internal", "libc!re_search_stub", "libc!re_search", "find find.c:12"))
	// Nothing is known of it, or nobody called it.
	p.Keep(1000, 20, p.Stack(recording.Malloc, "libc!libc.so.6+0x1234", "work work.c:7"))
	p.Keep(500, 40, p.Stack(recording.Malloc, "own work.c:9"))
	p.Golden(Rule)
}

// What regexec finds out of an expression is kept with that: it is made anew for one that is compiled each time.
func TestCompiledEachTime(t *testing.T) {
	p := ruletest.NewProgram(t)
	for _, line := range []string{"is_source files.c:10", "is_header files.c:20"} {
		p.Hold(700, 256, p.Stack(recording.Malloc, "libc!re_compile_internal", "libc!regcomp", line))
	}
	p.Hold(900, 56, p.Stack(recording.Malloc, "libc!create_cd_newstate", "libc!regexec", "is_source files.c:11"))
	p.Hold(800, 56, p.Stack(recording.Malloc, "libc!create_cd_newstate", "libc!regexec", "is_text files.c:31"))
	p.Keep(1, 256, p.Stack(recording.Malloc, "libc!re_compile_internal", "libc!regcomp", "is_text files.c:30"))
	p.Finds(Rule, "compiled-each-time")
}
