package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strings"
)

// mallocTable writes the tables of a comparison.
type mallocTable struct {
	allocators []allocator
	figures    []figure
	all        []comparison
	series     *mallocSeries
	reasons    []lossReason
	text       strings.Builder
}

// groups of rows that have a mean of their own.
var meanGroups = []struct {
	title  string
	groups []string
	of     []quantity
}{
	{"single thread", []string{"single", "curve"}, []quantity{cpuTime}},
	{"several threads", []string{"multi", "ttest"}, []quantity{cpuTime, wallTime}},
	{"real programs", []string{"program"}, []quantity{cpuTime, wallTime}},
	{"memory over time", []string{"memory"}, []quantity{cpuTime, rssOverLive}},
	{"all", allGroups, []quantity{peakRSS}},
}

var allGroups = []string{"single", "curve", "multi", "ttest", "program", "memory"}

func (t *mallocTable) write() string {
	t.writeMeans()
	t.writeAllRounders()
	t.writeLost()
	t.writeFailures()
	t.writeRows("CPU time, seconds", cpuTime, "single", "multi", "program", "memory")
	t.writeRows("Wall time, seconds", wallTime, "multi", "program")
	t.writeRows("RSS over live bytes", rssOverLive, "memory")
	t.writeRows("Peak RSS, MiB", peakRSS, allGroups...)
	t.writePoints("Curves at powers of two: ns of CPU per pair", cpuTime, "curve", isPowerOfTwo, func(ns float64) float64 { return ns })
	t.writeSteps()
	t.writePoints("t-test1: million operations per second", wallTime, "ttest", everySize, millionsPerSecond)
	t.writePoints("t-test1: million operations per CPU second", cpuTime, "ttest", everySize, millionsPerSecond)
	return t.text.String()
}

func (t *mallocTable) line(format string, arguments ...any) {
	fmt.Fprintf(&t.text, format+"\n", arguments...)
}

// comparisons of one quantity in these groups.
func (t *mallocTable) comparisons(of quantity, groups ...string) []comparison {
	return slices.DeleteFunc(slices.Clone(t.all), func(c comparison) bool { return c.of != of || !slices.Contains(groups, c.group) })
}

func (t *mallocTable) writeMeans() {
	t.line("## libmallow against the best of each row\n")
	t.line("Geometric means. A curve counts as one row; each of its points is judged by itself.\n")
	t.line("| group | of | rows | to the best | best picked blind | worst | shown above 1.05 |")
	t.line("|---|---|---|---|---|---|---|")
	for _, group := range meanGroups {
		for _, of := range group.of {
			m := meanOf(t.comparisons(of, group.groups...))
			if m.rows == 0 {
				continue
			}
			t.line("| %s | %s | %d | %v | %.2f | %.2f %s | %d of %d |", group.title, of, m.rows, m.ratio, m.blind,
				m.worst.ratio.value, m.worst.name(), m.above, len(t.comparisons(of, group.groups...)))
		}
	}
	t.line("")
}

func (t *mallocTable) writeAllRounders() {
	t.line("## Every allocator against the best of each row\n")
	t.line("Geometric means over the rows that it could run; the base is the best of each row, libmallow apart.\n")
	head, rule := "| allocator |", "|---|"
	type column struct {
		of      quantity
		figures []figure
	}
	var columns []column
	for _, group := range meanGroups {
		for _, of := range group.of {
			figures := selectFigures(t.figures, of, group.groups...)
			if len(figures) == 0 {
				continue
			}
			columns = append(columns, column{of, figures})
			head, rule = head+fmt.Sprintf(" %s, %s |", group.title, of), rule+"---|"
		}
	}
	t.line("%s\n%s", head, rule)
	for _, a := range t.allocators {
		cells := "| " + a.name + " |"
		for _, c := range columns {
			value, rows := allRound(c.figures, a.name)
			if rows == 0 {
				cells += " - |"
				continue
			}
			cells += fmt.Sprintf(" %.2f |", value)
		}
		t.line("%s", cells)
	}
	t.line("")
}

// writeLost names what is shown above the limit, with the reason where one is known. Points of one curve are one entry.
func (t *mallocTable) writeLost() {
	t.line("## Rows and points whose time is shown above 1.05\n")
	lost := 0
	for _, group := range meanGroups {
		for _, of := range group.of {
			if of != cpuTime && of != wallTime {
				continue
			}
			for _, row := range byRow(t.comparisons(of, group.groups...), func(c comparison) string { return c.rowName() }) {
				if slices.ContainsFunc(row, comparison.isAbove) {
					lost++
					t.line("- %s", t.lostRow(row))
				}
			}
		}
	}
	if lost == 0 {
		t.line("None.")
	}
	t.line("")
}

func (t *mallocTable) lostRow(row []comparison) string {
	above := slices.DeleteFunc(slices.Clone(row), func(c comparison) bool { return !c.isAbove() })
	worst := slices.MaxFunc(above, func(a, b comparison) int { return cmp.Compare(a.ratio.value, b.ratio.value) })
	if worst.series == "" {
		return fmt.Sprintf("%s, %s: %v of %s. %s", worst.row, worst.of, worst.ratio, worst.best, t.reason(worst))
	}
	return fmt.Sprintf("%s, %s: at %d of %d sizes, at most %v of %s at %s. %s The sizes: %s.", worst.rowName(), worst.of, len(above), len(row),
		worst.ratio, worst.best, bytesText(worst.x), t.reason(worst), sizesAbove(row))
}

