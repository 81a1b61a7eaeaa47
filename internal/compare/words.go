package compare

import (
	"fmt"
	"strings"
)

// splitWords splits a command as a shell would, as long as it needs no shell:
// words, quotes and backslashes. ok is false for what only a shell can do.
func splitWords(command string) (words []string, ok bool, err error) {
	var word strings.Builder
	inWord := false
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case c == ' ' || c == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
			continue
		case c == '\'':
			end := strings.IndexByte(command[i+1:], '\'')
			if end < 0 {
				return nil, false, fmt.Errorf("a quotation mark has no other end")
			}
			word.WriteString(command[i+1 : i+1+end])
			i += end + 1
		case c == '"':
			end, plain := quoted(&word, command[i+1:])
			if end < 0 {
				return nil, false, fmt.Errorf("a quotation mark has no other end")
			}
			if !plain {
				return nil, false, nil
			}
			i += end + 1
		case c == '\\':
			if i++; i == len(command) || command[i] == '\n' {
				return nil, false, nil
			}
			word.WriteByte(command[i])
		case strings.IndexByte("|&;<>()$`*?[#~%!{}\n\r", c) >= 0:
			return nil, false, nil
		case c == '=' && len(words) == 0:
			return nil, false, nil // a setting before the command
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, true, nil
}

// quoted writes what stands between double quotes and returns where they end,
// -1 for nowhere. plain is false where a shell would put something in.
func quoted(word *strings.Builder, rest string) (end int, plain bool) {
	plain = true
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return i, plain
		case c == '$' || c == '`':
			plain = false
		case c == '\\' && i+1 < len(rest) && strings.IndexByte("\"\\$`", rest[i+1]) >= 0:
			i++
			word.WriteByte(rest[i])
		default:
			word.WriteByte(c)
		}
	}
	return -1, plain
}
