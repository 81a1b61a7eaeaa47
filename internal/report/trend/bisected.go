package trend

import (
	"fmt"
	"io"

	"mallow/internal/figure"
	"mallow/internal/history"
	"mallow/internal/report/text"
	"mallow/internal/term"
)

// Bisected is the commit at which a metric changed.
type Bisected struct {
	Benchmark, Metric, Unit string
	Old, New                float64
	Commit                  history.Description
	Others                  []string // that it may also be
	Measured                int
	Cause                   *history.Cause // nil where nobody knows
	Notes                   []string
}

// WriteBisected writes it as text.
func WriteBisected(w io.Writer, b *Bisected, colour bool) error {
	t := &textReport{o: TextOptions{Colour: colour}}
	was, is := both(b.Old, b.New, b.Unit)
	fmt.Fprintf(&t.b, "%s %s: %s -> %s, %s since\n", term.Safe(b.Benchmark), term.Safe(b.Metric), was, is, change(b.Old, b.New))
	fmt.Fprintf(&t.b, "  %s  %s  %s\n  %s\n", t.bold(b.Commit.Hash), b.Commit.Time.Format("2006-01-02"), term.Safe(b.Commit.Author), term.Safe(b.Commit.Subject))
	if n := len(b.Others); n > 0 {
		fmt.Fprintf(&t.b, "  or one of the %s before it that could not be measured:\n", figure.Counted(uint64(n), "commit", "commits"))
		for _, c := range b.Others {
			fmt.Fprintf(&t.b, "    %s\n", term.Safe(c))
		}
	}
	t.cause(b.Cause)
	fmt.Fprintf(&t.b, "%s measured\n", figure.Counted(uint64(b.Measured), "commit", "commits"))
	for _, note := range b.Notes {
		fmt.Fprintf(&t.b, "note: %s\n", term.Safe(note))
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

// cause lists the sites of one, each with the stack that changed most.
func (t *textReport) cause(c *history.Cause) {
	if c == nil || len(c.Sites) == 0 {
		return
	}
	const most = 5
	for i := range c.Sites[:min(most, len(c.Sites))] {
		s := &c.Sites[i]
		was, is := both(s.Was, s.Is, s.Unit)
		fmt.Fprintf(&t.b, "  %12s -> %-12s %-9s %s  %s\n", was, is, status(s), text.ShortName(functionOf(&s.Frame)), t.dim(placeOf(&s.Frame)))
		if len(s.Stacks) == 0 {
			continue
		}
		for k := 1; k < min(4, len(s.Stacks[0].Frames)); k++ {
			f := &s.Stacks[0].Frames[k]
			fmt.Fprintf(&t.b, "  %38s<- %s  %s\n", "", text.ShortName(functionOf(f)), t.dim(placeOf(f)))
		}
	}
	if rest := len(c.Sites) + c.Others - most; rest > 0 {
		fmt.Fprintf(&t.b, "  and %s that changed less\n", figure.Counted(uint64(rest), "site", "sites"))
	}
}
