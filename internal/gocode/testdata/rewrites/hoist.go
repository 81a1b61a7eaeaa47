package rewrites

import (
	"bytes"
	"strconv"
)

// Hoist has a label, and a name that is taken.
func Hoist(n, digits int) string {
	var text bytes.Buffer
outer:
	for i := range digits {
		// A comment of the line.
		text.WriteString(strconv.Itoa(n)) // rewrite: strconv.Itoa
		if i > 5 {
			continue outer
		}
	}
	return text.String()
}
