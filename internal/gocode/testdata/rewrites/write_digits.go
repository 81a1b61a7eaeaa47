package rewrites

import (
	"bytes"
	"strconv"
)

// WriteDigits writes numbers.
func WriteDigits(numbers []int) string {
	var all bytes.Buffer
	for _, n := range numbers {
		if n > 5 {
			all.WriteString(strconv.FormatInt(int64(n), 16)) // rewrite: strconv.FormatInt
		}
	}
	return all.String()
}
