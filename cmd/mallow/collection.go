package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// latePercent is the GOGC by which garbage is collected for the first time when the heap has 128 MiB: Go's first
	// heap is of 4 MiB at 100. Most commands are over before, and the collector was a fifth of the CPU time of a report.
	latePercent = 3200
	// lateFor is the longest that garbage waits, so that a command does not grow beside the program that it waits for.
	lateFor = time.Minute
)

// collectLate puts the first collection off, unless the environment says when to collect. From then on, and after
// lateFor, garbage is collected as in every Go program.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := debug.SetGCPercent(latePercent)
	asEver := sync.OnceFunc(func() { debug.SetGCPercent(percent) })
	type garbage struct{ _ *garbage } // with a pointer it has no block in common with others, which would have to die, too
	runtime.AddCleanup(new(garbage), func(asEver func()) { asEver() }, asEver)
	time.AfterFunc(lateFor, asEver)
}
