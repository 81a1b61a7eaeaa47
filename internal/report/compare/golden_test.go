package compare_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mallow/internal/compare"
	"mallow/internal/measure"
	report "mallow/internal/report/compare"
	"mallow/internal/stat"
)

var update = flag.Bool("update", false, "write the expected reports anew")

// runs are rounds of about so many milliseconds.
func runs(rounds, step int, milliseconds float64, peak uint64) []compare.Measure {
	var all []compare.Measure
	for i := range rounds {
		cpu := time.Duration((milliseconds + float64(i*step%7)*milliseconds/200) * 1e6)
		all = append(all, compare.Measure{
			Run: measure.Run{CPU: cpu, User: cpu * 9 / 10, Sys: cpu / 10, Wall: cpu * 11 / 10, PeakRSS: peak + uint64(i%2)*4096,
				MinorFaults: 1000 + uint64(i%3)},
			Round: i + 1, Place: i%2 + 1, Throughput: 80e9 / (cpu.Seconds() * 1.1),
		})
	}
	return all
}

// ratios are of a row to the base, as a comparison makes them.
func ratios(base, row *compare.Row) *compare.Ratios {
	of := func(what func(*compare.Measure) float64) stat.Ratio {
		return stat.Paired(base.Series(what), row.Series(what), 0.005)
	}
	throughput := of(compare.Throughput)
	return &compare.Ratios{CPU: of(compare.CPU), Wall: of(compare.Wall), PeakRSS: of(compare.PeakRSS), Throughput: &throughput}
}

const hostile = "</text><script>alert(1)</script>\x1b[2J\u202etxt.exe\n=cmd"

func share(of float64) *float64 { return &of }

// mallocs are four of them, one of which did not work.
func mallocs() *compare.Result {
	base := &compare.Row{Name: "libc", Runs: runs(14, 2, 1200, 8<<20)}
	fast := &compare.Row{Name: "libmallow", Library: "/opt/libmallow.so", Runs: runs(10, 3, 1100, 9<<20)}
	same := &compare.Row{Name: "jemalloc", Library: "/usr/lib/libjemalloc.so.2", Runs: runs(14, 4, 1200, 12<<20)}
	slow := &compare.Row{Name: hostile, Library: "/tmp/" + hostile, Runs: runs(14, 3, 2400, 4<<20)}
	failed := &compare.Row{Name: "tbbmalloc", Failed: "prog under tbbmalloc fails: killed by SIGSEGV"}
	for _, row := range []*compare.Row{fast, same, slow} {
		row.Ratios = ratios(base, row)
		row.Ratios.Throughput = nil
	}
	return &compare.Result{
		Command: "prog " + hostile, Rows: []*compare.Row{base, fast, same, slow, failed}, Rounds: 14,
		Plan: stat.NewPlan(14, 3), Stopped: compare.MostRuns, Options: compare.Options{Rounds: 14, Limit: 10 * time.Minute, Warmups: 1, Seed: 7},
		Malloc: &compare.Malloc{Allocations: 41207, Bytes: 1_900_000, Each: 21, Share: share(0.12), Basis: "glibc's malloc at 21 ns a pair, measured on this machine"},
		Notes:  []string{"2 of 3 programs under libmallow had another malloc"},
	}
}

// commands are two of them, the other one with fewer allocations.
func commands() *compare.Result {
	base := &compare.Row{Name: "curl-old 80GB", Runs: runs(9, 3, 36000, 8<<20)}
	other := &compare.Row{Name: "curl-new 80GB", Runs: runs(9, 5, 27300, 8<<20)}
	other.Ratios = ratios(base, other)
	return &compare.Result{
		Command: base.Name, Versus: other.Name, Rows: []*compare.Row{base, other}, Rounds: 9, Plan: stat.NewPlan(60, 1),
		Stopped: compare.Decided, Options: compare.Options{Rounds: 60, Limit: time.Hour, Seed: 1, Work: &compare.Work{Amount: 80e9, Unit: "B"}},
		Malloc: &compare.Malloc{Allocations: 5_340_000, Bytes: 1 << 30, Each: 25, Share: share(0.0037)},
		Other:  &compare.Malloc{Allocations: 129, Bytes: 153247, Each: 40, Share: share(0.00000001), Basis: "a"},
		Removed: &compare.Removed{Fewer: other.Name, Allocations: 5_339_871, Each: 1629, Low: 1500, High: 1700, Shown: true,
			Work: 4770, WorkLow: 4500, WorkHigh: 5000, Unit: "B", WorkShown: true},
	}
}

// few are too few rounds for anything.
func few() *compare.Result {
	r := commands()
	for _, row := range r.Rows {
		row.Runs = row.Runs[:2]
	}
	r.Rows[1].Ratios = ratios(r.Rows[0], r.Rows[1])
	r.Elapsed = 141 * time.Second
	r.Rounds, r.Plan, r.Stopped = 2, stat.NewPlan(2, 1), compare.TimeIsUp
	r.Options.Work, r.Malloc, r.Other, r.Removed = nil, nil, nil, nil
	return r
}

func TestGolden(t *testing.T) {
	for name, result := range map[string]*compare.Result{"mallocs": mallocs(), "commands": commands(), "few": few()} {
		for ending, write := range map[string]func(io.Writer, *compare.Result) error{
			"txt":  func(w io.Writer, r *compare.Result) error { return report.WriteText(w, r, report.TextOptions{}) },
			"json": report.WriteJSON,
			"svg":  report.WritePlot,
		} {
			var got bytes.Buffer
			if err := write(&got, result); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+"."+ending)
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(want, got.Bytes()) {
				t.Errorf("%s differs (go test -update writes it anew): %v\n%s", path, err, &got)
			}
		}
	}
}

func TestHostileNames(t *testing.T) {
	var text, picture bytes.Buffer
	if err := report.WriteText(&text, mallocs(), report.TextOptions{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "\x1b[2J") || strings.Contains(text.String(), "\u202e") {
		t.Error("a name reaches the terminal as it is")
	}
	if err := report.WritePlot(&picture, mallocs()); err != nil {
		t.Fatal(err)
	}
	var metadata string
	for decoder := xml.NewDecoder(bytes.NewReader(picture.Bytes())); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			switch start.Name.Local {
			case "script":
				t.Error("a name is markup")
			case "metadata":
				if err := decoder.DecodeElement(&metadata, &start); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var data struct {
		Rows []struct {
			Name string
			Runs []struct{ Round int }
		}
	}
	if err := json.Unmarshal([]byte(metadata), &data); err != nil || len(data.Rows) != 5 || data.Rows[3].Name != hostile || len(data.Rows[0].Runs) != 14 {
		t.Errorf("the plot does not hold its data: %v", err)
	}
}
