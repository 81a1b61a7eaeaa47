package launch

import (
	"runtime"
	"sync"
)

// ReserveThreads makes the threads that mallow may come to need while others
// run. Go's runtime keeps them, and ends mallow where it wants one more and the
// system gives none: when a program takes all the processes that its user or
// its container may have.
func ReserveThreads() {
	const (
		mostRunning = 16 // of many processors no more are used at a time while a program runs
		waiting     = 8  // in system calls: for the program, signals and files
	)
	var made sync.WaitGroup
	release := make(chan struct{})
	for range min(runtime.GOMAXPROCS(0), mostRunning) + waiting {
		made.Add(1)
		go func() {
			runtime.LockOSThread() // it is nobody else's until all are there
			made.Done()
			<-release
			runtime.UnlockOSThread()
		}()
	}
	made.Wait()
	close(release)
}
