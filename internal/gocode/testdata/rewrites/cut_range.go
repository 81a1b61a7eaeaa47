package rewrites

import "strings"

// CutRange counts the short parts.
func CutRange(text string) (short int) {
	for _, part := range strings.Split(text, ",") { // rewrite: strings.Split
		if len(part) > 3 {
			continue
		}
		short++
	}
	return short
}
