package exchange

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mallow/internal/history"
	"mallow/internal/term"
)

// openMetrics is the text that metric servers scrape, and the metrics report
// of GitLab.
var openMetrics = Format{
	Name:   "openmetrics",
	detect: func(head string) bool { return openMetricsHead.MatchString(head) },
	read:   readOpenMetrics, write: writeOpenMetrics,
}

var (
	openMetricsHead = regexp.MustCompile(`(?m)^# (TYPE|HELP|UNIT|EOF)\b`)
	openMetricsLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+(\S+))?\s*(?:#.*)?$`)
	openMetricsPair = regexp.MustCompile(`^\s*([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"\s*(?:,|$)`)
	openMetricsType = regexp.MustCompile(`^# TYPE (\S+) (\S+)`)
)

// openMetricsNames are what metrics are called there: the unit comes last.
var openMetricsNames = []struct{ metric, unit, name string }{
	{"allocations", "", "mallow_allocations"}, {"temporary", "", "mallow_temporary"}, {"libc", "", "mallow_libc_allocations"},
	{"bytes", "bytes", "mallow_requested_bytes"}, {"peak", "bytes", "mallow_peak_bytes"}, {"live", "bytes", "mallow_live_bytes"},
	{"peak_rss", "bytes", "mallow_peak_rss_bytes"},
	{"cpu", "seconds", "mallow_cpu_seconds"}, {"wall", "seconds", "mallow_wall_seconds"},
}

const (
	otherFigure = "mallow_figure" // of a metric that has no name of its own
	commitInfo  = "mallow_commit_info"
)

func readOpenMetrics(f *File) error {
	all := newGathered()
	commits := make(map[string]string)
	ended := false
	types := make(map[string]string)
	scan := bufio.NewScanner(bytes.NewReader(f.content))
	scan.Buffer(nil, 1<<20)
	for number := 1; scan.Scan(); number++ {
		line := scan.Text()
		switch {
		case ended && strings.TrimSpace(line) != "":
			return fmt.Errorf("line %d: something stands behind # EOF", number)
		case line == "# EOF":
			ended = true
			continue
		case strings.HasPrefix(line, "#"):
			if m := openMetricsType.FindStringSubmatch(line); m != nil {
				types[m[1]] = m[2]
			}
			continue
		case strings.TrimSpace(line) == "":
			continue
		}
		m := openMetricsLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("line %d: expected NAME{LABELS} VALUE", number)
		}
		labels, err := openMetricsLabels(m[2])
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			f.note("line %d is left out: %q is not a number", number, m[3])
			continue
		}
		key, metric := openMetricsKey(m[1], labels)
		name := sortKey(key)
		if m[1] == commitInfo {
			commits[name] = labels["commit"]
			continue
		}
		var when time.Time
		if seconds, err := strconv.ParseFloat(m[4], 64); m[4] != "" && (err != nil || math.Abs(seconds) > 1e12) {
			return fmt.Errorf("line %d: %q is no time", number, m[4])
		} else if m[4] != "" {
			when = time.UnixMilli(int64(seconds * 1000)).UTC()
		}
		p := all.at(name, func() history.Point { return history.Point{Key: key, Time: when} })
		if err := p.add(metric.name, history.Value{Value: value, Unit: metric.unit, Class: labels["class"]}); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := scan.Err(); err != nil {
		return err
	}
	f.Points = all.all()
	for i := range f.Points {
		f.Points[i].Commit = commits[sortKey(f.Points[i].Key)]
		f.Dated = f.Dated || f.Points[i].Commit != ""
	}
	return nil
}

type openMetricsMetric struct{ name, unit string }

// openMetricsKey finds the benchmark in the labels. Figures of other programs
// are named by what they measure, with the labels that tell them apart.
func openMetricsKey(name string, labels map[string]string) (history.Key, openMetricsMetric) {
	k := history.Key{Benchmark: labels["benchmark"], Platform: labels["platform"], Build: labels["build"]}
	metric := openMetricsMetric{name: name}
	for _, known := range openMetricsNames {
		if known.name == name {
			metric = openMetricsMetric{known.metric, known.unit}
		}
	}
	if name == otherFigure && labels["metric"] != "" {
		metric = openMetricsMetric{labels["metric"], labels["unit"]}
	}
	if k.Benchmark == "" {
		var rest []string
		for _, label := range slices.Sorted(maps.Keys(labels)) {
			if label != "platform" && label != "build" && label != "class" {
				rest = append(rest, label+"="+labels[label])
			}
		}
		if k.Benchmark = strings.Join(rest, " "); k.Benchmark == "" {
			k.Benchmark = name
		}
	}
	return k, metric
}

func openMetricsLabels(text string) (map[string]string, error) {
	labels := make(map[string]string)
	for strings.TrimSpace(text) != "" {
		m := openMetricsPair.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("expected NAME=\"VALUE\" at %.40q", text)
		}
		labels[m[1]] = openMetricsUnescape.Replace(m[2])
		text = text[len(m[0]):]
	}
	return labels, nil
}

var (
	openMetricsEscape   = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	openMetricsUnescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")
)

func writeOpenMetrics(w io.Writer, points []history.Point, _ Profiles) error {
	var b bytes.Buffer
	label := func(name, value string) string {
		return name + `="` + openMetricsEscape.Replace(term.Safe(value)) + `"`
	}
	labelsOf := func(p *history.Point, more ...string) string {
		all := []string{label("benchmark", p.Benchmark), label("platform", p.Platform), label("build", p.Build)}
		return "{" + strings.Join(append(all, more...), ",") + "}"
	}
	for _, known := range openMetricsNames {
		lines := 0
		for i := range points {
			v, there := points[i].Metrics[known.metric]
			if !there || v.Unit != known.unit {
				continue
			}
			if lines++; lines == 1 {
				fmt.Fprintf(&b, "# TYPE %s gauge\n", known.name)
				if known.unit != "" {
					fmt.Fprintf(&b, "# UNIT %s %s\n", known.name, known.unit)
				}
			}
			fmt.Fprintf(&b, "%s%s %s\n", known.name, labelsOf(&points[i]), number(v.Value))
		}
	}
	var others bytes.Buffer
	for i := range points {
		for _, metric := range slices.Sorted(maps.Keys(points[i].Metrics)) {
			v := points[i].Metrics[metric]
			if slices.ContainsFunc(openMetricsNames, func(n struct{ metric, unit, name string }) bool { return n.metric == metric && n.unit == v.Unit }) {
				continue
			}
			fmt.Fprintf(&others, "%s%s %s\n", otherFigure, labelsOf(&points[i], label("metric", metric), label("unit", v.Unit)), number(v.Value))
		}
	}
	if others.Len() > 0 {
		fmt.Fprintf(&b, "# TYPE %s gauge\n%s", otherFigure, others.Bytes())
	}
	fmt.Fprintf(&b, "# TYPE %s info\n", strings.TrimSuffix(commitInfo, "_info"))
	for i := range points {
		if points[i].Commit != "" {
			fmt.Fprintf(&b, "%s%s 1\n", commitInfo, labelsOf(&points[i], label("commit", points[i].Commit)))
		}
	}
	b.WriteString("# EOF\n")
	_, err := w.Write(b.Bytes())
	return err
}
