package callcount

import (
	"encoding/binary"
	"slices"

	"mallow/internal/symbolize"
)

// withoutPreludes leaves out the codes of a constructor or destructor of C++
// that call a further form of it: where the compiler makes forms of one
// another, a call of the last one is all. A call back is one of the source,
// such as that of a list's element that deletes the next one.
func withoutPreludes(copies []symbolize.Code) []symbolize.Code {
	return slices.DeleteFunc(slices.Clone(copies), func(code symbolize.Code) bool {
		return slices.ContainsFunc(copies, func(other symbolize.Code) bool {
			return code.IsFormBefore(other) && calls(code, other)
		})
	})
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
