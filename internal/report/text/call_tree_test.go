package text_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
	"mallow/internal/report/text"
)

// More lines show what there was no room for, and never what is less than one per cent.
func TestTreeLeavesOut(t *testing.T) {
	p := ruletest.NewProgram(t)
	for i := range 6 {
		p.Keep(1000, 8, p.Stack(recording.Malloc, fmt.Sprintf("big%d a.c:%d", i, 10+i)))
	}
	p.Keep(5, 8, p.Stack(recording.Malloc, "small a.c:50"))
	profile := p.Profile()
	for top, want := range map[int]string{
		3:  "5 branches left out, of 1,000 at the most: --top N shows more lines",
		7:  "1 branch left out, of 5 at the most: less than 1 %",
		50: "1 branch left out, of 5 at the most: less than 1 %",
	} {
		var b bytes.Buffer
		if err := text.WriteTree(&b, profile, text.Options{Top: top}); err != nil {
			t.Fatal(err)
		}
		found := ""
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "left out") {
				found = strings.TrimSpace(line)
			}
		}
		if found != want {
			t.Errorf("--top %d: %q, not %q in\n%s", top, found, want, b.String())
		}
	}
}
