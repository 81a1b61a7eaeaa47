package rewrites

// AppendString appends a word.
func AppendString(b []byte, word string) []byte {
	return append(b, []byte(word)...) // rewrite: runtime.stringtoslicebyte
}
