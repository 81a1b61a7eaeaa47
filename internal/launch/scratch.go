package launch

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// EndSignals are those by which users end mallow.
var EndSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// UntilEnded returns a context that EndSignals end; after nohup a hangup does
// not.
func UntilEnded(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := slices.DeleteFunc(slices.Clone(EndSignals), func(sig os.Signal) bool { return sig == syscall.SIGHUP && signal.Ignored(sig) })
	return signal.NotifyContext(ctx, signals...)
}

// scratch are the folders of Scratch, and whether a signal ends mallow.
var scratch = struct {
	sync.Mutex
	folders []string
	ending  chan struct{}
}{ending: make(chan struct{})}

// A signal to a group of processes has come to mallow when it has ended another
// one of them, but the goroutine that waits for it may have yet to run.
const signalsLate = 100 * time.Millisecond

// Scratch makes a temporary folder. The caller removes it; RemoveWhenEnded does
// where a signal ends mallow before that.
func Scratch() (string, error) {
	scratch.Lock()
	defer scratch.Unlock()
	folder, err := os.MkdirTemp("", "mallow-go-*")
	if err == nil {
		scratch.folders = append(scratch.folders, folder)
	}
	return folder, err
}

// RemoveWhenEnded lets EndSignals remove what Scratch has made. They end it then as they would have anyway; those that are
// ignored still are.
func RemoveWhenEnded() {
	signals := make(chan os.Signal, 1)
	for _, sig := range EndSignals {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	go func() {
		sig := <-signals
		close(scratch.ending)
		scratch.Lock() // for good: nothing is made any more
		for _, folder := range scratch.folders {
			os.RemoveAll(folder)
		}
		DieBy(sig.(syscall.Signal))
	}()
}

// AwaitEnd does not return where a signal is about to end mallow: what failed
// then is what the same signal did to others. Else it takes a tenth of a second.
func AwaitEnd() {
	select {
	case <-scratch.ending:
		select {}
	case <-time.After(signalsLate):
	}
}
