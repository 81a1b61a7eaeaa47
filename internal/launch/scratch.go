package launch

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// scratch are the folders of Scratch.
var scratch struct {
	sync.Mutex
	folders []string
}

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

// RemoveWhenEnded lets the signals by which users end mallow remove what
// Scratch has made. They end it then as they would have anyway; those that are
// ignored still are.
func RemoveWhenEnded() {
	signals := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	go func() {
		sig := <-signals
		scratch.Lock() // for good: nothing is made any more
		for _, folder := range scratch.folders {
			os.RemoveAll(folder)
		}
		signal.Reset(sig)
		syscall.Kill(os.Getpid(), sig.(syscall.Signal))
	}()
}
