package rewrites

import "strings"

// FoldASCII has an s, to which a long s folds.
func FoldASCII(name string) bool {
	return strings.ToLower(name) == "close" // rewrite: strings.ToLower
}
