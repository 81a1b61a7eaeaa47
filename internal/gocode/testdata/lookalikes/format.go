package lookalikes

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

type loud string

func (l loud) String() string { return strings.ToUpper(string(l)) }

type shy struct{ b *bytes.Buffer }

func (s shy) String() string { s.b.WriteString("!"); return "shy" }

type failing int

func (f failing) Error() string { return "failing" }

func withMethod(l loud) string {
	return fmt.Sprintf("%s", l) // refuse: fmt.Sprintf
}

func numberWithMethod(f failing) string {
	return fmt.Sprintf("%v", f) // refuse: fmt.Sprintf
}

func ofError(err error) string {
	return fmt.Sprintf("%s", err) // refuse: fmt.Sprintf
}

func ofAny(v any) string {
	return fmt.Sprint(v) // refuse: fmt.Sprint
}

func ofFloat(f float64) string {
	return fmt.Sprintf("%v", f) // refuse: fmt.Sprintf
}

func withWidth(n int) string {
	return fmt.Sprintf("%5d", n) // refuse: fmt.Sprintf
}

func wrongVerb(s string) string {
	return fmt.Sprintf("%d", s) // refuse: fmt.Sprintf
}

func wrongNumber(s string) string {
	return fmt.Sprintf("%s") + s // refuse: fmt.Sprintf
}

func tooMany(s string) string {
	return fmt.Sprintf("%s", s, s) // refuse: fmt.Sprintf
}

func anyFormat(format, s string) string {
	return fmt.Sprintf(format, s) // refuse: fmt.Sprintf
}

func variadic(format string, all ...any) string {
	return fmt.Sprintf("%s", all...) // refuse: fmt.Sprintf
}

func twoSprint(a, b int) string {
	return fmt.Sprint(a, b) // refuse: fmt.Sprint
}

func ordered(n int) string {
	return fmt.Sprintf("%d %d", n, step(&n)) // refuse: fmt.Sprintf
}

func step(n *int) int { *n++; return *n }

func writesMeanwhile(s shy) string {
	s.b.WriteString(fmt.Sprintf("%s", s)) // refuse: fmt.Sprintf
	return s.b.String()
}

func countsBytes(b *bytes.Buffer, n int) int {
	size, _ := b.WriteString(fmt.Sprintf("%5d", n)) // refuse: fmt.Sprintf
	return size
}

func printsToAnybody(w io.StringWriter, n int) {
	w.WriteString(fmt.Sprintf("%5d", n)) // refuse: fmt.Sprintf
}

func flushesElsewhere(w *bufio.Writer, n int) {
	w.WriteString(fmt.Sprintf("%5d", n)) // refuse: fmt.Sprintf
}

func digitsToAnybody(w io.StringWriter, n int) {
	w.WriteString(strconv.Itoa(n)) // refuse: strconv.Itoa
}

func digitsOfWrites(b *bytes.Buffer) {
	b.WriteString(strconv.Itoa(writes(b))) // refuse: strconv.Itoa
}

func writes(b *bytes.Buffer) int { n, _ := b.WriteString("x"); return n }

func whichBuffer(n int) {
	buffer().WriteString(strconv.Itoa(n)) // refuse: strconv.Itoa
}

func buffer() *bytes.Buffer { global++; return new(bytes.Buffer) }

func sizeOfDigits(b *strings.Builder, n int) int {
	size, _ := b.WriteString(strconv.Itoa(n)) // refuse: strconv.Itoa
	return size
}

func shifted(b *strings.Builder, n uint) {
	b.WriteString(strconv.Itoa(1 << n)) // refuse: strconv.Itoa
}

type octets []byte

func appendsOther(b octets, n int) octets {
	return append(b, strconv.Itoa(n)...) // refuse: strconv.Itoa
}

func appendsOrdered(b []byte) []byte {
	return append(b, strconv.Itoa(step(&global))...) // refuse: strconv.Itoa
}

func notNil(s string, n float64) []byte {
	return []byte(fmt.Sprintf("%.*s", 0, s)) // refuse: fmt.Sprintf
}

const namedFormat = "%s/%d"

func ofNamedFormat(s string, n int) string {
	return fmt.Sprintf(namedFormat, s, n) // refuse: fmt.Sprintf
}

func printsNamedFormat(b *bytes.Buffer, s string, n int) {
	fmt.Fprintf(b, namedFormat, s, n) // refuse: fmt.Fprintf
}

func ofSeveralLines(s string) string {
	return fmt.Sprintf(`%s // refuse: fmt.Sprintf
`, s)
}
