package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteJSON writes v and a line end; each level is indented so, "" for all of it
// on one line. It reads as encoding/json's, but what Safe makes visible stands in
// it as escapes of JSON's own.
func WriteJSON(w io.Writer, v any, indent string) error {
	text, err := JSON(v, indent)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// JSON is what WriteJSON writes.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return escaped(b.Bytes()), nil
}

// escaped expects JSON, where what is not ASCII stands within strings, and returns
// it itself where nothing is to be done.
func escaped(text []byte) []byte {
	var made []byte
	done := 0
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !unicode.IsPrint(r) {
			made = append(made, text[done:i]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				made = fmt.Appendf(made, `\u%04x`, unit)
			}
			done = i + size
		}
		i += size
	}
	if made == nil {
		return text
	}
	return append(made, text[done:]...)
}
