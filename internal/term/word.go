package term

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainWord is one that no shell takes for anything else.
var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// Word writes a word of a command as one types it in a shell: what is proposed
// to be executed means that word there, whatever is in it, and has nothing that
// a terminal obeys.
func Word(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	unseen := func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }
	if !strings.ContainsFunc(s, unseen) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for len(s) > 0 {
		r, length := utf8.DecodeRuneInString(s)
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + s[:length])
		case unseen(r):
			for i := range length { // in octal, for a digit may follow
				fmt.Fprintf(&b, `\%03o`, s[i])
			}
		default:
			b.WriteString(s[:length])
		}
		s = s[length:]
	}
	return b.String() + "'"
}
