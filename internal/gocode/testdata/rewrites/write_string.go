package rewrites

import "bytes"

// WriteString writes a word.
func WriteString(word string) int {
	var all bytes.Buffer
	n, _ := all.Write([]byte(word)) // rewrite: runtime.stringtoslicebyte
	return n + all.Len()
}
