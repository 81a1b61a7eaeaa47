// Package inner stands below another package.
package inner

import "strings"

// Lines returns n lines.
func Lines(n uint8) string {
	var all []byte
	for range n {
		line := strings.Repeat("x", 20)
		all = append(all, line...)
	}
	return string(all)
}
