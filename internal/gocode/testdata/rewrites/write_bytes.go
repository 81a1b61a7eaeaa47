package rewrites

import "strings"

// WriteBytes writes bytes.
func WriteBytes(word []byte) string {
	var all strings.Builder
	all.WriteString(string(word)) // rewrite: runtime.slicebytetostring
	return all.String()
}
