package term

import "unicode"

// Columns is how many columns of a terminal a text takes that has no controls:
// two for each character of Chinese, Japanese and Korean and for pictures, none
// for what only joins or marks the one before.
func Columns(s string) int {
	columns := 0
	for _, r := range s {
		columns += ColumnsOf(r)
	}
	return columns
}

// ColumnsOf is Columns of one character.
func ColumnsOf(r rune) int {
	switch {
	case r < firstMark:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// firstMark is the first character that is not of one column.
const firstMark = 0x300

// wide are what Unicode's East Asian Width calls wide and full width, by whole
// blocks.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x2329, 0x232a, 1}, {0x23e9, 0x23ec, 1}, {0x2e80, 0x303e, 1},
		{0x3041, 0x4dbf, 1}, {0x4e00, 0xa4cf, 1}, {0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18cff, 1}, {0x1aff0, 0x1b2ff, 1}, {0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1},
	},
}
