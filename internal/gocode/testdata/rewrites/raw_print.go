package rewrites

import (
	"fmt"
	"strings"
)

// RawPrint has a text of several lines, of which none is indented.
func RawPrint(numbers []int) string {
	var all strings.Builder
	for _, n := range numbers {
		all.WriteString(fmt.Sprintf(`a // rewrite: fmt.Sprintf
b %4d
`, n))
	}
	return all.String()
}
