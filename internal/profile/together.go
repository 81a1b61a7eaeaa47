package profile

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// together lets workers do n things, each as many as it gets to: next gives a
// worker the number of the one that it is to do, false at the end.
func together(workers, n int, work func(next func() (int, bool))) {
	var taken atomic.Int64
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n
	}
	var others sync.WaitGroup
	for range min(n, workers) - 1 {
		others.Go(func() { work(next) })
	}
	work(next)
	others.Wait()
}

// inChunks lets all workers do n things, many in a row each.
func inChunks(n int, do func(begin, end int)) {
	const size = 4096
	together(allWorkers(), (n+size-1)/size, func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			do(k*size, min(n, (k+1)*size))
		}
	})
}

// allWorkers are as many as can work at the same time.
func allWorkers() int { return runtime.GOMAXPROCS(0) }
