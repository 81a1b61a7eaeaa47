package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// heapBeforeCollection is how much memory the Go runtime takes, in bytes, before garbage is collected for the first time.
// Most commands are over before. Collecting from 4 MiB on, as Go does, was a fifth of the CPU time of a report.
const heapBeforeCollection = 128 << 20

// collectLate puts the first collection off, unless the environment says when to collect. From then on garbage is
// collected as in every Go program.
func collectLate() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(heapBeforeCollection)
	type garbage struct{ _ *garbage } // no part of a block with others, which would have to die, too
	runtime.AddCleanup(new(garbage), func(percent int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}, percent)
}
