package rewrites

import "strings"

// RawHoist replaces by a text of several lines, of which none is indented.
func RawHoist(text string, times uint8) string {
	if text == "" {
		return text
	}
	length := 0
	for range times {
		length += len(strings.ReplaceAll(text, "a", `a // rewrite: strings.ReplaceAll
b`))
	}
	return text[:length%len(text)]
}
