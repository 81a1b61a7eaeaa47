package html

import (
	"fmt"
	"strings"

	"mallow/internal/term"
)

// longest is how many bytes of a name are kept. Demangled names of more are
// of no use to anybody, and one may have megabytes.
const longest = 16 << 10

// clean makes a name from a recording or a binary one line that shows what it
// is: control characters and marks that turn the direction of writing become
// escapes, the middle of what is too long is left out.
func clean(s string) string {
	return term.Safe(shortened(s, longest))
}

// Clean is what every string of a page goes through.
func Clean(s string) string { return clean(s) }

func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := s[:most/2], s[len(s)-most/2:]
	return fmt.Sprintf("%s [%d bytes left out] %s", strings.ToValidUTF8(head, ""), len(s)-most, strings.ToValidUTF8(tail, ""))
}
