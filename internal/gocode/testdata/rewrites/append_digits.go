package rewrites

import "strconv"

// AppendDigits appends the digits of n.
func AppendDigits(b []byte, n int) []byte {
	b = append(b, '=')
	return append(b, strconv.Itoa(n+1)...) // rewrite: strconv.Itoa
}
