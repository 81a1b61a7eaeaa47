package html

import (
	"fmt"

	"mallow/internal/term"
)

// longest is how many bytes of a name are kept. Demangled names of more are
// of no use to anybody, and one may have megabytes.
const longest = 16 << 10

// clean makes a name from a recording or a binary one line that shows what it
// is: control characters and marks that turn the direction of writing become
// escapes, the middle of what is too long is left out.
func clean(s string) string {
	if len(s) > longest {
		s = fmt.Sprintf("%s [%d bytes left out] %s", s[:longest/2], len(s)-longest, s[len(s)-longest/2:])
	}
	return term.Safe(s)
}
