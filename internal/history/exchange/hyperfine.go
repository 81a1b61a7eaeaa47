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

	"mallow/internal/history"
	"mallow/internal/term"
)

// hyperfine is what hyperfine --export-json writes.
var hyperfine = Format{
	Name: "hyperfine",
	detect: func(head string) bool {
		return strings.HasPrefix(strings.TrimSpace(head), "{") && hyperfineHead.MatchString(head)
	},
	read: readHyperfine, write: writeHyperfine,
}

var hyperfineHead = regexp.MustCompile(`"results"\s*:\s*\[`)

type hyperfineResult struct {
	Command    string         `json:"command"`
	Mean       *float64       `json:"mean"`
	Stddev     *float64       `json:"stddev"`
	Median     *float64       `json:"median"`
	User       *float64       `json:"user"`
	System     *float64       `json:"system"`
	Min        *float64       `json:"min"`
	Max        *float64       `json:"max"`
	Times      []float64      `json:"times,omitempty"`
	Memory     []float64      `json:"memory_usage_byte,omitempty"`
	ExitCodes  []*int         `json:"exit_codes,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty"`
}

func readHyperfine(f *File) error {
	var d struct {
		Results []hyperfineResult `json:"results"`
	}
	if err := json.Unmarshal(f.content, &d); err != nil {
		return err
	}
	all := newGathered()
	for i := range d.Results {
		r := &d.Results[i]
		name := r.Command
		for _, parameter := range slices.Sorted(maps.Keys(r.Parameters)) {
			if value := fmt.Sprint(r.Parameters[parameter]); !strings.Contains(r.Command, value) {
				name += fmt.Sprintf(" %s=%s", parameter, value)
			}
		}
		if name == "" {
			return fmt.Errorf("result %d has no command", i+1)
		}
		if slices.ContainsFunc(r.ExitCodes, func(c *int) bool { return c == nil || *c != 0 }) {
			f.note("%s did not always end well", name)
		}
		p := all.at(name, func() history.Point { return history.Point{Key: history.Key{Benchmark: name}} })
		wall := r.Median
		switch {
		case len(r.Times) > 0:
			m := median(slices.Clone(r.Times))
			wall = &m
		case wall == nil:
			wall = r.Mean
		}
		if wall == nil {
			return fmt.Errorf("%s has no time", name)
		}
		err := p.add("wall", history.Value{Value: *wall, Unit: "seconds", Class: history.Noisy})
		if r.User != nil && r.System != nil {
			err = errors.Join(err, p.add("cpu", history.Value{Value: *r.User + *r.System, Unit: "seconds", Class: history.Noisy}))
		}
		if len(r.Memory) > 0 {
			err = errors.Join(err, p.add("peak_rss", history.Value{Value: median(slices.Clone(r.Memory)), Unit: "bytes", Class: history.Noisy}))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	f.Points = all.all()
	return nil
}

// writeHyperfine writes benchmarks that have a wall time. CPU time is one sum
// in a history; it stands as that of the user.
func writeHyperfine(w io.Writer, points []history.Point, _ Profiles) error {
	var results []hyperfineResult
	for i := range points {
		wall, timed := points[i].Metrics["wall"]
		if !timed || wall.Unit != "seconds" {
			continue
		}
		t := wall.Value
		r := hyperfineResult{Command: points[i].Benchmark, Mean: &t, Median: &t, Min: &t, Max: &t, Times: []float64{t}}
		if cpu, known := points[i].Metrics["cpu"]; known && cpu.Unit == "seconds" {
			none := 0.0
			r.User, r.System = &cpu.Value, &none
		}
		if rss, known := points[i].Metrics["peak_rss"]; known {
			r.Memory = []float64{rss.Value}
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return errors.New("no benchmark has a wall time, and hyperfine's format has nothing else")
	}
	return term.WriteJSON(w, map[string]any{"results": results}, "  ")
}
