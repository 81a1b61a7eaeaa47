package exchange_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"mallow/internal/history"
	"mallow/internal/history/exchange"
	"mallow/internal/term"
)

// hostile is what a name may be.
const hostile = "=cmd|' /C calc'!A1,\"<script>alert(1)</script>\n\x1b[31m\u202etxt\\"

func points() []history.Point {
	at := time.Date(2026, 11, 22, 2, 0, 0, 5, time.UTC)
	made := func(benchmark string, n int) history.Point {
		return history.Point{
			Key:    history.Key{Benchmark: benchmark, Platform: "x86_64-linux-gnu, glibc 2.36, libmallow", Build: "release"},
			Commit: strings.Repeat(fmt.Sprint(n), 40), CommitTime: at, Time: at.Add(time.Duration(n) * time.Hour),
			Metrics: map[string]history.Value{
				"allocations": {Value: float64(1000 + n), Class: history.Exact},
				"bytes":       {Value: float64(64000 + n), Unit: "bytes", Class: history.Exact},
				"wall":        {Value: 0.125, Unit: "seconds", Class: history.Noisy},
				"cpu":         {Value: 1e-7, Unit: "seconds", Class: history.Noisy},
				"queue depth": {Value: -2.5, Unit: "items"},
			},
		}
	}
	first, second, third, odd := made("parse", 1), made("parse", 2), made("print", 2), made(hostile, 2)
	first.Profile = []byte("a profile")
	first.ProfileID = history.ContentID(first.Profile)
	second.Dirty = true
	third.Commit, third.CommitTime = "", time.Time{}
	return []history.Point{first, second, third, odd}
}

