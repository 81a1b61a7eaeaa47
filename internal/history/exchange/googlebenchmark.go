package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"mallow/internal/history"
	"mallow/internal/term"
)

// googleBenchmark is the JSON that programs made with Google Benchmark write
// with --benchmark_format=json.
var googleBenchmark = Format{
	Name: "google-benchmark",
	detect: func(head string) bool {
		return strings.HasPrefix(strings.TrimSpace(head), "{") && googleHead.MatchString(head)
	},
	read: readGoogleBenchmark, write: writeGoogleBenchmark,
}

var googleHead = regexp.MustCompile(`"benchmarks"\s*:\s*\[|"context"\s*:\s*\{`)

// googleOwn are fields of a row that are no figures.
var googleOwn = map[string]bool{
	"name": true, "run_name": true, "run_type": true, "family_index": true, "per_family_instance_index": true,
	"repetitions": true, "repetition_index": true, "threads": true, "iterations": true, "time_unit": true,
	"aggregate_name": true, "aggregate_unit": true, "label": true, "error_occurred": true, "error_message": true,
	"skipped": true, "skip_message": true, "cpu_coefficient": true, "real_coefficient": true, "big_o": true, "rms": true,
}

// googleFigures are metrics of ours that have a name there.
var googleFigures = map[string]struct{ metric, unit string }{
	"real_time": {"wall", "seconds"}, "cpu_time": {"cpu", "seconds"},
	"allocs_per_iter": {"allocations", ""}, "max_bytes_used": {"peak", "bytes"},
	"total_allocated_bytes": {"bytes", "bytes"}, "net_heap_growth": {"live", "bytes"},
}

var timeUnits = map[string]float64{"": 1e-9, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

func readGoogleBenchmark(f *File) error {
	var d struct {
		Context struct {
			Date     string `json:"date"`
			Commit   string `json:"commit"`
			Platform string `json:"platform"`
			Build    string `json:"build"`
		} `json:"context"`
		Benchmarks []map[string]any `json:"benchmarks"`
	}
	if err := json.Unmarshal(f.content, &d); err != nil {
		return err
	}
	f.Dated = d.Context.Commit != ""
	when, _ := time.Parse(time.RFC3339, d.Context.Date)
	all := newGathered()
	text := func(row map[string]any, key string) string { s, _ := row[key].(string); return s }
	single := make(map[string]bool) // have rows of single runs
	for _, row := range d.Benchmarks {
		if text(row, "run_type") != "aggregate" {
			single[googleName(text(row, "run_name"), text(row, "name"))] = true
		}
	}
	for i, row := range d.Benchmarks {
		name := googleName(text(row, "run_name"), text(row, "name"))
		aggregate := text(row, "run_type") == "aggregate"
		switch {
		case name == "":
			return fmt.Errorf("benchmark %d has no name", i+1)
		case row["error_occurred"] == true, row["skipped"] != nil && row["skipped"] != "" && row["skipped"] != false:
			f.note("%s failed and is left out", name)
			continue
		case aggregate && (single[name] || text(row, "aggregate_name") != "median"):
			continue
		}
		scale, known := timeUnits[text(row, "time_unit")]
		if !known {
			return fmt.Errorf("%s: %q is no unit of time", name, text(row, "time_unit"))
		}
		p := all.at(name, func() history.Point {
			return history.Point{
				Key:    history.Key{Benchmark: name, Platform: d.Context.Platform, Build: d.Context.Build},
				Commit: d.Context.Commit, Time: when.UTC(),
			}
		})
		for key, v := range row {
			value, isNumber := v.(float64)
			if !isNumber || googleOwn[key] {
				continue
			}
			as, ours := googleFigures[key]
			if !ours {
				as.metric = key
			} else if as.unit == "seconds" {
				value *= scale
			}
			if err := p.add(as.metric, history.Value{Value: value, Unit: as.unit}); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	f.Points = all.all()
	return nil
}

func googleName(run, name string) string {
	if run != "" {
		return run
	}
	return name
}

// writeGoogleBenchmark writes times in seconds, and figures that have no place
// of their own as counters.
func writeGoogleBenchmark(w io.Writer, points []history.Point, _ Profiles) error {
	type context struct {
		Date       string `json:"date,omitempty"`
		Executable string `json:"executable"`
		Commit     string `json:"commit,omitempty"`
		Platform   string `json:"platform"`
		Build      string `json:"build"`
	}
	first := &points[0]
	d := struct {
		Context    context          `json:"context"`
		Benchmarks []map[string]any `json:"benchmarks"`
	}{Context: context{Executable: "mallow", Commit: first.Commit, Platform: first.Platform, Build: first.Build}}
	if !first.Time.IsZero() {
		d.Context.Date = first.Time.UTC().Format(time.RFC3339)
	}
	for i := range points {
		p := &points[i]
		if p.Platform != first.Platform || p.Build != first.Build || p.Commit != first.Commit {
			return errors.New("points of different commits, platforms or builds do not go into one such file: choose with --commit, --platform, --build")
		}
		row := map[string]any{
			"name": p.Benchmark, "run_name": p.Benchmark, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
			"threads": 1, "iterations": 1, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "s",
		}
		for _, metric := range slices.Sorted(maps.Keys(p.Metrics)) {
			key := metric
			for name, as := range googleFigures {
				if as.metric == metric && as.unit == p.Metrics[metric].Unit {
					key = name
				}
			}
			if googleOwn[key] {
				key = "mallow_" + key
			}
			row[key] = p.Metrics[metric].Value
		}
		if _, timed := p.Metrics["wall"]; !timed {
			delete(row, "real_time")
		}
		if _, timed := p.Metrics["cpu"]; !timed {
			delete(row, "cpu_time")
		}
		d.Benchmarks = append(d.Benchmarks, row)
	}
	return term.WriteJSON(w, &d, "  ")
}
