package lookalikes

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

func printsLoud(b *bytes.Buffer, l loud) {
	fmt.Fprintf(b, "%s", l) // refuse: runtime.convTstring
}

func printsAny(b *bytes.Buffer, v any) {
	fmt.Fprintf(b, "%v", v) // refuse: fmt.Fprintf
}

func printsErr(b *bytes.Buffer, err error) {
	fmt.Fprintln(b, err) // refuse: fmt.Fprintln
}

func printsFloat(b *bytes.Buffer, f float64) {
	fmt.Fprintf(b, "%v", f) // refuse: runtime.convT64
}

func printsWidth(b *bytes.Buffer, n int) {
	fmt.Fprintf(b, "%3d", n) // refuse: runtime.convT64
}

func printsUpper(b *bytes.Buffer, n int) {
	fmt.Fprintf(b, "%X", n) // refuse: runtime.convT64
}

func printsHexOfString(b *bytes.Buffer, s string) {
	fmt.Fprintf(b, "%x", s) // refuse: runtime.convTstring
}

func printsQuotedRune(b *bytes.Buffer, r rune) {
	fmt.Fprintf(b, "%q", r) // refuse: runtime.convT32
}

func printsTooFew(b *bytes.Buffer, n int) {
	fmt.Fprintf(b, "%d %d", n) // refuse: runtime.convT64
}

func printsTooMany(b *bytes.Buffer, n int) {
	fmt.Fprintf(b, "%d", n, n) // refuse: runtime.convT64
}

func printsSpread(b *bytes.Buffer, all ...any) {
	fmt.Fprintln(b, all...) // refuse: fmt.Fprintln
}

func printsTwo(b *bytes.Buffer, n, m int) {
	fmt.Fprint(b, n, m) // refuse: runtime.convT64
}

// How many bytes are written, and how often, matters to others.
func printsElsewhere(w io.Writer, n int) {
	fmt.Fprintf(w, "%d", n) // refuse: runtime.convT64
}

func printsBuffered(w *bufio.Writer, n int) {
	fmt.Fprintf(w, "%d", n) // refuse: runtime.convT64
}

func printsCounted(b *bytes.Buffer, n int) int {
	size, _ := fmt.Fprintf(b, "%d", n) // refuse: runtime.convT64
	return size
}

func printsWhich(n int) {
	fmt.Fprintf(buffer(), "%d", n) // refuse: runtime.convT64
}

type holder struct{ b *bytes.Buffer }

func printsToField(h *holder, n int) {
	fmt.Fprintf(h.b, "%d", n) // refuse: runtime.convT64
}

func printsOrdered(b *bytes.Buffer, n int) {
	fmt.Fprintf(b, "%d %d", n, step(&n)) // refuse: runtime.convT64
}

func printsToAnother(b *bytes.Buffer, n int) {
	other := func() int { b = new(bytes.Buffer); return n }
	fmt.Fprintf(b, "%d", other()) // refuse: runtime.convT64
}

func printsShifted(b *bytes.Buffer, n uint) {
	fmt.Fprintf(b, "%d", 1<<n) // refuse: runtime.convT64
}

func printsPointer(b *bytes.Buffer, n *int) {
	fmt.Fprintf(b, "%v", n) // refuse: fmt.Fprintf
}

func printsBytes(b *bytes.Buffer, part []byte) {
	fmt.Fprintf(b, "%s", part) // refuse: runtime.convTslice
}

type shownBuffer struct{ bytes.Buffer }

func printsToOwn(b *shownBuffer, n int) {
	fmt.Fprintf(b, "%d", n) // refuse: runtime.convT64
}

func printsInHead(n int) string {
	var b strings.Builder
	if fmt.Fprintf(&b, "%d", n); n > 0 { // refuse: runtime.convT64
		return b.String()
	}
	return ""
}

func printsWithComment(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d" /* the number */, n) // refuse: runtime.convT64
	return b.String()
}

func printsSomeLoud(n int, l loud) string {
	var b strings.Builder // refuse: runtime.newobject
	fmt.Fprintf(&b, "%d", n)
	fmt.Fprintf(&b, "%s", l)
	return b.String()
}

func printsTwoDigits(b *bytes.Buffer, n int) {
	fmt.Fprintf(b, "%02x", n) // refuse: runtime.convT64
}

func printsThreeDigits(b *bytes.Buffer, n byte) {
	fmt.Fprintf(b, "%03x", n) // refuse: fmt.Fprintf
}

func joinsTwoDigits(n byte) string {
	return fmt.Sprintf("%02x", n) // refuse: fmt.Sprintf
}
