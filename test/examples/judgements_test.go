package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

// mostWrong is the share of the entries that a maintainer may call wrong.
const mostWrong = 0.2

// verdicts are what docs/advice.md says: of each entry, and of which versions of the programs.
type verdicts struct {
	entries  []verdict
	versions map[string]string // of each program
}

// verdict is a row of the table of entries: | program | rule | line | verdict | why |
type verdict struct {
	program, rule, place string
	right                bool
}

func readVerdicts(t *testing.T) verdicts {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "advice.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := verdicts{versions: make(map[string]string)}
	for n, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		switch {
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || cells[0] == "program":
		case len(cells) == 3:
			all.versions[cells[0]] = cells[1]
		case len(cells) != 5 || cells[3] != "right" && cells[3] != "wrong" || cells[4] == "":
			t.Errorf("docs/advice.md:%d: a verdict is right or wrong, and has a reason: %s", n+1, line)
		default:
			all.entries = append(all.entries, verdict{cells[0], cells[1], cells[2], cells[3] == "right"})
		}
	}
	return all
}

// tally counts what was judged.
type tally struct{ entries, wrong int }

// TestJudgements looks at the advice for programs that are fine: each entry is judged in docs/advice.md, and few are
// wrong.
func TestJudgements(t *testing.T) {
	judged := readVerdicts(t)
	var sum tally
	for _, e := range examples {
		t.Run(e.source, func(t *testing.T) { sum.judge(t, judged, e.source, record(t, e, "cured").report) })
	}
	for _, o := range others {
		t.Run(o.name, func(t *testing.T) {
			if versions := o.versions(t); versions != judged.versions[o.name] {
				t.Skipf("judged was the advice for %q, installed is %q", judged.versions[o.name], versions)
			}
			sum.judge(t, judged, o.name, recordOther(t, o))
		})
	}
	t.Logf("%d entries, %d wrong", sum.entries, sum.wrong)
	if float64(sum.wrong) > mostWrong*float64(sum.entries) {
		t.Errorf("%d of %d entries are wrong", sum.wrong, sum.entries)
	}
}

// judge compares what is said of a program with what was judged.
func (sum *tally) judge(t *testing.T, judged verdicts, program string, report harness.Report) {
	t.Helper()
	said := make(map[string]harness.Advice)
	for _, a := range report.Advice {
		if len(a.Sites) == 0 {
			t.Errorf("advice without a place: %s", a.Title)
			continue
		}
		said[a.Rule+" "+place(a.Sites[0])] = a
	}
	for _, v := range judged.entries {
		if v.program != program {
			continue
		}
		key := v.rule + " " + v.place
		if _, ok := said[key]; !ok {
			t.Errorf("judged, but not said of %s: %s", program, key)
			continue
		}
		delete(said, key)
		sum.entries++
		if !v.right {
			sum.wrong++
		}
	}
	for _, a := range said {
		t.Errorf("nobody judged:\n| %s | %s | `%s` | right or wrong | why |\n%s",
			program, a.Rule, place(a.Sites[0]), list([]harness.Advice{a}))
	}
}

func recordOther(t *testing.T, o other) harness.Report {
	t.Helper()
	result, recording := harness.Record(t, o.prepare(t, harness.TempDir(t)))
	if result.Status != 0 {
		t.Fatalf("%s: %s\n%s", o.name, result.Ending(), result.Errors)
	}
	return readUnpriced(t, recording)
}
