package rewrites

import "strings"

// CutRest takes a name and its options.
func CutRest(tag string) (name string, omit, zero bool) {
	parts := strings.Split(tag, ",") // rewrite: strings.Split
	name = parts[0]
	for _, option := range parts[1:] {
		switch option {
		case "omit":
			omit = true
		case "zero":
			zero = true
			continue
		}
	}
	return name, omit, zero
}
