package rewrites

import (
	"bytes"
	"strconv"
)

// WriteLarge writes numbers of which not all fit into an int.
func WriteLarge(numbers []uint32) string {
	var all bytes.Buffer
	for _, n := range numbers {
		all.WriteString(strconv.Itoa(int(n))) // rewrite: strconv.Itoa
	}
	return all.String()
}
