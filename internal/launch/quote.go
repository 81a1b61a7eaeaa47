package launch

import (
	"strconv"
	"strings"
)

// Quote makes a file name fit to stand in a sentence on a terminal: as it is
// when it is plain, otherwise quoted, with nothing that a terminal obeys.
func Quote(name string) string {
	plain := func(r rune) bool {
		return r == ' ' || r == '"' || r == '\\' || !strconv.IsPrint(r) || r == '\uFFFD'
	}
	if name != "" && !strings.ContainsFunc(name, plain) {
		return name
	}
	return strconv.Quote(name)
}
