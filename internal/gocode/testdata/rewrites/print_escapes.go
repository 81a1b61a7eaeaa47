package rewrites

import (
	"fmt"
	"strings"
)

// PrintEscapes prints into a buffer that goes to the heap for it.
func PrintEscapes(names []string, count int8) string {
	var all strings.Builder // rewrite: runtime.newobject
	fmt.Fprint(&all, len(names))
	for _, name := range names {
		fmt.Fprintf(&all, "%s=%v\n", strings.ToUpper(name), count)
		fmt.Fprintln(&all, name, count)
		for i := range name {
			fmt.Fprintf(&all, "%%%02X %02x", name[i], byte(i))
		}
	}
	return all.String()
}
