package trend_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mallow/internal/diff"
	"mallow/internal/history"
	"mallow/internal/profile"
	"mallow/internal/report/trend"
	"mallow/internal/stacks"
)

var update = flag.Bool("update", false, "write the golden files anew")

const hostile = "<script>alert(1)</script>\"'&\n\x1b[31m\u202etxt"

// made are series of two benchmarks: exact ones with two steps, a noisy one
// without, one of a single point of a changed tree.
func made() []history.Point {
	var points []history.Point
	for i := range 24 {
		at := time.Date(2026, 11, 1+i, 3, 0, 0, 0, time.UTC)
		p := history.Point{
			Key:    history.Key{Benchmark: "parse", Platform: "x86_64-linux-gnu, glibc 2.36, libmallow"},
			Commit: strings.Repeat(fmt.Sprintf("%02x", i), 20), CommitTime: at, Time: at, Dirty: i == 23,
			Metrics: map[string]history.Value{
				"allocations": {Value: 1000, Class: history.Exact},
				"bytes":       {Value: 64_000_000, Unit: "bytes", Class: history.Exact},
				"cpu":         {Value: 1.5 + 0.01*float64(i*7%5), Unit: "seconds", Class: history.Noisy},
			},
		}
		if i >= 10 {
			p.Metrics["allocations"] = history.Value{Value: 1001, Class: history.Exact}
		}
		if i >= 18 {
			p.Metrics["allocations"] = history.Value{Value: 40, Class: history.Exact}
			p.Metrics["bytes"] = history.Value{Value: 64_000_001, Unit: "bytes", Class: history.Exact}
		}
		points = append(points, p)
	}
	odd := points[23]
	odd.Key = history.Key{Benchmark: hostile, Platform: hostile, Build: hostile}
	odd.Metrics = map[string]history.Value{hostile: {Value: 0.5, Unit: hostile}}
	return append(points, odd)
}

func cause(s *history.Series, step *history.Step) (*history.Cause, error) {
	if s.Metric != "allocations" {
		return &history.Cause{}, nil
	}
	grow := profile.Frame{Function: "Table::grow<" + hostile + ">", File: "src/" + hostile + ".cc", Line: 40}
	return &history.Cause{Old: step.Last, New: step.At, Others: 3, Sites: []history.CauseSite{{
		Frame: grow, Status: diff.Changed, Old: stacks.Figures{Calls: 1000}, New: stacks.Figures{Calls: 1001}, Was: 1000, Is: 1001, Hidden: 2,
		Stacks: []diff.StackChange{{Old: 10, New: 11, Frames: []profile.Frame{grow, {Function: "main", File: "main.cc", Line: 7}}}},
	}}}, nil
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what it was (-update writes it anew):\n%s", path, got)
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	o := trend.TextOptions{Steps: 2, Notes: []string{"a note"}, Next: "something"}
	if err := trend.WriteText(&b, history.Collect(made()), o); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Error("what steers a terminal came through")
	}
	golden(t, "text.golden", b.Bytes())
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := trend.WriteJSON(&b, history.Collect(made()), nil); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Schema string
		Series []struct {
			Benchmark, Metric string
			Points            []struct{ Value float64 }
			Steps             []struct {
				Commit        string
				LastCommit    string `json:"last_commit"`
				Before, After struct{ Points int }
				Ratio         *float64
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Series {
		if s.Benchmark != "parse" || s.Metric != "allocations" {
			continue
		}
		if len(s.Points) != 24 || len(s.Steps) != 2 || s.Steps[0].Commit != strings.Repeat("0a", 20) || s.Steps[0].LastCommit != strings.Repeat("09", 20) ||
			s.Steps[0].Before.Points != 10 || s.Steps[1].After.Points != 5 || *s.Steps[0].Ratio != 1.001 {
			t.Errorf("%+v", s)
		}
		return
	}
	t.Error("no series of allocations")
}

func TestPage(t *testing.T) {
	write := func() []byte {
		var b bytes.Buffer
		if err := trend.WritePage(&b, history.Collect(made()), trend.PageOptions{Title: "history of " + hostile, Notes: []string{hostile}, Cause: cause}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	page := string(write())
	if page != string(write()) {
		t.Error("the same history gives another page")
	}
	markup, _, _ := strings.Cut(page, `<script type="module">`)
	for _, forbidden := range []string{"<script>alert", "\x1b", "\u202e", "//", "ZgotmplZ", "style=", "onclick"} {
		if strings.Contains(markup, forbidden) {
			t.Errorf("the page has %q", forbidden)
		}
	}
	for _, wanted := range []string{
		"default-src &#39;none&#39;", "1,000", "1,001", "64,000,000 B", "64,000,001 B", "3 stacks, the 1 that changed most", "Table::grow",
	} {
		if !strings.Contains(page, wanted) {
			t.Errorf("the page has no %q", wanted)
		}
	}
}

func TestPageIsNotWrittenWhenACauseCannotBeRead(t *testing.T) {
	var b bytes.Buffer
	broken := func(*history.Series, *history.Step) (*history.Cause, error) { return nil, fmt.Errorf("damaged") }
	if err := trend.WritePage(&b, history.Collect(made()), trend.PageOptions{Cause: broken}); err == nil || b.Len() > 0 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}
