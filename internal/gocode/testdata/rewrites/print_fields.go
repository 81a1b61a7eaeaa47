package rewrites

import (
	"fmt"
	"strings"
)

type part struct{ from, to int }

type place struct {
	file string
	line part
	URL  string
}

// PrintFields prints what is at hand, and what is behind a pointer.
func PrintFields(p place, of *place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d-%d", p.file, p.line.from, p.line.to-1) // rewrite: runtime.convTstring
	fmt.Fprintf(&b, " %s %s", of.file, of.URL)
	return b.String()
}
