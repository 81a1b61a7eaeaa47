package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzShortName holds that names of functions and types are short, printable
// and never nothing.
func FuzzShortName(f *testing.F) {
	for _, name := range []string{
		"main", "main()::{lambda(int)#1}::operator()(int) const", "a(b(c::d)::e", "(anonymous namespace)::", "operator()()", "x<y(z)>::w(\x1b)",
		strings.Repeat("name<", 40),
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		// A character that is no character is shown as four.
		const most = 10 * longestName
		if shortName(name) == "" {
			t.Errorf("%q has no name", name)
		}
		for _, short := range []string{shortName(name), shortType(name), tidyCode(name)} {
			if utf8.RuneCountInString(short) > most || strings.ContainsAny(short, "\x1b\n\r\u202e") || !utf8.ValidString(short) {
				t.Errorf("%q: %q", name, short)
			}
		}
	})
}
