// Package nested has another package below it.
package nested

import "testing"

var sink []byte

func BenchmarkOuter(b *testing.B) {
	for b.Loop() {
		sink = make([]byte, 100)
	}
}
