package text_test

import (
	"bytes"
	"strings"
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
	"mallow/internal/report/text"
)

// Where most calls are libc's, the report says which of its functions made them for whom.
func TestMostlyLibc(t *testing.T) {
	const line = "        libc's by re_search for match match.c:12 (1,500), getline for lines lines.c:3 (20), qsort for sort sort.c:9 (10), 2 more\n"
	for own, told := range map[int]bool{1500: true, 1600: false} {
		p := ruletest.NewProgram(t)
		p.Keep(own, 40, p.Stack(recording.Malloc, "own work.c:9"))
		p.Soon(1000, 280, p.Stack(recording.Malloc, "libc!re_search_internal", "libc!re_search", "match match.c:12"))
		p.Soon(500, 28, p.Stack(recording.Malloc, "libc!re_node_set_init", "libc!re_search", "match match.c:12"))
		p.Soon(20, 120, p.Stack(recording.Malloc, "libc!__getdelim", "lines lines.c:3"))
		p.Soon(10, 120, p.Stack(recording.Malloc, "libc!qsort_r", "sort sort.c:9"))
		p.Soon(5, 120, p.Stack(recording.Malloc, "libc!fopen", "open open.c:9"))
		p.Soon(4, 120, p.Stack(recording.Malloc, "libc!fopen", "open open.c:10"))
		profile := p.Profile()
		for _, all := range []bool{false, true} {
			var b bytes.Buffer
			if err := text.Write(&b, profile, text.Options{All: all}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.String(), line); got != (told && !all) {
				t.Errorf("%d of the program's, all %v: told %v\n%s", own, all, got, b.String())
			}
		}
	}
}
