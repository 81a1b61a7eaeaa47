package report_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"mallow/internal/advise"
	"mallow/internal/diff"
	"mallow/internal/diff/difftest"
	"mallow/internal/profile"
	reportjson "mallow/internal/report/json"
	"mallow/internal/report/text"
)

const beforeChange = `
40000 malloc 16: poll_set_grow net/poll.c:88 < poll_loop net/poll.c:120 < main main.c:9
600 malloc 32: list_new util/list.c:50 < table_init table.c:80 < main main.c:5
12 malloc 32: list_new util/list.c:50 < session_new session.c:12 < main main.c:7
3 strdup 7: parse_old parse.c:10 < run parse.c:40 < main main.c:8
5 new 48: std::vector<int>::push_back stl.h:1 < net::read(int) net/read.cc:30 < main main.c:8
9 calloc 64: config config.c:4 < main main.c:2
2 malloc 100: config config.c:7 < main main.c:2
4 malloc 24: libz.so+0x100 in libz.so < main main.c:3
`

const afterChange = `
600 malloc 64: list_new util/list.c:55 < table_init table.c:80 < main main.c:5
412 malloc 64: list_new util/list.c:55 < session_new session.c:12 < main main.c:7
3 strdup 7: parse_new parse.c:10 < run parse.c:40 < main main.c:8
7 new 40: std::vector<int>::push_back stl.h:1 < net::read(int, bool) net/read.cc:35 < main main.c:8
9 calloc 64: config config.c:9 < main main.c:2
2 malloc 100 kept: config config.c:12 < main main.c:2
4 malloc 24: libz.so+0x180 in libz.so < main main.c:3
1 malloc 5: "\x1b[31m<script>‮ hostile.c:1 < main main.c:3
`

// estimate is a profile of samples whose figures are these.
func estimate(p *profile.Profile) *profile.Profile {
	p.Sampling = &profile.Sampling{MeanBytes: 512 << 10, Samples: 100}
	return p
}

// TestDiffs holds both forms of a comparison against expected files.
func TestDiffs(t *testing.T) {
	for name, pair := range map[string][2]*profile.Profile{
		"change":   {difftest.Profile(beforeChange), difftest.Profile(afterChange)},
		"back":     {difftest.Profile(afterChange), difftest.Profile(beforeChange)},
		"same":     {difftest.Profile(beforeChange), difftest.Profile(beforeChange)},
		"work":     {difftest.Profile(beforeChange + "unit request 10"), difftest.Profile(afterChange + "unit request 20")},
		"regions":  {load(t, "single-thread"), load(t, "regions")},
		"sampled":  {load(t, "single-thread"), load(t, "sampled")},
		"estimate": {difftest.Profile(beforeChange + "unit request 10"), estimate(difftest.Profile(afterChange + "unit request 20"))},
		"threads":  {load(t, "two-threads"), load(t, "truncated")},
		"family":   {load(t, "fork"), load(t, "symbolic")},
	} {
		forms := map[string]func(*bytes.Buffer) error{
			"txt": func(b *bytes.Buffer) error {
				d := diff.Compare(pair[0], pair[1], diff.Options{})
				return text.WriteDiff(b, d, text.DiffOptions{Top: 10, Advice: adviceOf(d)})
			},
			"all.txt": func(b *bytes.Buffer) error {
				d := diff.Compare(pair[0], pair[1], diff.Options{All: true})
				return text.WriteDiff(b, d, text.DiffOptions{Top: 3, Sort: diff.ByBytes, Colour: true, Width: 100, Next: "mallow"})
			},
			"json": func(b *bytes.Buffer) error {
				d := diff.Compare(pair[0], pair[1], diff.Options{All: true})
				var verdicts []diff.Verdict
				for _, m := range diff.Metrics {
					verdicts = append(verdicts, d.Judge(m))
				}
				var line bytes.Buffer
				if err := reportjson.WriteDiff(&line, d, reportjson.DiffOptions{Stacks: 2, Verdicts: verdicts, Advice: adviceOf(d)}); err != nil {
					return err
				}
				return json.Indent(b, line.Bytes(), "", " ")
			},
		}
		for form, write := range forms {
			t.Run(name+"."+form, func(t *testing.T) {
				var got bytes.Buffer
				if err := write(&got); err != nil {
					t.Fatal(err)
				}
				compare(t, filepath.Join("testdata", "diff", name+"."+form), got.Bytes())
			})
		}
	}
}

// adviceOf is advice in words that do not change with the rules.
func adviceOf(d *diff.Diff) []diff.AdviceChange {
	return d.Advice(onPolling(d.Old), onPolling(d.New))
}

func onPolling(p *profile.Profile) (r advise.Result) {
	for _, s := range p.Sites {
		if s.Function == "poll_set_grow" {
			r.Advice = append(r.Advice, advise.Advice{
				Rule: "temporary", Title: "40,000 blocks of 16 bytes", Remedy: "a fixed array of 16 bytes",
				Sites: []advise.Place{{Frame: s.Frame}}, Saves: advise.Saves{Allocations: 39_990},
			})
		}
	}
	return r
}
