package text

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/live"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// LiveOrder is what the sites of a live view are sorted by, the greatest
// first.
type LiveOrder string

const (
	ByCallRate LiveOrder = "calls/s"
	ByByteRate LiveOrder = "bytes/s"
	ByLiveNow  LiveOrder = "live"
	ByAllCalls LiveOrder = "calls"
)

var liveOrders = map[LiveOrder]func(s *live.Site) float64{
	ByCallRate: func(s *live.Site) float64 { return s.AllocationRate },
	ByByteRate: func(s *live.Site) float64 { return s.ByteRate },
	ByLiveNow:  func(s *live.Site) float64 { return float64(s.LiveBytes) },
	ByAllCalls: func(s *live.Site) float64 { return float64(s.Allocations) },
}

// Set and the others make LiveOrder a flag.
func (o *LiveOrder) Set(s string) error {
	if liveOrders[LiveOrder(s)] == nil {
		return fmt.Errorf("must be calls/s, bytes/s, live or calls")
	}
	*o = LiveOrder(s)
	return nil
}

func (o *LiveOrder) String() string { return string(*o) }

// Type names the values of the flag in its help.
func (o *LiveOrder) Type() string { return "calls/s|bytes/s|live|calls" }

// Sort puts sites into the order; equal ones always into the same.
func (o LiveOrder) Sort(sites []live.Site) {
	value := liveOrders[o]
	slices.SortFunc(sites, func(a, b live.Site) int {
		return cmp.Or(
			cmp.Compare(value(&b), value(&a)),
			cmp.Compare(b.Allocations, a.Allocations),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.Module, b.Module),
		)
	})
}

// LiveOptions of a live view.
type LiveOptions struct {
	Top    int // sites to show; 0: all
	Sort   LiveOrder
	Colour bool
	Width  int // columns of the terminal; 0: lines are not cut
	Height int // lines of the terminal; 0: as many as there are
}

