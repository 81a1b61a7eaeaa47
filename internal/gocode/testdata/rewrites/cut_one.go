package rewrites

import "strings"

// CutOne returns the first word.
func CutOne(text string) string {
	word := strings.SplitN(text, " ", 2)[0] // rewrite: strings.SplitN
	return word + "."
}
