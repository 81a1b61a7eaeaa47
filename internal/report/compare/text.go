// Package compare writes what a comparison of mallocs or commands found: as a
// table, as JSON and as a plot.
package compare

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"mallow/internal/compare"
	"mallow/internal/figure"
	"mallow/internal/stat"
	"mallow/internal/term"
)

// TextOptions of the table.
type TextOptions struct {
	Colour bool
	Plot   string // the file that the plot was written to
}

// text is a table under way.
type text struct {
	bytes.Buffer
	r *compare.Result
	o TextOptions
}

// WriteText writes the result for people: the figures, then what they show in
// sentences.
func WriteText(w io.Writer, r *compare.Result, o TextOptions) error {
	t := &text{r: r, o: o}
	t.headline()
	t.table()
	t.verdicts()
	t.mallocs()
	t.removed()
	t.ending()
	_, err := w.Write(t.Bytes())
	return err
}

func (t *text) line(format string, arguments ...any) { fmt.Fprintf(t, format+"\n", arguments...) }

func (t *text) headline() {
	what := fmt.Sprintf("under %d mallocs", t.measured())
	if t.r.Versus != "" {
		what = "against " + term.Safe(t.r.Versus)
	}
	t.line("mallow: %s %s, %s in random order (seed %d)", term.Safe(t.r.Command), what,
		figure.Counted(uint64(t.r.Rounds), "round", "rounds"), t.r.Options.Seed)
	t.line("")
}

func (t *text) measured() (n int) {
	for _, row := range t.r.Rows {
		if len(row.Runs) > 0 {
			n++
		}
	}
	return n
}

// table has the medians; what is not there is left out.
func (t *text) table() {
	lines := [][]string{{t.kind(), "CPU", "95 % interval", "wall", "user", "sys", "peak RSS", "faults"}}
	if hasThroughput(t.r) {
		lines[0] = append(lines[0], "throughput")
	}
	for _, row := range t.r.Rows {
		if len(row.Runs) > 0 {
			lines = append(lines, t.row(row))
		}
	}
	t.columns(lines, len(lines[0]))
	for _, row := range t.r.Rows {
		if len(row.Runs) == 0 {
			t.line("  %s was not measured: %s", name(row), term.Safe(row.Failed))
		}
	}
}

func (t *text) kind() string {
	if t.r.Versus != "" {
		return "command"
	}
	return "malloc"
}

func name(row *compare.Row) string { return term.Safe(clipped(row.Name)) }

func (t *text) row(row *compare.Row) []string {
	of := func(what func(*compare.Measure) float64) stat.Summary { return stat.Summarize(row.Series(what)) }
	cpu := of(compare.CPU)
	faults := of(func(m *compare.Measure) float64 { return compare.MinorFaults(m) + compare.MajorFaults(m) })
	cells := []string{
		name(row), seconds(cpu.Median), interval(cpu), seconds(of(compare.Wall).Median),
		seconds(of(compare.User).Median), seconds(of(compare.Sys).Median), amount(of(compare.PeakRSS).Median, "B"),
		figure.Count(uint64(faults.Median)),
	}
	if hasThroughput(t.r) {
		cells = append(cells, amount(of(compare.Throughput).Median, unitOf(t.r))+"/s")
	}
	return cells
}

// verdicts are the ratios to the base, and what they show.
func (t *text) verdicts() {
	lines := [][]string{{"against " + name(t.r.Base()), "CPU", "", "wall", "peak RSS", "rounds"}}
	metric := t.r.Options.Metric != nil
	if metric {
		lines[0] = slices.Insert(lines[0], 5, "throughput")
	}
	for _, row := range t.r.Rows {
		if row.Ratios == nil {
			continue
		}
		cells := []string{name(row), bounds(row.Ratios.CPU), t.coloured(row.Ratios.CPU.Verdict()),
			inShort(row.Ratios.Wall, "faster", "slower"), inShort(row.Ratios.PeakRSS, "smaller", "larger")}
		if metric {
			cells = append(cells, inShort(*row.Ratios.Throughput, "lower", "higher"))
		}
		cells = append(cells, figure.Count(uint64(len(row.Runs))))
		lines = append(lines, cells)
	}
	t.line("")
	t.columns(lines, 1)
}

// inShort is the ratio where it shows a difference.
func inShort(r stat.Ratio, less, more string) string {
	if !r.Shown() {
		return "not shown"
	}
	return times(r.Value, 1) + " " + inWords(r, less, more)
}

func (t *text) coloured(v stat.Verdict) string {
	code := map[stat.Verdict]string{stat.Faster: "32", stat.Slower: "31"}[v]
	if !t.o.Colour || code == "" {
		return string(v)
	}
	return "\x1b[" + code + "m" + string(v) + "\x1b[0m"
}

