package importer

import (
	"bytes"
	"fmt"
)

// jemallocHead begins a profile that jemalloc dumps: for each stack a line of
// addresses, then one with the sums of all threads, which begins with t*, and
// those of single threads.
var jemallocHead = []byte("heap_v2/")

// fromJemalloc returns the profile as gperftools writes it, which has addresses
// and sums on one line.
func fromJemalloc(data []byte) ([]byte, error) {
	var out bytes.Buffer
	var rate, stack []byte
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := bytes.TrimSpace(line)
		addresses, isStack := bytes.CutPrefix(text, []byte("@"))
		sums, isSum := bytes.CutPrefix(text, []byte("t*:"))
		switch {
		case number == 1:
			rate = bytes.TrimPrefix(text, jemallocHead)
		case bytes.Equal(text, []byte("MAPPED_LIBRARIES:")):
			out.Write(restFrom(data, number))
			return out.Bytes(), nil
		case isStack:
			stack = addresses
		case isSum && stack == nil && out.Len() == 0:
			fmt.Fprintf(&out, "heap profile: %s @ heap_v2/%s\n", bytes.TrimSpace(sums), rate)
		case isSum && stack != nil:
			fmt.Fprintf(&out, "%s @%s\n", bytes.TrimSpace(sums), stack)
			stack = nil
		case len(text) == 0, text[0] == 't':
		default:
			return nil, fmt.Errorf("line %d: expected @ and addresses, or t and sums, of a profile of jemalloc, and found %q", number, text[:min(len(text), 60)])
		}
	}
	return out.Bytes(), nil
}

// restFrom returns the lines from a number on, which is 1 for the first.
func restFrom(data []byte, number int) []byte {
	for ; number > 1; number-- {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data
}
