package rewrites

import "strings"

// Fields adds the lengths of words up.
func Fields(text string) (sum int) {
	for _, word := range strings.Fields(text) { // rewrite: strings.Fields
		sum += len(word)
	}
	return sum
}
