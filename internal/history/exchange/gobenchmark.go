package exchange

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"mallow/internal/history"
	"mallow/internal/term"
)

// goBenchmark is the text that Go's benchmarks print and benchstat reads, with
// commit, platform and the like as its configuration.
var goBenchmark = Format{
	Name: "benchfmt", Whole: true,
	detect: func(head string) bool { return goBenchmarkLine.MatchString(head) },
	read:   readGoBenchmark, write: writeGoBenchmark,
}

var goBenchmarkLine = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s+\S+ \S`)

// goUnits are what metrics are called there.
var goUnits = []struct {
	metric, unit, name string
}{
	{"allocations", "", "allocs/op"}, {"bytes", "bytes", "B/op"}, {"wall", "seconds", "sec/op"},
	{"cpu", "seconds", "cpu-sec/op"}, {"peak", "bytes", "peak-B"}, {"live", "bytes", "live-B"},
	{"libc", "", "libc-allocs/op"},
}

// Keys of the configuration. Those of Go itself are pkg, goos, goarch and cpu.
const (
	keyBenchmark, keyPlatform, keyBuild           = "benchmark", "platform", "build"
	keyCommit, keyCommitTime, keyRunTime, keyTree = "commit", "commit-time", "run-time", "tree"
)

func readGoBenchmark(f *File) error {
	r := benchfmt.NewReader(bytes.NewReader(f.content), "benchfmt")
	all := newGathered()
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			f.note("line %d is left out: %s", rec.Line, rec.Msg)
		case *benchfmt.Result:
			p, dated, err := goPoint(rec)
			if err != nil {
				_, line := rec.Pos()
				return fmt.Errorf("line %d: %w", line, err)
			}
			f.Dated = f.Dated || dated
			into := all.at(fmt.Sprintf("%q %s %v %v", p.Key, p.Commit, p.Time, p.Dirty), func() history.Point { return p })
			for _, v := range rec.Values {
				metric, unit := v.Unit, ""
				for _, known := range goUnits {
					if known.name == v.Unit {
						metric, unit = known.metric, known.unit
					}
				}
				class := ""
				if u := r.Units().Get(v.Unit, "assume"); u != nil && u.Value == "exact" {
					class = history.Exact
				}
				if err := into.add(metric, history.Value{Value: v.Value, Unit: unit, Class: class}); err != nil {
					return err
				}
			}
		}
	}
	f.Points = all.all()
	return r.Err()
}

func goPoint(rec *benchfmt.Result) (p history.Point, dated bool, err error) {
	p.Benchmark = string(rec.Name.Full())
	if name := rec.GetConfig(keyBenchmark); name != "" {
		p.Benchmark = name
	} else if pkg := rec.GetConfig("pkg"); pkg != "" {
		p.Benchmark = pkg + "." + p.Benchmark
	}
	p.Platform, p.Build = rec.GetConfig(keyPlatform), rec.GetConfig(keyBuild)
	if p.Platform == "" {
		p.Platform = strings.Trim(strings.Trim(rec.GetConfig("goarch")+"-"+rec.GetConfig("goos"), "-")+", "+rec.GetConfig("cpu"), ", ")
	}
	p.Commit, p.Dirty = rec.GetConfig(keyCommit), rec.GetConfig(keyTree) == "changed"
	for key, to := range map[string]*time.Time{keyCommitTime: &p.CommitTime, keyRunTime: &p.Time} {
		if text := rec.GetConfig(key); text != "" {
			if *to, err = time.Parse(time.RFC3339Nano, text); err != nil {
				return p, false, fmt.Errorf("%s: %q is not a time such as 2026-11-22T02:00:00Z", key, text)
			}
			*to = to.UTC()
		}
	}
	_, dated = rec.ConfigIndex(keyCommit)
	return p, dated, nil
}

func writeGoBenchmark(w io.Writer, points []history.Point, _ Profiles) error {
	out := benchfmt.NewWriter(w)
	for _, metadata := range goMetadata(points) {
		if err := out.Write(metadata); err != nil {
			return err
		}
	}
	for i := range points {
		p := &points[i]
		r := &benchfmt.Result{Name: benchfmt.Name(goName(p.Benchmark)), Iters: 1}
		set := func(key, value string) {
			if value != "" {
				r.Config = append(r.Config, benchfmt.Config{Key: key, Value: []byte(oneLine(value)), File: true})
			}
		}
		set(keyBenchmark, p.Benchmark)
		set(keyPlatform, p.Platform)
		set(keyBuild, p.Build)
		set(keyCommit, p.Commit)
		set(keyCommitTime, stamp(p.CommitTime))
		set(keyRunTime, stamp(p.Time))
		if p.Dirty {
			set(keyTree, "changed")
		}
		for _, metric := range slices.Sorted(maps.Keys(p.Metrics)) {
			v := p.Metrics[metric]
			r.Values = append(r.Values, benchfmt.Value{Value: v.Value, Unit: goUnit(metric, v.Unit)})
		}
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// goMetadata tells which units are exact, and that less is better of ours.
func goMetadata(points []history.Point) (all []*benchfmt.UnitMetadata) {
	exact := make(map[string]bool)
	for i := range points {
		for metric, v := range points[i].Metrics {
			unit := goUnit(metric, v.Unit)
			was, seen := exact[unit]
			exact[unit] = v.Class == history.Exact && (was || !seen)
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(exact)) {
		add := func(key, value string) {
			m := &benchfmt.UnitMetadata{OrigUnit: unit, Value: value}
			m.Unit, m.Key = unit, key
			all = append(all, m)
		}
		for _, known := range goUnits {
			if known.name == unit {
				add("better", "lower")
			}
		}
		if exact[unit] {
			add("assume", "exact")
		}
	}
	return all
}

func goUnit(metric, unit string) string {
	for _, known := range goUnits {
		if known.metric == metric && known.unit == unit {
			return known.name
		}
	}
	return oneWord(metric)
}

// goName is one word that begins as names of benchmarks do. The true name
// stands in the configuration.
func goName(benchmark string) string {
	word := []rune(oneWord(benchmark))
	word[0] = unicode.ToUpper(word[0])
	return string(word)
}

func oneWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, term.Safe(s))
}

// oneLine keeps a value from being more than that. What a name has of control
// characters does not come back.
func oneLine(s string) string { return strings.TrimSpace(term.Safe(s)) }

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
