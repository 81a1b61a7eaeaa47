//go:build mallow_runtime

// This file joins package testing, which tells the runtime the benchmark that
// runs, whether its timer does, and when that begins anew.

package testing

import _ "unsafe" // for go:linkname

//go:linkname mallowBenchmark runtime.mallowBenchmark
func mallowBenchmark(name string)

//go:linkname mallowTimer runtime.mallowTimer
func mallowTimer(on bool)

//go:linkname mallowReset runtime.mallowReset
func mallowReset()
