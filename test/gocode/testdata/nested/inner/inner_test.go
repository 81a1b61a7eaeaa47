package inner

import "testing"

var sink string

func TestLines(t *testing.T) {
	if got := len(Lines(3)); got != 60 {
		t.Errorf("%d bytes", got)
	}
}

func BenchmarkInner(b *testing.B) {
	for b.Loop() {
		sink = Lines(30)
	}
}
