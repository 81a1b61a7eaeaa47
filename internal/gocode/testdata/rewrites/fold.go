package rewrites

import "strings"

// Fold has no letter whose other cases lie outside of ASCII.
func Fold(name string) bool {
	return strings.ToLower(name) == "gzpd" // rewrite: strings.ToLower
}
