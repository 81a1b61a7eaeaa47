// Package text writes the report of one screen: how much was allocated, where,
// by whom, what is true of it, and how far the figures can be trusted.
package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"mallow/internal/advise"
	"mallow/internal/analyze"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// Options of the report.
type Options struct {
	Top    int // sites to show; 0: all
	Sort   analyze.Order
	By     profile.Grouping
	All    bool           // with what libc allocated on its own account
	Advice *advise.Result // nil: none is shown
	// Advised is how many pieces of advice to show; 0: all.
	Advised  int
	Evidence bool // with the figures that show it
	Colour   bool
	Width    int // columns of the terminal; 0: lines are not cut
	// Height is the lines of the terminal: fewer sites are shown where they are
	// not enough, but no fewer than a few. 0: as many as Top says.
	Height int
	Wrote  string // the recording that was just made, "" for an older one
	Next   string // the command that tells more
}

// Write prints the report.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	r := newReport(p, o)
	r.sites = analyze.RankGroups(p, o.All, o.Sort, o.By)
	above := r.part(r.headline, r.merged, r.restriction, r.sampling, r.functions, r.libcs, r.phases, r.nullFrees)
	table := r.table() // names the callers, and what it cannot name is told below
	below := r.part(r.regions, r.units, r.processes, r.cpuLine, r.advice, r.ending)
	r.lines = above
	r.writeTable(table, len(above)+len(below))
	r.lines = append(r.lines, below...)
	return r.print(w)
}

type report struct {
	profile *profile.Profile
	options Options
	style   style
	lines   []string
	sites   []*profile.Site
	wholes  map[analyze.Order]uint64
	source  source
	joint   string                // between functions that call each other
	told    map[analyze.Kind]bool // kinds of facts that were explained
}

func newReport(p *profile.Profile, o Options) *report {
	return &report{profile: p, options: o, style: style{on: o.Colour}, source: source{profile: p}}
}

func (r *report) line(text string) { r.lines = append(r.lines, text) }

// part returns the lines that some sections write.
func (r *report) part(sections ...func()) []string {
	r.lines = nil
	for _, section := range sections {
		section()
	}
	return r.lines
}

func (r *report) print(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, line := range r.lines {
		out.WriteString(strings.TrimRight(line, " "))
		out.WriteByte('\n')
	}
	return out.Flush()
}

// totals are what the report speaks of: without libc's own calls, unless
// those are asked for.
func (r *report) totals() profile.Totals {
	if r.options.All {
		return r.profile.Totals
	}
	return r.profile.WithoutLibc()
}

func (r *report) headline() {
	t := r.totals()
	parts := []string{r.style.bold(r.about(counted(t.Allocations, "allocation", "allocations")))}
	if t.Frees != nil {
		parts = append(parts, r.about(counted(*t.Frees, "free", "frees")))
	}
	if !r.profile.PeakUnknown() {
		parts = append(parts, r.about(size(t.PeakBytes))+" "+r.atPeak())
	}
	parts = append(parts, r.about(count(t.LiveBlocks))+" "+r.profile.Fate()+inBrackets(t.LiveBytes))
	if !r.profile.SumsOnly {
		parts = append(parts, r.about(count(t.Temporary))+" temporary")
	}
	if t.Failed > 0 {
		parts = append(parts, count(t.Failed)+" failed")
	}
	line := "mallow: " + strings.Join(parts, ", ")
	if libc := r.profile.Origins[profile.OriginLibc].Allocations; libc > 0 && !r.options.All {
		line += r.style.dim(fmt.Sprintf("     (libc made %s more for it)", count(libc)))
	}
	r.folded(line)
}

// atPeak tells the peak of all from what of a part was live then.
func (r *report) atPeak() string {
	if r.profile.Restricted() {
		return "at the peak"
	}
	return "peak"
}

func inBrackets(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return " (" + size(bytes) + ")"
}

// functions tells which functions were called, and by whom.
func (r *report) functions() {
	t := r.totals()
	var parts []string
	for _, g := range []struct {
		name  string
		calls uint64
	}{
		{"malloc", t.Mallocs}, {"calloc", t.Callocs}, {"realloc", t.Reallocs}, {"strdup", t.Strdups},
		{"wcsdup", t.Wcsdups}, {"aligned", t.Aligned}, {"new", t.News}, {"free(NULL)", t.FreeNulls},
	} {
		if g.calls > 0 {
			parts = append(parts, g.name+" "+r.about(count(g.calls)))
		}
	}
	parts = append(parts, r.about(size(t.Bytes))+" requested")
	line := strings.Join(parts, ", ")
	if libraries := r.profile.Origins[profile.OriginLibraries].Allocations; libraries > 0 && t.Allocations > 0 {
		line += fmt.Sprintf("; %s by libraries", percent(libraries, t.Allocations))
	}
	r.folded("        " + r.style.dim(line))
}

