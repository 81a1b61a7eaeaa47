package rewrites

import "strings"

// Letter panics for an i that is out of range.
func Letter(i int) byte {
	return strings.Repeat("abc", 3)[i] // rewrite: strings.Repeat
}
