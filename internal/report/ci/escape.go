package ci

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"mallow/internal/term"
)

// longestName is how many characters of a name are written: whoever chose it
// shall not fill the page.
const longestName = 160

// short cuts what is longer than a name should be, and makes visible what
// steers terminals or turns the direction of writing.
func short(s string) string {
	s = term.Safe(s)
	if utf8.RuneCountInString(s) <= longestName {
		return s
	}
	return string([]rune(s)[:longestName-3]) + "..."
}

// code writes a name as code, in which markdown knows no links, no mentions of
// people and no markup. It fits into the cell of a table.
func code(name string) string {
	name = short(name)
	switch {
	case strings.TrimSpace(name) == "":
		return ""
	case strings.ContainsAny(name, "`|\\"):
		return "<code>" + entities(name) + "</code>"
	}
	return "`" + name + "`"
}

// entities writes everything that markup is made of by its number.
func entities(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && r != ' ' && !isWordCharacter(byte(r)) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isWordCharacter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// prose writes a sentence that may hold names: what is no plain word becomes
// code.
func prose(sentence string) string {
	var b strings.Builder
	var names []string
	flush := func() {
		if len(names) > 0 {
			separate(&b)
			b.WriteString(code(strings.Join(names, " ")))
			names = nil
		}
	}
	for _, word := range strings.Fields(term.Safe(sentence)) {
		if !isPlainWord(word) {
			names = append(names, word)
			continue
		}
		flush()
		separate(&b)
		b.WriteString(word)
	}
	flush()
	return b.String()
}

func separate(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
}

// isPlainWord tells whether markdown reads a word as what it is, wherever it
// stands but at the beginning of a line. Words with digits that are no numbers
// may be the names of issues or commits, and those with dots hosts: forges make
// links of them.
func isPlainWord(word string) bool {
	bare := strings.TrimRight(strings.TrimPrefix(word, "("), ".,;:?)")
	switch bare {
	case "%", "-", "->", "µs":
		return true
	}
	number, digits, joined := true, false, false
	for i := range len(bare) {
		switch c := bare[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case c == ',' || c == '.' || c == '+' || c == '-' && i == 0:
			joined = true
		case isWordCharacter(c):
			number = false
		case (c == '-' || c == '\'') && i > 0:
			number, joined = false, true
		default:
			return false
		}
	}
	return bare != "" && (number || !digits && !(joined && strings.ContainsAny(bare, ".,+")))
}

// Sentence writes a sentence that may hold names as a paragraph in markdown.
func Sentence(s string) string { return sentence(cut(s)) }

// sentence is prose that a line may begin with: no word of it makes a list.
func sentence(s string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(term.Safe(s)), " ")
	if listMark.MatchString(first) {
		return strings.TrimSpace(code(first) + " " + prose(rest))
	}
	return prose(s)
}

var listMark = regexp.MustCompile(`^([0-9]+[.)]+|[-+>]+)$`)

// commandData escapes the text of a command to GitHub's runner.
func commandData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// commandProperty escapes a property of a command to GitHub's runner.
func commandProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandData(s))
}
