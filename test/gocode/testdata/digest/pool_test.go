package digest_test

import (
	"sync"
	"testing"
)

var pool = sync.Pool{New: func() any { return new([512]int) }}

// A collection now and then empties the pool.
func BenchmarkPool(b *testing.B) {
	for i := 0; i < b.N; i++ {
		p := pool.Get()
		sink = make([]byte, 1<<14)
		pool.Put(p)
	}
}
