package rewrites

import (
	"bytes"
	"fmt"
)

// Builder lists the words.
func Builder(words []string) string {
	var all bytes.Buffer
	for i, w := range words {
		fmt.Fprintf(&all, "%d: %s\n", i, w)
	}
	all.WriteByte('.')
	return all.String() // rewrite: bytes.(*Buffer).String
}
