package rewrites

import "strconv"

// Lazy names a number, where it is asked to.
func Lazy(n int, named bool) string {
	// The name is a word and the digits.
	name := "number " + strconv.Itoa(n) // rewrite: runtime.concatstring2
	m := n + 1
	if named {
		return name + "!"
	}
	return strconv.Itoa(m)
}
