// Package lookalikes has lines that look as if they could be rewritten to
// allocate less, and where a rewrite would change what the program does. The
// comment names the function that allocates there.
package lookalikes

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"hash"
	"io"
	"strconv"
	"strings"
)

var (
	global int
	kept   []byte
)

type counter struct{ n int }

func (c *counter) step() { c.n++ }

func change(n *int)       { *n++ }
func use(words ...string) {}
func keep(b []byte)       { kept = b }
func more() bool          { global++; return global < 100 }

func assigned(n int) (size int) {
	for range 10 {
		size += len(strconv.Itoa(n)) // refuse: strconv.Itoa
		n *= 2
	}
	return size
}

func counted(n int) (size int) {
	for range 10 {
		size += len(strconv.Itoa(n)) // refuse: strconv.Itoa
		n++
	}
	return size
}

func shared(n int) (size int) {
	for range 10 {
		size += len(strconv.Itoa(n)) // refuse: strconv.Itoa
		change(&n)
	}
	return size
}

func captured(n int) (size int) {
	double := func() { n *= 2 }
	for range 10 {
		size += len(strconv.Itoa(n)) // refuse: strconv.Itoa
		double()
	}
	return size
}

func ofPackage() (size int) {
	for more() {
		size += len(strconv.Itoa(global)) // refuse: strconv.Itoa
	}
	return size
}

func ofField(c *counter) (size int) {
	for range 10 {
		size += len(strconv.Itoa(c.n)) // refuse: strconv.Itoa
		c.step()
	}
	return size
}

func ofElement(all []int) (size int) {
	for i := range all {
		size += len(strconv.Itoa(all[0])) // refuse: strconv.Itoa
		all[i]++
	}
	return size
}

func ofRange(all []int) (size int) {
	for _, n := range all {
		size += len(strconv.Itoa(n)) // refuse: strconv.Itoa
	}
	return size
}

func ofCall() (size int) {
	for range 10 {
		size += len(strconv.Itoa(next())) // refuse: strconv.Itoa
	}
	return size
}

func next() int { global++; return global }

func ofReceived(c chan int) (size int) {
	for range 10 {
		size += len(strconv.Itoa(<-c)) // refuse: strconv.Itoa
	}
	return size
}

type fake struct{}

func (fake) Itoa(n int) string { global++; return strconv.FormatInt(int64(global), 2) }

func hidden(n int) (size int) {
	strconv := fake{}
	for range 10 {
		size += len(strconv.Itoa(n)) // refuse: strconv.Itoa
	}
	return size
}

func mayPanic(n, base int) (size int) {
	for range 10 {
		if base > 1 {
			size += len(strconv.FormatInt(int64(n), base)) // refuse: strconv.FormatInt
		}
	}
	return size
}

func repeats(n int) string { return strings.Repeat("ab", n) } // refuse: strings.Repeat

func repeatsMuch() string { return strings.Repeat("ab", 1000) } // refuse: strings.Repeat

func nilWhenEmpty(n uint8) []int {
	var all []int
	for i := 0; i < int(n); i++ {
		all = append(all, i) // refuse: runtime.growslice
	}
	return all
}

func comparedWithNil(n uint8) bool {
	var all []int
	for i := 0; i < int(n); i++ {
		all = append(all, i) // refuse: runtime.growslice
	}
	return all == nil
}

func encoded(n uint8) string {
	var all []int
	for i := 0; i < int(n); i++ {
		all = append(all, i) // refuse: runtime.growslice
	}
	text, _ := json.Marshal(all)
	return string(text)
}

func perhapsNegative(n int) string {
	var b []byte
	for i := 0; i < n; i++ {
		b = append(b, 'x') // refuse: runtime.growslice
	}
	return string(b)
}

func leavesEarly(n uint8) string {
	var b []byte
	for i := 0; i < int(n); i++ {
		if more() {
			break
		}
		b = append(b, 'x') // refuse: runtime.growslice
	}
	return string(b)
}

func twoNames(n uint8) string {
	var b []byte
	other := b
	for i := 0; i < int(n); i++ {
		b = append(b, 'x') // refuse: runtime.growslice
	}
	return string(b) + string(other)
}

