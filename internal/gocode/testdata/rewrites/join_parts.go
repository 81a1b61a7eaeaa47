package rewrites

import "strconv"

// JoinParts begins with what is joined, too.
func JoinParts(name string, at map[string]int) string {
	s := name + ":" + strconv.Itoa(len(name))
	for range len(at) {
		s += " " + name + "\"" // rewrite: runtime.concatstring4
	}
	return s
}
