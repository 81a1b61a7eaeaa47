package text

import (
	"strings"
	"unicode/utf8"

	"mallow/internal/term"
)

// style colours words of a line.
type style struct{ on bool }

const (
	escape = "\x1b["
	reset  = escape + "0m"
)

func (s style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return escape + code + "m" + text + reset
}

func (s style) bold(text string) string  { return s.wrap("1", text) }
func (s style) dim(text string) string   { return s.wrap("2", text) }
func (s style) place(text string) string { return s.wrap("36", text) }
func (s style) warn(text string) string  { return s.wrap("33", text) }

// cut shortens a line to width columns, not counting what only colours.
func (s style) cut(line string, width int) string {
	if term.Columns(stripped(line)) <= width {
		return line
	}
	var b strings.Builder
	column := 0
	for i, coloured := 0, false; i < len(line); {
		if strings.HasPrefix(line[i:], escape) {
			end := i + strings.IndexByte(line[i:], 'm') + 1
			coloured = line[i:end] != reset
			b.WriteString(line[i:end])
			i = end
			continue
		}
		r, length := utf8.DecodeRuneInString(line[i:])
		if column += term.ColumnsOf(r); column > width-1 {
			b.WriteString("…")
			if coloured {
				b.WriteString(reset)
			}
			return b.String()
		}
		b.WriteRune(r)
		i += length
	}
	return b.String()
}

func stripped(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if strings.HasPrefix(line[i:], escape) {
			i += strings.IndexByte(line[i:], 'm')
			continue
		}
		b.WriteByte(line[i])
	}
	return b.String()
}
