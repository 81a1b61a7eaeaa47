package trend

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mallow/internal/figure"
	"mallow/internal/history"
	"mallow/internal/term"
)

// TextOptions are those of WriteText.
type TextOptions struct {
	Colour bool
	Width  int // columns, 0 for 120
	Steps  int // at most so many, the last ones; 0 for all
	Notes  []string
	Next   string
}

// WriteText writes a table of series, and the steps of all of them, the latest
// first.
func WriteText(w io.Writer, series []*history.Series, o TextOptions) error {
	if o.Width == 0 {
		o.Width = 120
	}
	t := &textReport{o: o}
	for _, group := range byKey(series) {
		t.group(group)
	}
	t.steps(series)
	for _, note := range o.Notes {
		fmt.Fprintf(&t.b, "note: %s\n", note)
	}
	if o.Next != "" {
		fmt.Fprintf(&t.b, "next: %s\n", o.Next)
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

func byKey(series []*history.Series) (groups [][]*history.Series) {
	for len(series) > 0 {
		n := slices.IndexFunc(series, func(s *history.Series) bool { return s.Key != series[0].Key })
		if n < 0 {
			n = len(series)
		}
		groups, series = append(groups, series[:n]), series[n:]
	}
	return groups
}

type textReport struct {
	b bytes.Buffer
	o TextOptions
}

// Columns of the table besides the course, in characters.
const fixedColumns = 2 + 16 + 8 + 2 + 2 + 12 + 2 + 12

func (t *textReport) group(group []*history.Series) {
	fmt.Fprintf(&t.b, "%s   %s\n", t.bold(term.Safe(group[0].Benchmark)), t.dim(term.Safe(surroundings(group[0].Key))))
	most := 0
	for _, s := range group {
		most = max(most, len(s.Points))
	}
	course := max(6, min(60, most, t.o.Width-fixedColumns))
	fmt.Fprintf(&t.b, "%s\n", t.dim(fmt.Sprintf("  %-16s%8s  %s  %12s  %s", "metric", "points", padded("course", course), "now", "last step")))
	for _, s := range group {
		values := make([]float64, len(s.Points))
		for i, p := range s.Points {
			values[i] = s.Value(p)
		}
		last := "none"
		if len(s.Steps) > 0 {
			step := s.Steps[len(s.Steps)-1]
			last = t.colour(step, change(step.Before.Mean, step.After.Mean)) + " at " + short(term.Safe(step.At.Commit))
		}
		now := s.Points[len(s.Points)-1]
		mark := " "
		if now.Dirty {
			mark = "*"
		}
		fmt.Fprintf(&t.b, "  %s%8s  %s  %12s%s %s\n", padded(term.Safe(s.Metric), 16), figure.Count(uint64(len(s.Points))),
			padded(sparkline(values, course), course), term.Safe(write(s.Value(now), s.Unit)), mark, last)
	}
	t.b.WriteByte('\n')
}

func surroundings(k history.Key) string {
	return strings.Trim(k.Platform+"; "+k.Build, "; ")
}

// step is one with the series that it is of.
type step struct {
	*history.Step
	series *history.Series
}

func stepsOf(series []*history.Series) []step {
	var all []step
	for _, s := range series {
		for _, st := range s.Steps {
			all = append(all, step{st, s})
		}
	}
	slices.SortStableFunc(all, func(a, b step) int { return b.when().Compare(a.when()) })
	return all
}

func (t *textReport) steps(series []*history.Series) {
	all := stepsOf(series)
	if len(all) == 0 {
		return
	}
	left := 0
	if t.o.Steps > 0 && len(all) > t.o.Steps {
		left = len(all) - t.o.Steps
		all = all[:t.o.Steps]
	}
	name := 0
	for _, s := range all {
		name = max(name, min(40, term.Columns(s.name())))
	}
	fmt.Fprintln(&t.b, "steps, the latest first")
	for _, s := range all {
		was, is := both(s.Before.Mean, s.After.Mean, s.series.Unit)
		fmt.Fprintf(&t.b, "  %-10s  %-10s  %s  %s -> %s  %s\n", day(s.At), short(term.Safe(s.At.Commit)), padded(s.name(), name),
			term.Safe(was), term.Safe(is), t.colour(s.Step, change(s.Before.Mean, s.After.Mean)))
	}
	if left > 0 {
		fmt.Fprintf(&t.b, "  and %s more before them\n", figure.Count(uint64(left)))
	}
	t.b.WriteByte('\n')
}

// when is the time that steps of different series are ordered by.
func (s step) when() time.Time {
	if s.At.CommitTime.IsZero() {
		return s.At.Time
	}
	return s.At.CommitTime
}

func (s step) name() string { return term.Safe(s.series.Benchmark + " " + s.series.Metric) }

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-term.Columns(s)))
}

func (t *textReport) bold(s string) string { return t.escape("1", s) }
func (t *textReport) dim(s string) string  { return t.escape("2", s) }

// colour is red for more and blue for less: who cannot tell red from green can
// tell these.
func (t *textReport) colour(s *history.Step, text string) string {
	if s.After.Mean > s.Before.Mean {
		return t.escape("31", text)
	}
	return t.escape("34", text)
}

func (t *textReport) escape(code, s string) string {
	if !t.o.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
