package rewrites

import (
	"bytes"
	"fmt"
)

// Print prints into a buffer of its own.
func Print(names []string, line int, at uint32) string {
	buf := new(bytes.Buffer)
	for i, name := range names {
		fmt.Fprintf(buf, "%s:%d (0x%x)%%\n", name, line, at) // rewrite: runtime.convTstring
		fmt.Fprintf(buf, "%q %t", name[i:], i == line)
	}
	return buf.String()
}
