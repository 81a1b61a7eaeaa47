package main

import "testing"

func BenchmarkMixed(b *testing.B) {
	for b.Loop() {
		names(1) // never freed
		pairs(2)
		fill(3)
	}
}