func seesRoom(n uint8) int {
	var b []byte
	for i := 0; i < int(n); i++ {
		b = append(b, 'x') // refuse: runtime.growslice
	}
	return cap(b)
}

func growsMore(n uint8) string {
	var b []byte
	for i := 0; i < int(n); i++ {
		b = append(b, 'x') // refuse: runtime.growslice
		b = append(b, 'y') // refuse: runtime.growslice
	}
	return string(b)
}

func jumps(n uint8) string {
	var b []byte
	for i := 0; i < int(n); i++ {
		b = append(b, 'x') // refuse: runtime.growslice
		i -= 1 - int(n)%2
	}
	return string(b)
}

func manyTimes(n uint8) (size int) {
	for range 10 {
		var b []byte
		for i := 0; i < int(n); i++ {
			if i > 3 {
				continue
			}
			keep(b)
			b = append(b, 'x') // refuse: runtime.growslice
		}
		size += len(b)
	}
	return size
}

func bufferIsRead() (int, [32]byte) {
	var buf bytes.Buffer
	for range 10 {
		buf.WriteString("words") // refuse: bytes.(*Buffer).WriteString
		if buf.Len() > 20 {
			break
		}
	}
	sum := sha256.Sum256(buf.Bytes())
	return buf.Len(), sum
}

func bufferIsWrittenLater() [32]byte {
	var buf bytes.Buffer
	buf.WriteString(strconv.Itoa(global)) // refuse: bytes.(*Buffer).WriteString
	sum := sha256.Sum256(buf.Bytes())
	buf.WriteString("more")
	return sum
}

func bufferIsHashedTwice() ([32]byte, [32]byte) {
	var buf bytes.Buffer
	buf.WriteString(strconv.Itoa(global)) // refuse: bytes.(*Buffer).WriteString
	sum := sha256.Sum256(buf.Bytes())
	again := sha256.Sum256(buf.Bytes())
	return sum, again
}

func bufferIsPassedOn(w io.Writer) [32]byte {
	var buf bytes.Buffer
	buf.WriteString(strconv.Itoa(global)) // refuse: bytes.(*Buffer).WriteString
	sum := sha256.Sum256(buf.Bytes())
	buf.WriteTo(w)
	return sum
}

func bufferCountsWrites() (n int, sum [32]byte) {
	var buf bytes.Buffer
	n, _ = buf.WriteString(strconv.Itoa(global)) // refuse: bytes.(*Buffer).WriteString
	return n, sha256.Sum256(buf.Bytes())
}

func digitsAreKept(n int) string {
	digits := strconv.Itoa(n) // refuse: strconv.Itoa
	h := sha256.New()
	h.Write([]byte(digits))
	return digits
}

func writerMayKeep(w io.Writer, n int) {
	digits := strconv.Itoa(n) // refuse: strconv.Itoa
	w.Write([]byte(digits))
}

func hashMayBeAnother(h hash.Hash, n int) {
	digits := strconv.Itoa(n) // refuse: strconv.Itoa
	h.Write([]byte(digits))
}

func hashIsSetAgain(other hash.Hash, n int) {
	h := sha256.New()
	if n > 5 {
		h = other
	}
	digits := strconv.Itoa(n) // refuse: strconv.Itoa
	h.Write([]byte(digits))
}

func bytesAreKept(n int) {
	digits := strconv.Itoa(n) // refuse: strconv.Itoa
	keep([]byte(digits))
}

// The call is made once at most: before the loop it would be made always.
func leavesWithIt(n int, all []int) string {
	for _, one := range all {
		if one > n {
			return strconv.Itoa(n) // refuse: strconv.Itoa
		}
	}
	return ""
}

func leavesAfterIt(n int, all []int) (size int) {
	for _, one := range all {
		if one > n {
			size = len(strconv.Itoa(n)) // refuse: strconv.Itoa
			return size
		}
	}
	return size
}

// A jump back goes to the loop again, with another number.
func jumpBack(n int) int {
	length := 0
again:
	for range 3 {
		length += len(strconv.Itoa(n)) // refuse: strconv.Itoa
	}
	if n++; n < 12 {
		goto again
	}
	return length
}
