package term

import "github.com/mattn/go-runewidth"

// widths are those of a terminal outside of East Asia: what may be one column
// or two is one.
var widths = runewidth.Condition{}

// Columns is how many columns of a terminal a text takes that has no controls:
// two for each character of Chinese, Japanese and Korean and for pictures, none
// for what only joins or marks the one before.
func Columns(s string) int { return widths.StringWidth(s) }

// ColumnsOf is Columns of one character by itself.
func ColumnsOf(r rune) int { return widths.RuneWidth(r) }
