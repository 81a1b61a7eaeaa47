package lookalikes

import (
	"bytes"
	"crypto/sha256"
	"io"
	"strings"
)

func writesToAnybody(w io.Writer, text string) {
	w.Write([]byte(text)) // refuse: runtime.stringtoslicebyte
}

func writesToHash(text string) []byte {
	h := sha256.New()
	h.Write([]byte(text)) // refuse: runtime.stringtoslicebyte
	return h.Sum(nil)
}

func ofItself() string {
	var b bytes.Buffer
	b.WriteString("words")
	b.Next(2)
	b.WriteString(string(b.Bytes())) // refuse: runtime.slicebytetostring
	return b.String()
}

func ofAnother(b *bytes.Buffer, text []byte) {
	b.WriteString(string(text)) // refuse: runtime.slicebytetostring
}

func partOfItself(text []byte) string {
	var b bytes.Buffer
	text = b.AvailableBuffer()
	b.WriteString(string(text)) // refuse: runtime.slicebytetostring
	return b.String()
}

func runes(text []rune) string {
	var b strings.Builder
	b.WriteString(string(text)) // refuse: runtime.slicebytetostring
	return b.String()
}

func isRead() (string, error) {
	var b bytes.Buffer
	b.WriteString("words")
	b.ReadByte()
	return b.String(), nil // refuse: bytes.(*Buffer).String
}

func isCut() string {
	var b bytes.Buffer
	b.WriteString("words")
	b.Truncate(2)
	return b.String() // refuse: bytes.(*Buffer).String
}

func handsOutBytes() (string, []byte) {
	var b bytes.Buffer
	b.WriteString("words")
	return b.String(), b.Bytes() // refuse: bytes.(*Buffer).String
}

func handedOn(w func(*bytes.Buffer)) string {
	var b bytes.Buffer
	w(&b)
	return b.String() // refuse: bytes.(*Buffer).String
}

func isCopied() string {
	var b bytes.Buffer
	b.WriteString("words")
	c := b
	return c.String() // refuse: bytes.(*Buffer).String
}

func holds() any {
	var b bytes.Buffer
	b.WriteString("words")
	global = len(b.String()) // refuse: bytes.(*Buffer).String
	return b
}
