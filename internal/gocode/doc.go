// Package gocode counts the allocations of Go programs exactly: by line, by
// function and by type, with nothing of the program changed but the runtime
// that is built into it.
//
// The Go runtime's own profile samples, and even at its finest rate it sees
// only the first of several tiny objects that share a block. So a program is
// built with an overlay (see go help build): two lines more in the runtime
// call a function that counts every allocation by its call stack, in a mapped
// file. The file outlives the process in whatever way it ends, so nothing has
// to be hooked, and no goroutine is added that could hide a deadlock. Samples of
// the CPU time go to a second such file.
package gocode
