package main

import (
	"math"
	"testing"
)

func TestByteCount(t *testing.T) {
	for text, want := range map[string]byteCount{
		"0": 0, "700": 700, "64K": 65536, "64k": 65536, "2KiB": 2048, "3M": 3 << 20, "3MiB": 3 << 20, "1G": 1 << 30, "1g": 1 << 30,
		"64kB": 64000, "2 MB": 2e6, "5GB": 5e9, "18446744073709551615": math.MaxUint64,
	} {
		var n byteCount
		if err := n.Set(text); err != nil || n != want {
			t.Errorf("%s is %d, %v", text, n, err)
		}
		var again byteCount
		if err := again.Set(n.String()); err != nil || again != n {
			t.Errorf("%s is written as %s", text, n.String())
		}
	}
	for _, text := range []string{"", "K", "-1", "1.5M", "1T", "KB", "64 K B", "18446744073709551616", "18446744073709551615K"} {
		var n byteCount
		if n.Set(text) == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
}

func TestByteRange(t *testing.T) {
	for text, want := range map[string]byteRange{
		"1K..64kB": {true, 1024, 64000}, "8..": {true, 8, math.MaxUint64 - 1}, "..8": {true, 0, 8}, "8": {true, 8, 8},
	} {
		var r byteRange
		if err := r.Set(text); err != nil || r != want {
			t.Errorf("%s is %v, %v", text, r, err)
		}
	}
	for _, text := range []string{"", "2..1", "a..b", "1..2..3"} {
		var r byteRange
		if r.Set(text) == nil {
			t.Errorf("%q is %v", text, r)
		}
	}
}
