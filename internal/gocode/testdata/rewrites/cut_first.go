package rewrites

import "strings"

// CutFirst returns the media type, in brackets.
func CutFirst(header string) string {
	if strings.Split(header, ";")[0] == "text/plain" { // rewrite: strings.Split
		return "plain"
	}
	return "other"
}
