package rewrites

import "regexp"

// Compile tells whether a text has digits.
func Compile(text string) bool {
	digits := regexp.MustCompile(`[0-9]+`) // rewrite: regexp.MustCompile
	return digits.MatchString(text) && digits.NumSubexp() == 0
}
