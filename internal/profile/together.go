package profile

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// together lets several workers do n things, each as many as it gets to: next
// gives a worker the number of the one that it is to do, false at the end.
func together(n int, work func(next func() (int, bool))) {
	var taken atomic.Int64
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n
	}
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		workers.Go(func() { work(next) })
	}
	work(next)
	workers.Wait()
}

// oneByOne does the same with one worker.
func oneByOne(n int, work func(next func() (int, bool))) {
	i := -1
	work(func() (int, bool) {
		i++
		return i, i < n
	})
}
