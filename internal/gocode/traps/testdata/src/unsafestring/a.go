package a

import "unsafe"

func changes(b []byte) string {
	s := unsafe.String(&b[0], len(b)) // want `the string has the memory of b, which line 7 writes to afterwards`
	b[0] = 'x'
	return s
}

func nextTurn(words []string) (all []string) {
	var b []byte
	for _, w := range words {
		b = append(b[:0], w...)
		all = append(all, unsafe.String(unsafe.SliceData(b), len(b))) // want `the string has the memory of b, which line 14 writes to afterwards`
	}
	return all
}

func wholeAndLeft(n int) string {
	b := make([]byte, 0, n)
	for range n {
		b = append(b, 'x')
	}
	b[0] = 'y'
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func ofEachTurn(words []string) (all []string) {
	for _, w := range words {
		b := []byte(w)
		b[0] = 'x'
		all = append(all, unsafe.String(&b[0], len(b)))
	}
	return all
}
