package chance

import (
	"fmt"
	"os"
	"testing"
)

var (
	sink     any
	luckless = takeLuck()
)

// takeLuck tells whether this process is one of the luckless, whose number the
// file has.
func takeLuck() bool {
	var left int
	content, err := os.ReadFile("luckless")
	if err != nil {
		return false
	}
	if _, err := fmt.Sscan(string(content), &left); err != nil || left == 0 {
		return false
	}
	return os.WriteFile("luckless", fmt.Append(nil, left-1), 0o644) == nil
}

// One operation of a thousand takes one more.
func BenchmarkChance(b *testing.B) {
	for i := range b.N {
		sink = new([8]int)
		sink = new([8]int)
		if luckless && i == 500 {
			sink = new([8]int)
		}
	}
}
