package rewrites_older

import "strings"

// CutLoop goes through the parts, in a version that has no sequence of them.
func CutLoop(list string) (n int, all []string) {
	for _, part := range strings.Split(list, ", ") { // rewrite: strings.Split
		if part == "" {
			continue
		}
		n += len(part)
		all = append(all, part)
	}
	return n, all
}
