package text_test

import (
	"bytes"
	"strings"
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/recording"
	"mallow/internal/report/text"
)

// The headline has the peak without libc's own blocks, the table what lived at that with them.
func TestPeakOfLibc(t *testing.T) {
	for buffer, told := range map[uint64]bool{4096: true, 1024: false} {
		p := ruletest.NewProgram(t)
		p.Hold(100, 40, p.Stack(recording.Malloc, "make nodes.c:7"))
		p.Soon(1, buffer, p.Stack(recording.Malloc, "libc!_IO_file_doallocate", "libc!printf", "print nodes.c:20"))
		profile := p.Profile()
		profile.Program.PeakBytes = 4000 // as the recorder has it; the threads of a made-up program do not tell libc's apart
		for _, all := range []bool{false, true} {
			var b bytes.Buffer
			if err := text.Write(&b, profile, text.Options{All: all}); err != nil {
				t.Fatal(err)
			}
			note := "note: at peak is what lived when libc's own blocks and all others had most bytes, 4.10 kB; without libc's 4.00 kB, at another time"
			if got := strings.Contains(b.String(), note); got != (told && !all) {
				t.Errorf("a buffer of %d bytes, all %v: told %v\n%s", buffer, all, got, b.String())
			}
		}
	}
}
