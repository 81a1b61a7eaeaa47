package rewrites

import (
	"fmt"
	"strings"
)

// PrintInto writes numbers with a width.
func PrintInto(numbers []int) string {
	var all strings.Builder
	for i, n := range numbers {
		all.WriteString(fmt.Sprintf("%4d=%x\n", i, n)) // rewrite: fmt.Sprintf
	}
	return all.String()
}
