package text_test

import (
	"bytes"
	"regexp"
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/analyze"
	"mallow/internal/recording"
	"mallow/internal/report/text"
)

// A table by live bytes names who keeps blocks, not who asks for most and releases all of them.
func TestCallersByWhatIsSorted(t *testing.T) {
	p := ruletest.NewProgram(t)
	p.Soon(1000, 16, p.Stack(recording.Malloc, "take mem.c:5", "scan scan.c:10"))
	p.Keep(3, 500, p.Stack(recording.Malloc, "take mem.c:5", "open open.c:20"))
	p.Keep(1, 100, p.Stack(recording.Malloc, "take mem.c:5", "load load.c:30"))
	profile := p.Profile()
	for order, want := range map[analyze.Order]string{
		analyze.ByCalls: "<- scan scan.c:10 (1,000), open open.c:20 (3), load load.c:30 (1)",
		analyze.ByBytes: "<- scan scan.c:10 (16.0 kB), open open.c:20 (1.50 kB), load load.c:30 (100 B)",
		analyze.ByLive:  "<- open open.c:20 (1.50 kB), load load.c:30 (100 B)",
		analyze.BySize:  "<- scan scan.c:10 (1,000), open open.c:20 (3), load load.c:30 (1)",
	} {
		var b bytes.Buffer
		if err := text.Write(&b, profile, text.Options{Sort: order}); err != nil {
			t.Fatal(err)
		}
		if got := regexp.MustCompile(`(?m)<- .*$`).FindString(b.String()); got != want {
			t.Errorf("by %s: %q, not %q", order, got, want)
		}
	}
}