// columns puts cells below each other, the first of a line and those from the
// column left on to the left, the others to the right.
func (t *text) columns(lines [][]string, left int) {
	widths := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], columnsOf(cell))
		}
	}
	for _, cells := range lines {
		var b strings.Builder
		for i, cell := range cells {
			pad := strings.Repeat(" ", widths[i]-columnsOf(cell))
			if i == 0 || i >= left {
				b.WriteString("  " + cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		t.line("%s", strings.TrimRight(b.String(), " "))
	}
}

// columnsOf is how wide a cell is, without what only colours.
func columnsOf(cell string) int { return term.Columns(colour.ReplaceAllString(cell, "")) }

var colour = regexp.MustCompile("\x1b\\[[0-9]*m")

// mallocs say whether swapping can matter.
func (t *text) mallocs() {
	m := t.r.Malloc
	if m == nil {
		return
	}
	t.line("")
	t.line("%s", t.allocates(term.Safe(clipped(t.r.Command)), m))
	if t.r.Other != nil {
		t.line("%s", t.allocates(term.Safe(clipped(t.r.Versus)), t.r.Other))
	}
	if m.Share != nil && t.r.Versus == "" {
		t.line("  a malloc that cost nothing would save that much; more only where blocks lie better in memory")
	}
}

func (t *text) allocates(who string, m *compare.Malloc) string {
	said := fmt.Sprintf("%s makes %s of %s%s", who, figure.Counted(m.Allocations, "allocation", "allocations"), figure.Size(m.Bytes), t.perWork(m))
	if m.Share == nil {
		return said
	}
	return fmt.Sprintf("%s: malloc and free take %s of its CPU time (%s)", said, percent(*m.Share), m.Basis)
}

// perWork is how many allocations the work of a run takes.
func (t *text) perWork(m *compare.Malloc) string {
	done := t.r.Options.Work
	switch {
	case done == nil || m.Allocations == 0:
		return ""
	case done.Unit == "B":
		return fmt.Sprintf(", one for every %s of work", amount(done.Amount/float64(m.Allocations), "B"))
	}
	return fmt.Sprintf(", %s for each of %s", digits(float64(m.Allocations)/done.Amount), amount(done.Amount, done.Unit))
}

func percent(share float64) string {
	switch p := 100 * share; {
	case p < 0.1:
		return "less than 0.1 %"
	case p < 9.95:
		return fmt.Sprintf("about %.1f %%", p)
	default:
		return fmt.Sprintf("about %.0f %%", p)
	}
}

func (t *text) removed() {
	r := t.r.Removed
	if r == nil {
		return
	}
	said := fmt.Sprintf("%s makes %s fewer; each of them ", term.Safe(clipped(r.Fewer)), figure.Counted(r.Allocations, "allocation", "allocations"))
	span := " (" + spanOf(r.Low, r.High, func(ns float64) string { return seconds(ns / 1e9) }) + ")"
	switch {
	case !r.Shown:
		said += "bought nothing that is shown" + span
	case r.Each < 0:
		said += "cost " + seconds(-r.Each/1e9) + " of CPU time" + span
	default:
		said += "bought " + seconds(r.Each/1e9) + " of CPU time" + span
	}
	t.line("%s", said)
	if price := t.r.Malloc.Each; r.Shown && price > 0 && r.Low > farMore*price {
		t.line("  which is far more than malloc and free take (%s): the commands differ in something else too", seconds(price/1e9))
	}
	if r.Work != 0 && r.WorkShown {
		t.line("  and %s more work in the same time (%s)", amount(r.Work, r.Unit),
			spanOf(r.WorkLow, r.WorkHigh, func(value float64) string { return amount(value, r.Unit) }))
	}
}

// farMore times its price is what no allocation saves by its absence, whatever
// it does to the caches.
const farMore = 20

func spanOf(low, high float64, write func(float64) string) string {
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return "too few rounds to bound it"
	}
	return write(low) + " to " + write(high)
}

func (t *text) ending() {
	t.line("")
	rounds := figure.Counted(uint64(t.r.Rounds), "round", "rounds")
	switch t.r.Stopped {
	case compare.MostRuns:
		t.line("stopped at the limit of %s%s (--rounds)", rounds, t.more())
	case compare.TimeIsUp:
		t.line("stopped at the limit of %v, after %s%s (--limit)", duration(t.r.Options.Limit), rounds, t.more())
	case compare.Cancelled:
		t.line("interrupted after %s%s", rounds, t.more())
	}
	for _, note := range t.r.Notes {
		t.line("note: %s", term.Safe(note))
	}
	t.line("of equal sides, %g in 100 comparisons would show a difference, all looks counted", 100*stat.FalseAlarms)
	if t.o.Plot != "" {
		t.line("wrote %s", term.Safe(t.o.Plot))
	}
}

// more says what more rounds would bring.
func (t *text) more() string {
	if least := stat.LeastRounds(t.r.Plan.Sides); t.r.Rounds < least {
		about := ""
		if t.r.Stopped == compare.TimeIsUp {
			about = fmt.Sprintf(" rounds, about %s", duration(roundedUp(t.r.Elapsed/time.Duration(max(1, t.r.Rounds))*time.Duration(least))))
		}
		return fmt.Sprintf(": to show any difference takes %d%s", least, about)
	}
	return ": to show a smaller difference takes more"
}

// roundedUp makes a limit of a time that something takes.
func roundedUp(d time.Duration) time.Duration {
	for _, step := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		if d <= 6*step {
			return (d + step - 1).Truncate(step)
		}
	}
	return (d + time.Minute - 1).Truncate(time.Minute)
}

// clipped keeps a name a name.
func clipped(name string) string {
	const most = 48
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}
