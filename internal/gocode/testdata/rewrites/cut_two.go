package rewrites

import "strings"

// CutTwo reads a pair.
func CutTwo(pair string) (key, value string, ok bool) {
	parts := strings.SplitN(pair, "=", 2) // rewrite: strings.SplitN
	if len(parts) != 2 {
		return parts[0], "", false
	}
	return parts[0], strings.TrimSpace(parts[1]), true
}
