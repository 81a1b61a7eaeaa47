package rewrites

import "strings"

// Grow writes the same word a known number of times.
func Grow(word string) string {
	var b strings.Builder
	for i := 0; i < 100; i++ {
		b.WriteString(word) // rewrite: strings.(*Builder).WriteString
	}
	return b.String()
}
