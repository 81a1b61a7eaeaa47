package rewrites

import (
	"fmt"
	"strings"
)

type span struct{ from, to int }

type pointed struct {
	file string
	line span
	URL  string
}

// PrintPointed prints what is behind a pointer.
func PrintPointed(of *pointed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d %s %d", of.file, of.line.to, of.URL, of.line.to-of.line.from) // rewrite: runtime.convTstring
	return b.String()
}
