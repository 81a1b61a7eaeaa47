// Package many has hundreds of benchmarks, and keeps a log of how often they run.
package many

import (
	"fmt"
	"os"
	"testing"
	"time"
)

var (
	sink       *int
	operations int
)

func TestMain(m *testing.M) {
	code := m.Run()
	if file, err := os.OpenFile(os.Getenv("MANY_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(file, operations)
		file.Close()
	}
	os.Exit(code)
}

func BenchmarkMany(b *testing.B) {
	for n := range 500 {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			operations += b.N
			for range b.N {
				for i := range n % 10 {
					sink = &i
				}
			}
		})
	}
}

// An operation of BenchmarkSlow takes longer than all others have to be counted.
func BenchmarkSlow(b *testing.B) {
	if os.Getenv("MANY_LOG") == "" {
		b.Skip("on purpose")
	}
	operations += b.N
	for range b.N {
		time.Sleep(300 * time.Millisecond)
	}
}
