package rewrites

// Keys counts words.
func Keys(words []string) map[string]int {
	counts := make(map[string]int)
	for _, w := range words {
		counts[w]++ // rewrite: runtime.mapassign_faststr
	}
	return counts
}
