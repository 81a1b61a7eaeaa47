package digest_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/digest"
)

var sink any

func BenchmarkWord(b *testing.B) {
	table := strings.Fields(strings.Repeat("set up ", 1000)) // not of an operation
	for i := 0; i < b.N; i++ {
		sink = digest.Word(12345 + len(table)) // a string and its header
	}
}

func BenchmarkLoop(b *testing.B) {
	for b.Loop() {
		sink = new([100]int)
	}
}

func BenchmarkKinds(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprint("n=", n, "/tiny"), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				for j := range n {
					sink = int32(1000 + j)
				}
			}
		})
	}
}

func BenchmarkNow_and_then(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if i%4 == 0 {
			sink = new([4]int)
		}
	}
}

// BenchmarkPrepared makes two objects for each operation before its timer begins
// anew.
func BenchmarkPrepared(b *testing.B) {
	prepared := make([]*[3]int, b.N)
	for range 2 {
		for i := range prepared {
			prepared[i] = new([3]int)
		}
	}
	b.ResetTimer()
	for i := range prepared {
		sink = append(prepared[i][:], i)
	}
}

// BenchmarkPaused makes ten objects an operation while its timer stands still.
func BenchmarkPaused(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		for range 10 {
			sink = new([3]int)
		}
		b.StartTimer()
		sink = new([4]int)
	}
}