// notes says how far the figures can be trusted.
func (r *report) notes() []string {
	var notes []string
	q := &r.profile.Quality
	if r.profile.Running > 0 {
		notes = append(notes, counted(r.profile.Running, "process still runs", "processes still run")+": figures as of now")
	}
	if q.Joined > 0 {
		notes = append(notes, fmt.Sprintf("recording began while %s; %s lived already and %s not in it",
			plural(q.Joined, "the program ran", "the programs ran"), size(q.BytesBefore), plural(q.BytesBefore, "is", "are")))
	}
	notes = append(notes, r.stopped()...)
	if q.TruncatedStacks > 0 {
		notes = append(notes, fmt.Sprintf("%s could not be followed to the start of %s thread (%s of the allocations)",
			counted(q.TruncatedStacks, "stack", "stacks"), plural(q.TruncatedStacks, "its", "their"),
			percent(q.TruncatedCalls, r.profile.Totals.Allocations)))
	}
	if q.UnplacedCalls > 0 {
		notes = append(notes, counted(q.UnplacedCalls, "allocation is", "allocations are")+" counted without stack and function")
	}
	if q.InheritedFrees > 0 {
		notes = append(notes, counted(q.InheritedFrees, "release is", "releases are")+" of blocks from before a fork, or from before recording")
	}
	if mixed := r.profile.Restriction.Mixed; mixed > 0 {
		notes = append(notes, "of "+counted(mixed, "allocation", "allocations")+" it is not known exactly what lived: threads released each other's blocks")
	}
	if q.PeakErrorBytes > 0 && !r.profile.PeakUnknown() {
		notes = append(notes, "the peak is exact to "+size(q.PeakErrorBytes)+", because several threads allocated")
	}
	notes = append(notes, r.otherPeak()...)
	notes = append(notes, r.rebuilt()...)
	notes = append(notes, r.source.notes()...)
	return append(notes, grouped(r.profile.Warnings())...)
}

// stopped tells how long a program was recorded that outlived its recording.
func (r *report) stopped() []string {
	var longest time.Duration
	for _, process := range r.profile.Processes {
		if im := process.Image; im.StoppedRealtime > im.StartRealtime {
			longest = max(longest, time.Duration(im.StoppedRealtime-im.StartRealtime))
		}
	}
	switch n := r.profile.Stopped; n {
	case 0:
		return nil
	case 1:
		return []string{"recording was stopped after " + figure.Time(longest) + ", while the process went on"}
	default:
		return []string{"recording was stopped after up to " + figure.Time(longest) + ", while " + count(n) + " processes went on"}
	}
}

// otherPeak tells why the sites have less at the peak than the headline says: it
// leaves libc's own blocks out, with which there was most at another time.
func (r *report) otherPeak() []string {
	const mostApart = 0.1
	p := r.profile
	if r.options.All || p.PeakUnknown() || p.Restricted() {
		return nil
	}
	held := p.Origins[profile.OriginProgram].PeakBytes + p.Origins[profile.OriginLibraries].PeakBytes
	if peak := p.WithoutLibc().PeakBytes; float64(held+p.Quality.PeakErrorBytes) < (1-mostApart)*float64(peak) {
		return []string{fmt.Sprintf("at peak is what lived when libc's own blocks and all others had most bytes, %s; without libc's %s, at another time", size(p.Totals.PeakBytes), size(peak))}
	}
	return nil
}

const notesShown = 12

func (r *report) ending() {
	notes := r.notes()
	if len(notes) > 0 || r.options.Next != "" {
		r.line("")
	}
	for _, note := range notes[:min(len(notes), notesShown)] {
		r.folded(r.style.warn("note:") + " " + term.Safe(note))
	}
	if more := len(notes) - notesShown; more > 0 {
		r.line(r.style.warn("note:") + fmt.Sprintf(" %d more: mallow report --json, quality.warnings", more))
	}
	if next := r.options.Next; next != "" {
		next = "next: " + next
		if r.options.Wrote != "" {
			next = "wrote " + r.options.Wrote + "     " + next
		}
		r.folded(r.style.dim(term.Safe(next)))
	}
}
