package rewrites

import (
	"bytes"
	"strconv"
)

// WriteSmall writes numbers of which all fit into an int.
func WriteSmall(numbers []uint16) string {
	var all bytes.Buffer
	for _, n := range numbers {
		all.WriteString(strconv.Itoa(int(n))) // rewrite: strconv.Itoa
	}
	return all.String()
}
