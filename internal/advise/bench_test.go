package advise_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"mallow/internal/advise"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/symbolize"
)

// BenchmarkFor advises on the recording that MALLOW_RECORDING names, of which
// nothing was asked before: what is found out once is paid each time. CPU time
// is told as the least of all rounds, for machines that have other work.
func BenchmarkFor(b *testing.B) {
	path := os.Getenv("MALLOW_RECORDING")
	if path == "" {
		b.Skip("MALLOW_RECORDING is not set")
	}
	least := time.Hour
	b.StopTimer()
	for range b.N {
		rec, err := recording.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		s := symbolize.New(symbolize.Options{Cache: symbolize.UserCache()})
		p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: s})
		before := usedCPU(b)
		b.StartTimer()
		advise.For(p, advise.Options{})
		b.StopTimer()
		least = min(least, usedCPU(b)-before)
		s.Close()
	}
	b.ReportMetric(float64(least.Microseconds())/1000, "cpu-ms/op")
}

func usedCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
