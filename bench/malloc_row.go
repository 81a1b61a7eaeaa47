package main

// mallocRow is one row of the allocator table: a program and its work, the same under every allocator and at every run.
//
// A program may print lines of these forms on its standard output; whatever else it prints is ignored:
//
//	metric NAME VALUE
//	    one figure of the run. These replace what the launcher measured, for a row whose command only drives the program
//	    that counts: cpu_seconds, wall_seconds, rss_kb. `ops` is the number of operations. rss_over_live is what a row of
//	    the group memory is judged by. Others go into the raw figures only.
//	point SERIES X CPU_NS [WALL_NS]
//	    in the groups curve and ttest: one point of a curve, judged by itself. CPU_NS is CPU time per operation and WALL_NS
//	    wall time per operation, in nanoseconds; less is better. SERIES is one word: `untouched`, `touched` in curves, where X
//	    is the size in bytes; the number of threads in ttest, where X is the largest size in bytes.
//	point rss SECONDS BYTES, point live SECONDS BYTES
//	    in the group memory: the resident size and the live bytes of the program over time. Plotted, not judged.
type mallocRow struct {
	name  string // unique, at most some 40 characters, unchanged from run to run
	group string // single, multi, program, memory, curve or ttest: which geometric mean it enters
	// The arguments, the program first. Inputs and programs lie in the folder that mallocRows was given.
	command  []string
	settings []string // NAME=VALUE, added to an otherwise nearly empty environment
	input    string   // path of the standard input, empty for none
	// A source file below bench/workloads (.c or .cc), which the runner builds, optimised and with -fno-builtin -pthread,
	// before the first round, as the file of the same name without its suffix in that folder. Empty for none.
	program string
	// The command is not itself preloaded, but puts the allocator under the program that counts: it gets the path of
	// the library in MALLOC_LIBRARY (empty for glibc) and its settings, separated by blanks, in MALLOC_SETTINGS.
	driver bool
	// Why the row is left out on this machine, empty if it is not: a program that is missing, and its package.
	missing string
	// About how long one run takes, in seconds, for the estimate of the whole.
	seconds float64
}