// sizesAbove names the sizes, and stretches of neighbouring sizes, that are above the limit.
func sizesAbove(row []comparison) string {
	row = slices.SortedStableFunc(slices.Values(row), func(a, b comparison) int { return cmp.Compare(a.x, b.x) })
	var names []string
	for i := 0; i < len(row); i++ {
		if !row[i].isAbove() {
			continue
		}
		first := i
		for i+1 < len(row) && row[i+1].isAbove() {
			i++
		}
		name := bytesText(row[first].x)
		if i > first {
			name += ".." + bytesText(row[i].x)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func (t *mallocTable) reason(c comparison) string {
	for _, name := range []string{c.rowName(), c.row} {
		for _, reason := range t.reasons {
			if same, _ := path.Match(reason.rows, name); same {
				return reason.text
			}
		}
	}
	return "Why is not known yet."
}

func (t *mallocTable) writeFailures() {
	if len(t.series.failures) == 0 {
		return
	}
	t.line("## What could not be run\n")
	for _, key := range sortedKeys(t.series.failures) {
		reason, _, _ := strings.Cut(t.series.failures[key], "\n")
		t.line("- %s: %s", key, reason)
	}
	t.line("")
}

// unit is what a quantity is divided by, and the format of its cells.
func (of quantity) unit() (float64, string) {
	if of == peakRSS {
		return 1 << 20, "%.1f"
	}
	return 1, "%.3f"
}

func (t *mallocTable) writeRows(title string, of quantity, groups ...string) {
	rows := selectFigures(t.figures, of, groups...)
	if len(rows) == 0 {
		return
	}
	divisor, format := of.unit()
	t.line("## %s\n", title)
	t.writeHead("row")
	for _, f := range rows {
		t.line("| %s |%s%s", f.name(), t.cells(f, format, func(value float64) float64 { return value / divisor }), judged(f))
	}
	t.line("")
}

func (t *mallocTable) writeHead(first string) {
	t.line("| %s | %s | best | libmallow to it | verdict |", first, strings.Join(namesOf(t.allocators), " | "))
	t.line("|---|%s---|---|---|", strings.Repeat("---|", len(t.allocators)))
}

// cells are the medians on each allocator.
func (t *mallocTable) cells(f figure, format string, of func(float64) float64) string {
	var text strings.Builder
	for _, a := range t.allocators {
		if values := f.values[a.name]; len(values) > 0 {
			fmt.Fprintf(&text, " "+format+" |", of(median(values)))
		} else {
			text.WriteString(" - |")
		}
	}
	return text.String()
}

func judged(f figure) string {
	c, found := compare(f)
	if !found {
		return " - | - | - |"
	}
	return fmt.Sprintf(" %s | %v | %s |", c.best, c.ratio, c.verdict())
}

// writePoints writes the points at these sizes; all of them are in the raw figures.
func (t *mallocTable) writePoints(title string, of quantity, group string, at func(float64) bool, value func(float64) float64) {
	points := slices.DeleteFunc(selectFigures(t.figures, of, group), func(f figure) bool { return !at(f.x) })
	if len(points) == 0 {
		return
	}
	t.line("## %s\n", title)
	t.writeHead("at")
	for _, f := range points {
		t.line("| %s |%s%s", f.name(), t.cells(f, "%.4g", value), judged(f))
	}
	t.line("")
}

func isPowerOfTwo(size float64) bool { return math.Log2(size) == math.Floor(math.Log2(size)) }

func everySize(float64) bool { return true }

// writeSteps shows that a curve has no cliff of its own.
func (t *mallocTable) writeSteps() {
	steps := steepest(t.comparisons(cpuTime, "curve"))
	if len(steps) == 0 {
		return
	}
	t.line("## Steepest steps of the curves\n")
	t.line("From one size to the next, how much more the cost grows for libmallow than for the best of each size; 2 is the most that is allowed where it ends above 1.\n")
	t.line("| curve | from | to | step, to the best's | ratio before | ratio after |\n|---|---|---|---|---|---|")
	for _, s := range steps {
		t.line("| %s | %s | %s | %.2f | %.2f | %.2f |", s.row, bytesText(s.from.x), bytesText(s.to.x), s.factor, s.from.ratio.value, s.to.ratio.value)
	}
	t.line("")
}

// lossReason is why libmallow loses the rows whose names match a pattern, as of path.Match.
type lossReason struct {
	rows, text string
}

// readReasons reads why rows are lost: `ROWS: REASON`, one a line; the first that matches counts. There need be no such
// file.
func readReasons(name string) ([]lossReason, error) {
	content, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var reasons []lossReason
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rows, text, found := strings.Cut(line, ": ")
		if _, err := path.Match(rows, ""); !found || err != nil {
			return nil, fmt.Errorf("%s: %q is not `ROWS: REASON`", name, line)
		}
		reasons = append(reasons, lossReason{rows, text})
	}
	return reasons, nil
}
