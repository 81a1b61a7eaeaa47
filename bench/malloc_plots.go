package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A colour for each family of mallocs, from a palette that colour-blind readers can tell apart; versions of one family
// differ by their dashes.
var (
	colours = []string{"#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C6D1F"}
	dashes  = []string{"", "7 3", "2 3", "9 3 2 3"}
)

// strokesOf gives each allocator a look of its own: libmallow black and thick, glibc grey.
func strokesOf(allocators []allocator) map[string]stroke {
	strokes := map[string]stroke{}
	families, members := map[string]int{}, map[string]int{}
	for _, a := range allocators {
		switch a.name {
		case ours:
			strokes[a.name] = stroke{"#000000", "", 3}
			continue
		case system:
			strokes[a.name] = stroke{"#888888", "", 2}
			continue
		}
		if _, found := families[a.family]; !found {
			families[a.family] = len(families)
		}
		strokes[a.name] = stroke{colours[families[a.family]%len(colours)], dashes[members[a.family]%len(dashes)], 1.6}
		members[a.family]++
	}
	return strokes
}

// plots makes the pictures of a comparison.
type plots struct {
	allocators []allocator // libmallow is drawn last, above the others
	strokes    map[string]stroke
	figures    []figure
	all        []comparison
}

func newPlots(allocators []allocator, figures []figure, all []comparison) plots {
	drawn := slices.Clone(allocators)
	slices.SortStableFunc(drawn, func(a, b allocator) int {
		return cmp.Compare(btoi(a.name == ours), btoi(b.name == ours))
	})
	return plots{drawn, strokesOf(allocators), figures, all}
}

func btoi(value bool) int {
	if value {
		return 1
	}
	return 0
}

