package callcount

import (
	"encoding/binary"
	"slices"

	"mallow/internal/symbolize"
)

// withoutPreludes leaves out the codes of a constructor or destructor of C++
// that call another one: its forms, for a whole object, for the part of a
// derived one and with the release of the memory, do what one in the source
// does, and where the compiler makes them of one another, a call of the last
// one is all.
func withoutPreludes(copies []symbolize.Code) []symbolize.Code {
	return slices.DeleteFunc(slices.Clone(copies), func(code symbolize.Code) bool {
		return slices.ContainsFunc(copies, func(other symbolize.Code) bool {
			return areForms(code.Symbol, other.Symbol) && calls(code, other)
		})
	})
}

// areForms tells whether two symbols are forms of one constructor or
// destructor: they differ in the digit behind C or D, or behind CI in one that
// is inherited.
func areForms(a, b string) bool {
	if len(a) != len(b) || symbolize.Readable(a) != symbolize.Readable(b) {
		return false
	}
	at := -1
	for i := range len(a) {
		if a[i] != b[i] {
			if at >= 0 {
				return false
			}
			at = i
		}
	}
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
	return at > 0 && isDigit(a[at]) && isDigit(b[at]) && slices.Contains([]byte("CDI"), a[at-1])
}

// calls tells whether code calls another one or goes on with it, directly or in
// the way that leads to the symbol in whatever file.
func calls(code, other symbolize.Code) bool {
	leadsThere := func(address int64) bool {
		return uint64(address) == other.Address || slices.Contains(other.Through, uint64(address))
	}
	for at := 0; at < len(code.Bytes); {
		in, ok := decode(code.Bytes[at:])
		if !ok {
			return false
		}
		here := int64(code.Address) + int64(at)
		switch {
		case in.jumpBytes > 0 && leadsThere(here+in.target(code.Bytes[at:])):
			return true
		case in.jumpBytes == 0 && in.memory > 0 && (in.flow == flowCall || in.flow == flowJump):
			displacement := int32(binary.LittleEndian.Uint32(code.Bytes[at+in.memory:]))
			if leadsThere(here + int64(in.length) + int64(displacement)) {
				return true
			}
		}
		at += in.length
	}
	return false
}
