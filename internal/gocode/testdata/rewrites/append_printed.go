package rewrites

import "fmt"

// AppendPrinted appends a line.
func AppendPrinted(b []byte, name string, n int) []byte {
	return append(b, fmt.Sprintf("%-10s %d\n", name, n)...) // rewrite: fmt.Sprintf
}