// write writes every picture that there are figures for and returns the names of the files, with their titles.
func (p plots) write(folder string, rows []mallocRow, series *mallocSeries) ([][2]string, error) {
	var written [][2]string
	put := func(name, title, picture string) error {
		if picture == "" {
			return nil
		}
		written = append(written, [2]string{name, title})
		return os.WriteFile(filepath.Join(folder, name), []byte(picture), 0o644)
	}
	for _, points := range byRow(selectFigures(p.figures, cpuTime, "curve"), figure.rowName) {
		title := points[0].rowName() + ": CPU time by size"
		if err := put("malloc-curve-"+slug(points[0].rowName())+".svg", title, p.curve(title, points)); err != nil {
			return nil, err
		}
	}
	ttest := selectFigures(p.figures, wallTime, "ttest")
	ttestCPU := selectFigures(p.figures, cpuTime, "ttest")
	memory := slices.DeleteFunc(slices.Clone(rows), func(row mallocRow) bool { return row.group != "memory" })
	for _, picture := range []struct{ name, title, content string }{
		{"malloc-overview.svg", "Each row against the best peer", p.overview("CPU time of each row, to the best peer's")},
		{"malloc-ttest-size.svg", "t-test1: operations per second by maximum size", p.bySize("t-test1: operations per second by maximum size", ttest)},
		{"malloc-ttest-threads.svg", "t-test1: operations per CPU second by threads", p.byThreads("t-test1: operations per CPU second by threads", ttestCPU)},
		{"malloc-memory.svg", "Resident size and live bytes over time", p.memory("Resident size and live bytes over time", memory, series)},
	} {
		if err := put(picture.name, picture.title, picture.content); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// slug is a name for a file.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

var (
	sizeAxis   = axis{label: "size", base: 2, text: bytesText}
	mostAxis   = axis{label: "maximum size", base: 2, text: bytesText}
	threadAxis = axis{label: "threads", text: number}
)

// lines draws one line for each allocator through its medians at these figures.
func (p plots) lines(figures []figure, x func(figure) float64, y func(float64) float64) []line {
	var lines []line
	for _, a := range p.allocators {
		one := line{name: a.name, stroke: p.strokes[a.name]}
		for _, f := range figures {
			if values := f.values[a.name]; len(values) > 0 {
				one.xs, one.ys = append(one.xs, x(f)), append(one.ys, y(median(values)))
			}
		}
		if len(one.xs) > 0 {
			lines = append(lines, one)
		}
	}
	return lines
}

func (p plots) curve(title string, points []figure) string {
	y := axis{label: "ns of CPU per pair", base: 10, text: number}
	return drawCharts(title, []chart{{"", sizeAxis, y, p.lines(sorted(points, atSize), atSize, func(ns float64) float64 { return ns })}}, 1, 900, 520)
}

func atSize(f figure) float64 { return f.x }

func atThreads(f figure) float64 {
	var threads float64
	fmt.Sscan(f.series, &threads)
	return threads
}

func sorted(figures []figure, by func(figure) float64) []figure {
	return slices.SortedStableFunc(slices.Values(figures), func(a, b figure) int { return cmp.Compare(by(a), by(b)) })
}

// millionsPerSecond turns nanoseconds per operation round.
func millionsPerSecond(ns float64) float64 { return 1e3 / ns }

func (p plots) bySize(title string, figures []figure) string {
	var charts []chart
	for _, ofThreads := range byRow(sorted(figures, atThreads), func(f figure) string { return f.series }) {
		y := axis{label: "M operations per second", text: number}
		charts = append(charts, chart{threadsText(ofThreads[0].series), mostAxis, y, p.lines(sorted(ofThreads, atSize), atSize, millionsPerSecond)})
	}
	return grid(title, charts)
}

func (p plots) byThreads(title string, figures []figure) string {
	var charts []chart
	for _, ofSize := range byRow(sorted(figures, atSize), func(f figure) string { return number(f.x) }) {
		y := axis{label: "M operations per CPU second", text: number}
		charts = append(charts, chart{"up to " + bytesText(ofSize[0].x), threadAxis, y, p.lines(sorted(ofSize, atThreads), atThreads, millionsPerSecond)})
	}
	return grid(title, charts)
}

func grid(title string, charts []chart) string {
	if len(charts) == 0 {
		return ""
	}
	return drawCharts(title, charts, 3, 400, 300)
}

// memory draws, for each row, what was live and what was resident in the first round.
func (p plots) memory(title string, rows []mallocRow, series *mallocSeries) string {
	var charts []chart
	for _, row := range rows {
		one := chart{row.name, axis{label: "seconds", text: number}, axis{label: "MiB", text: number}, nil}
		for _, a := range p.allocators {
			at := slices.IndexFunc(series.runs, func(r mallocRun) bool { return r.row == row.name && r.allocator == a.name })
			if at < 0 {
				continue
			}
			resident := timeline(series.runs[at].printed.points, "rss")
			resident.name, resident.stroke = a.name, p.strokes[a.name]
			if a.name == ours {
				live := timeline(series.runs[at].printed.points, "live")
				live.name, live.stroke = "live bytes", stroke{"#000000", "1 3", 2}
				one.lines = append(one.lines, live)
			}
			one.lines = append(one.lines, resident)
		}
		one.lines = slices.DeleteFunc(one.lines, func(l line) bool { return len(l.xs) == 0 })
		if len(one.lines) > 0 {
			charts = append(charts, one)
		}
	}
	if len(charts) == 0 {
		return ""
	}
	return drawCharts(title, charts, 2, 620, 380)
}

func timeline(points []point, series string) line {
	var l line
	for _, p := range points {
		if p.series == series {
			l.xs, l.ys = append(l.xs, p.x), append(l.ys, p.values[0]/(1<<20))
		}
	}
	return l
}

// overview draws one strip for each row: libmallow with its interval, and the others.
func (p plots) overview(title string) string {
	rows := byRow(slices.DeleteFunc(slices.Clone(p.all), func(c comparison) bool { return c.of != cpuTime }),
		func(c comparison) string { return c.rowName() })
	if len(rows) == 0 {
		return ""
	}
	const left, width, height, least, most = 330.0, 700.0, 17.0, 0.25, 4.0
	at := func(value float64) float64 {
		value = min(max(value, least), most)
		return left + width*math.Log(value/least)/math.Log(most/least)
	}
	var s svg
	bottom := 62 + height*float64(len(rows))
	s.text((left+width)/2, 22, atMiddle, 16, title)
	for _, tick := range []float64{0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4} {
		s.line(at(tick), 40, at(tick), bottom, gridStyle)
		s.text(at(tick), bottom+15, atMiddle, 11, number(tick))
	}
	s.line(at(1), 40, at(1), bottom, `stroke="#444" stroke-width="1"`)
	s.line(at(limit), 40, at(limit), bottom, `stroke="#D55E00" stroke-width="1" stroke-dasharray="4 3"`)
	s.text(left+width/2, bottom+34, atMiddle, 12, "CPU time divided by the best peer's (logarithmic; what is beyond is drawn at the edge); dashed: 1.05")
	for i, row := range rows {
		y := 56 + height*float64(i)
		s.text(left-8, y+4, atEnd, 11, row[0].rowName())
		p.overviewRow(&s, row, y, at)
	}
	var entries []line
	for _, a := range p.allocators {
		entries = append(entries, line{name: a.name, stroke: stroke{p.strokes[a.name].colour, p.strokes[a.name].dashes, 3}})
	}
	end := drawLegend(&s, []chart{{lines: entries}}, bottom+44, left+width+20)
	return s.document(left+width+20, end)
}

func (p plots) overviewRow(s *svg, row []comparison, y float64, at func(float64) float64) {
	rows := [][]comparison{row}
	for _, a := range p.allocators {
		if a.name == ours || slices.ContainsFunc(row, func(c comparison) bool { return len(c.values[a.name]) == 0 }) {
			continue
		}
		ratio := meanOverRows(rows, func(c comparison) float64 { return median(c.values[a.name]) / c.theirs })
		s.circle(at(ratio), y, 3, `fill="none" stroke-width="1.4" stroke="`+p.strokes[a.name].colour+`"`)
	}
	m := meanOf(row)
	s.line(at(m.ratio.low), y, at(m.ratio.high), y, `stroke="#000" stroke-width="2"`)
	s.circle(at(m.ratio.value), y, 4.5, `fill="#000"`)
}

// sortedKeys is for maps whose order must not change from run to run.
func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