// WriteLive prints one reading of a recording whose program runs.
func WriteLive(w io.Writer, v *live.View, o LiveOptions) error {
	out := bufio.NewWriter(w)
	b := &liveBlock{view: v, options: o, style: style{on: o.Colour}}
	b.head()
	b.table()
	b.notes()
	for _, line := range b.lines {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

type liveBlock struct {
	view    *live.View
	options LiveOptions
	style   style
	lines   []string
}

func (b *liveBlock) line(text string) {
	if b.options.Width > 0 {
		text = b.style.cut(text, b.options.Width)
	}
	b.lines = append(b.lines, text)
}

func (b *liveBlock) head() {
	v := b.view
	t := &v.Total
	state := []string{term.Safe(filepath.Base(v.Path))}
	if v.Ended {
		state = append(state, "ended")
	} else {
		var threads uint64
		for i := range v.Processes {
			threads += v.Processes[i].Threads
		}
		state = append(state, counted(uint64(len(v.Processes)), "process", "processes"), counted(threads, "thread", "threads"))
		if v.Gone > 0 {
			state = append(state, fmt.Sprintf("%d ended", v.Gone))
		}
	}
	if v.SampledMean > 0 {
		state = append(state, b.style.warn("estimates from samples, one in "+size(v.SampledMean)))
	}
	state = append(state, v.Time.Format("15:04:05"))
	b.line(b.style.bold("mallow top: ") + strings.Join(state, ", "))
	b.line(fmt.Sprintf("  %s allocations/s, %s/s%s; live %s in %s; so far %s, %s",
		b.rate(t.AllocationRate, callRate), b.rate(t.ByteRate, byteRate), b.since(),
		size(t.LiveBytes), counted(t.LiveBlocks, "block", "blocks"),
		counted(t.Allocations, "allocation", "allocations"), size(t.Bytes)))
}

// since says when the rates are no rates of now.
func (b *liveBlock) since() string {
	if b.view.Since && b.view.Seconds > 0 {
		return fmt.Sprintf(" on average of %.1f s", b.view.Seconds)
	}
	return ""
}

// rate writes what happened per second; "-" where the time is not known.
func (b *liveBlock) rate(perSecond float64, write func(float64) string) string {
	if b.view.Seconds == 0 {
		return "-"
	}
	return write(perSecond)
}

// callRate does not round something to nothing.
func callRate(perSecond float64) string {
	if perSecond > 0 && perSecond < 9.95 {
		return fmt.Sprintf("%.1f", max(0.1, perSecond))
	}
	return count(uint64(perSecond + 0.5))
}

func byteRate(perSecond float64) string { return size(uint64(perSecond + 0.5)) }

// row writes a line of the table up to the site, which has to have room:
// narrow terminals do without blocks and calls.
func (b *liveBlock) row(calls, bytes, live, blocks, allCalls string) string {
	row := fmt.Sprintf("%11s %9s %9s", calls, bytes, live)
	isNarrow := hasNoRoom(b.options.Width, narrow)
	if !isNarrow {
		row += fmt.Sprintf(" %12s", blocks)
	}
	if !isNarrow || b.options.Sort == ByAllCalls {
		row += fmt.Sprintf(" %14s", allCalls)
	}
	return row + "  "
}

func (b *liveBlock) table() {
	sites := b.view.Sites
	shown := len(sites)
	if b.options.Top > 0 {
		shown = min(shown, b.options.Top)
	}
	if b.options.Height > 0 {
		// The line above the table, its head, and the line for the rest.
		room := b.options.Height - len(b.lines) - 3 - len(b.warnings())
		if room < 0 {
			return
		}
		shown = min(shown, room)
	}
	if len(sites) == 0 {
		return
	}
	b.line("")
	b.line(b.style.dim(b.row("calls/s", "bytes/s", "live", "blocks", "calls") + "site"))
	width := b.functionWidth(sites[:shown])
	for i := range sites[:shown] {
		b.site(&sites[i], width)
	}
	if rest := sites[shown:]; len(rest) > 0 {
		var f live.Figures
		for i := range rest {
			f.Allocations += rest[i].Allocations
			f.AllocationRate += rest[i].AllocationRate
			f.ByteRate += rest[i].ByteRate
			f.LiveBytes += rest[i].LiveBytes
			f.LiveBlocks += rest[i].LiveBlocks
		}
		b.line(b.style.dim(b.cells(&f) + counted(uint64(len(rest)), "more site", "more sites")))
	}
}

func (b *liveBlock) cells(f *live.Figures) string {
	return b.row(b.rate(f.AllocationRate, callRate), b.rate(f.ByteRate, byteRate),
		orDash(f.LiveBlocks, size(f.LiveBytes)), orDash(f.LiveBlocks, count(f.LiveBlocks)), count(f.Allocations))
}

func (b *liveBlock) site(s *live.Site, width int) {
	function, where := liveName(s)
	name := b.style.bold(function)
	if where != "" {
		name += strings.Repeat(" ", max(0, width-term.Columns(function))) + "  " + b.style.place(where)
	}
	b.line(b.cells(&s.Figures) + name)
}

func liveName(s *live.Site) (function, where string) { return siteName(&profile.Site{Frame: s.Frame}) }

func (b *liveBlock) functionWidth(sites []live.Site) int {
	named := make([]*profile.Site, len(sites))
	for i := range sites {
		named[i] = &profile.Site{Frame: sites[i].Frame}
	}
	return functionWidth(named)
}

// warnings are one line at most: the place is for figures.
func (b *liveBlock) warnings() []string {
	all := grouped(b.view.Warnings)
	if len(all) < 2 {
		return all
	}
	return []string{fmt.Sprintf("%s (and %d more: mallow report)", all[0], len(all)-1)}
}

func (b *liveBlock) notes() {
	for _, w := range b.warnings() {
		b.line(b.style.warn("note:") + " " + term.Safe(w))
	}
}
