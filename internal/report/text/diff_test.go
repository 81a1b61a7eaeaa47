package text_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"mallow/internal/diff"
	"mallow/internal/diff/difftest"
	"mallow/internal/report/text"
)

// The first lines are folded on a narrow terminal, as those of a report are.
func TestNarrowDiff(t *testing.T) {
	d := diff.Compare(difftest.Profile("3000 malloc 16: copy a.c:10\n7 malloc 3: libc!tzset\n"), difftest.Profile("600 malloc 16: copy a.c:10\n"), diff.Options{All: true})
	var b bytes.Buffer
	if err := text.WriteDiff(&b, d, text.DiffOptions{Top: 3, Width: 44}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 44 {
			t.Errorf("too long: %s", line)
		}
	}
}
