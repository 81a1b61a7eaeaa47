package recording

import "io"

// Unit is a kind of work that the process counted.
type Unit struct {
	Name    string
	Source  UnitSource
	Amount  uint64
	Calls   uint64      // with which it was counted
	Refusal UnitRefusal // why the calls of a function could not be counted
}

// UnitSource tells who counts a unit.
type UnitSource uint32

const (
	UnitOfProgram  UnitSource = 1 + iota // the program, by mallow_unit
	UnitOfFunction                       // libmallow, at each call of a function
)

// UnitRefusal is why libmallow does not count the calls of a function; 0: it
// does.
type UnitRefusal uint32

const (
	RefusedNotLoaded UnitRefusal = 1 + iota
	RefusedOtherCode
	RefusedNoMemory
	RefusedWriting
)

func (r UnitRefusal) String() string {
	switch r {
	case 0:
		return ""
	case RefusedNotLoaded:
		return "its module was not loaded when the program started"
	case RefusedOtherCode:
		return "its code in memory is not that of the file"
	case RefusedNoMemory:
		return "there was no memory near it"
	case RefusedWriting:
		return "the system does not let its code be changed"
	}
	return "of a reason that this mallow does not know"
}

const (
	unitBytes     = 256
	unitNameStart = 32
)

func (im *Image) readUnits(r io.ReaderAt) {
	im.read(r, sectionUnits, func(chunk []byte) {
		for ; len(chunk) >= unitBytes; chunk = chunk[unitBytes:] {
			item := chunk[:unitBytes]
			im.Units = append(im.Units, Unit{
				Name:    nameIn(item[unitNameStart:], le.Uint32(item[24:])),
				Source:  UnitSource(le.Uint32(item[16:])),
				Amount:  le.Uint64(item[0:]),
				Calls:   le.Uint64(item[8:]),
				Refusal: UnitRefusal(le.Uint32(item[20:])),
			})
		}
	})
}
