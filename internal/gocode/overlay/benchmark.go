//go:build mallow_runtime

// This file joins package testing, which tells the runtime the benchmark that
// runs.

package testing

import _ "unsafe" // for go:linkname

//go:linkname mallowBenchmark runtime.mallowBenchmark
func mallowBenchmark(name string)