func write(t *testing.T, format string, points []history.Point) string {
	t.Helper()
	var b bytes.Buffer
	err := exchange.Write(&b, exchange.Named(format), points, func(id string) ([]byte, error) {
		if id != history.ContentID([]byte("a profile")) {
			return nil, fmt.Errorf("no profile %s", id)
		}
		return []byte("a profile"), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

func read(t *testing.T, text string) *exchange.File {
	t.Helper()
	f, err := exchange.Read(strings.NewReader(text), nil)
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return f
}

func TestOurOwnFormatKeepsAll(t *testing.T) {
	want := points()
	f := read(t, write(t, "mallow", want))
	if f.Format.Name != "mallow" || !f.Dated {
		t.Errorf("%s, dated %v", f.Format.Name, f.Dated)
	}
	for i := range want {
		want[i].ProfileID = ""
	}
	if !reflect.DeepEqual(f.Points, want) {
		t.Errorf("%+v\nwant %+v", f.Points, want)
	}
}

func TestTablesKeepAllButProfiles(t *testing.T) {
	want := points()
	text := write(t, "csv", want)
	for line := range strings.Lines(text) {
		for cell := range strings.SplitSeq(line, ",") {
			if strings.HasPrefix(strings.Trim(cell, `"`), "=") {
				t.Errorf("a spreadsheet would compute %q", cell)
			}
		}
	}
	want[0].Profile, want[0].ProfileID = nil, ""
	want[3].Benchmark = term.Safe(hostile) // what steers is visible from then on
	if f := read(t, text); f.Format.Name != "csv" || !reflect.DeepEqual(f.Points, want) {
		t.Errorf("%s: %+v\nwant %+v", f.Format.Name, f.Points, want)
	}
}

// benchstat reads what we write, and we read it, units and all.
func TestGoBenchmarks(t *testing.T) {
	want := points()[:3]
	text := write(t, "benchfmt", points())
	results := 0
	for r := benchfmt.NewReader(strings.NewReader(text), "test"); r.Scan(); {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("line %d: %s", rec.Line, rec.Msg)
		case *benchfmt.Result:
			results++
			if v, ok := rec.Value("allocs/op"); !ok || v < 1001 {
				t.Errorf("%v allocs/op", v)
			}
			if u := r.Units().Get("allocs/op", "assume"); u == nil || u.Value != "exact" {
				t.Error("allocs/op are not exact")
			}
		}
	}
	if results != 4 {
		t.Errorf("%d results", results)
	}
	f := read(t, text)
	if f.Format.Name != "benchfmt" || len(f.Points) != 4 || !f.Dated {
		t.Fatalf("%s, %d points, dated %v", f.Format.Name, len(f.Points), f.Dated)
	}
	for i, p := range f.Points[:3] {
		w := want[i]
		if p.Key != w.Key || p.Commit != w.Commit || !p.CommitTime.Equal(w.CommitTime) || !p.Time.Equal(w.Time) || p.Dirty != w.Dirty {
			t.Errorf("%+v\nwant %+v", p, w)
		}
		for _, metric := range []string{"allocations", "bytes", "wall", "cpu"} {
			if p.Metrics[metric].Value != w.Metrics[metric].Value || p.Metrics[metric].Unit != w.Metrics[metric].Unit {
				t.Errorf("%s %+v, want %+v", metric, p.Metrics[metric], w.Metrics[metric])
			}
		}
	}
}

func TestFormatsOfOneMoment(t *testing.T) {
	all := points()[:2] // of which the last counts
	for format, metrics := range map[string][]string{
		"google-benchmark": {"allocations", "bytes", "wall", "cpu", "queue depth"},
		"hyperfine":        {"wall", "cpu"},
		"openmetrics":      {"allocations", "bytes", "wall", "cpu", "queue depth"},
	} {
		text := write(t, format, all)
		f := read(t, text)
		if f.Format.Name != format || len(f.Points) != 1 {
			t.Fatalf("%s taken for %s, %d points:\n%s", format, f.Format.Name, len(f.Points), text)
		}
		p := f.Points[0]
		if p.Benchmark != "parse" {
			t.Errorf("%s: benchmark %q", format, p.Benchmark)
		}
		if format != "hyperfine" && (p.Key != all[1].Key || p.Commit != all[1].Commit) {
			t.Errorf("%s: %+v", format, p)
		}
		for _, metric := range metrics {
			if got, want := p.Metrics[metric].Value, all[1].Metrics[metric].Value; got != want {
				t.Errorf("%s: %s is %v, want %v", format, metric, got, want)
			}
		}
	}
}

func TestHostileNamesStayNames(t *testing.T) {
	odd := points()[3:]
	for _, f := range exchange.Formats {
		text := write(t, f.Name, odd)
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s lets through what steers terminals:\n%q", f.Name, text)
		}
		back := read(t, text)
		if back.Format.Name != f.Name || len(back.Points) != 1 {
			t.Errorf("%s: %s, %d points", f.Name, back.Format.Name, len(back.Points))
		}
		if got := back.Points[0].Benchmark; got != hostile && strings.Contains("mallow google-benchmark hyperfine", f.Name) {
			t.Errorf("%s: %q", f.Name, got)
		}
	}
}

// Files as the other tools write them.
func TestFilesOfOtherTools(t *testing.T) {
	for _, test := range []struct {
		file, format, benchmark, metric string
		value                           float64
		points                          int
	}{
		{"go.txt", "benchfmt", "encoding/json.Marshal-8", "allocations", 3, 2},
		{"go.txt", "benchfmt", "encoding/json.Marshal-8", "wall", 1250e-9, 2},
		{"google.json", "google-benchmark", "BM_Parse/64", "cpu", 1200e-9, 2},
		{"google.json", "google-benchmark", "BM_Parse/64", "allocations", 3, 2},
		{"hyperfine.json", "hyperfine", "sleep 0.1", "wall", 0.1021, 2},
		{"hyperfine.json", "hyperfine", "sleep 0.1", "cpu", 0.0018, 2},
		{"openmetrics.txt", "openmetrics", "code=200 method=get", "http_requests_total", 1027, 1},
	} {
		content, err := os.ReadFile(filepath.Join("testdata", test.file))
		if err != nil {
			t.Fatal(err)
		}
		f := read(t, string(content))
		if f.Format.Name != test.format || len(f.Points) != test.points || f.Dated {
			t.Errorf("%s: %s, %d points, dated %v", test.file, f.Format.Name, len(f.Points), f.Dated)
		}
		found := false
		for _, p := range f.Points {
			if p.Benchmark == test.benchmark {
				found = true
				if got := p.Metrics[test.metric].Value; got < test.value*0.999999 || got > test.value*1.000001 {
					t.Errorf("%s: %s %s is %v, want %v", test.file, p.Benchmark, test.metric, got, test.value)
				}
			}
		}
		if !found {
			t.Errorf("%s: no benchmark %s in %+v", test.file, test.benchmark, f.Points)
		}
	}
}

func TestBadFilesSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "none of",
		"nothing":                          "none of",
		"benchmark,value\nx,1\n":           "none of",
		"benchmark,metric,value\nx,y,z\n":  "line 2",
		"benchmark,metric,value\nx,y,\"\n": "line",
		"benchmark,metric,value,time\nx,y,1,noon\n":                                   "not a time",
		"benchmark,metric,value\nx,y,NaN\n":                                           "not a number",
		"benchmark,metric,value\n":                                                    "no figure",
		"{\"schema\":\"mallow.points/2\"}\n":                                          "mallow.points/1",
		"{\"schema\":\"mallow.points/1\"}\n{}\n":                                      "line 2",
		"{\"schema\":\"mallow.points/1\"}\n{\"point\":{\"benchmark\":\"a\"}}\n":       "line 2",
		"{\"schema\":\"mallow.points/1\"}\n{\"profile\":{\"id\":\"x\"}}\n":            "damaged",
		"{\"benchmarks\":[{\"name\":\"a\",\"real_time\":1,\"time_unit\":\"weeks\"}]}": "weeks",
		"{\"benchmarks\":[{\"real_time\":1}]}":                                        "no name",
		"{\"results\":[{\"command\":\"a\"}]}":                                         "no time",
		"# TYPE a gauge\na{b} 1\n":                                                    "line 2",
		"# TYPE a gauge\na 1\n# EOF\nb 1\n":                                           "line 4",
	} {
		f, err := exchange.Read(strings.NewReader(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, f, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, format := range exchange.Formats {
		var b bytes.Buffer
		if exchange.Write(&b, format, points()[1:3], func(string) ([]byte, error) { return nil, nil }) == nil {
			f.Add(b.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, format := range exchange.Formats {
			file, err := exchange.Read(bytes.NewReader(b), format)
			if err == nil && len(file.Points) == 0 {
				t.Errorf("%s: neither points nor an error", format.Name)
			}
		}
	})
}
