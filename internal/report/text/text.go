// Package text writes the report of one screen: how much was allocated, where,
// by whom, what is true of it, and how far the figures can be trusted.
package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// Options of the report.
type Options struct {
	Top    int // sites to show; 0: all
	Sort   analyze.Order
	By     profile.Grouping
	All    bool // with what libc allocated on its own account
	Colour bool
	Width  int    // columns of the terminal; 0: lines are not cut
	Wrote  string // the recording that was just made, "" for an older one
	Next   string // the command that tells more
}

// Write prints the report.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	out := bufio.NewWriter(w)
	r := &report{profile: p, options: o, style: style{on: o.Colour}, out: out}
	r.sites = analyze.RankGroups(p, o.All, o.Sort, o.By)
	r.headline()
	r.restriction()
	r.sampling()
	r.functions()
	r.phases()
	r.nullFrees()
	r.table()
	r.regions()
	r.units()
	r.processes()
	r.cpuLine()
	r.ending()
	return out.Flush()
}

type report struct {
	profile *profile.Profile
	options Options
	style   style
	out     *bufio.Writer
	sites   []*profile.Site
}

func (r *report) line(text string) { fmt.Fprintln(r.out, text) }

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
	parts = append(parts,
		r.about(size(t.PeakBytes))+" "+r.atPeak(),
		r.about(count(t.LiveBlocks))+" "+r.notFreed()+inBrackets(t.LiveBytes),
		r.about(count(t.Temporary))+" temporary",
	)
	if t.Failed > 0 {
		parts = append(parts, count(t.Failed)+" failed")
	}
	line := "mallow: " + strings.Join(parts, ", ")
	if libc := r.profile.Origins[profile.OriginLibc].Allocations; libc > 0 && !r.options.All {
		line += r.style.dim(fmt.Sprintf("     (libc made %s more for it)", count(libc)))
	}
	r.line(line)
}

// atPeak tells the peak of all from what of a part was live then.
func (r *report) atPeak() string {
	if r.profile.Restricted() {
		return "at the peak"
	}
	return "peak"
}

// notFreed does not say never of a program that still runs.
func (r *report) notFreed() string {
	if r.profile.Running > 0 {
		return "not freed yet"
	}
	return "never freed"
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
	line := "        " + strings.Join(parts, ", ")
	if libraries := r.profile.Origins[profile.OriginLibraries].Allocations; libraries > 0 && t.Allocations > 0 {
		line += fmt.Sprintf("; %s by libraries", percent(libraries, t.Allocations))
	}
	r.line(r.style.dim(line))
}

const detailIndent = "                  "

func (r *report) table() {
	shown := r.sites
	if r.options.Top > 0 && len(shown) > r.options.Top {
		shown = shown[:r.options.Top]
	}
	if len(shown) == 0 {
		return
	}
	r.line("")
	r.line(r.style.dim(r.row(cells{"calls", "share", "bytes", "at peak", "live", "temp"}) + "site"))
	whole := r.totals().Allocations
	callers := r.callers(shown)
	named := r.namedCallers(shown, callers)
	width := functionWidth(shown)
	for i, site := range shown {
		r.site(site, whole, width)
		r.details(site, callers[i], named[i])
	}
	if rest := r.sites[len(shown):]; len(rest) > 0 {
		var calls uint64
		for _, site := range rest {
			calls += site.Counters.Calls
		}
		r.line(r.style.dim(r.row(cells{count(calls), percent(calls, whole)}) +
			counted(uint64(len(rest)), "more site", "more sites")))
	}
}

func (r *report) site(site *profile.Site, whole uint64, width int) {
	function, place := siteName(site)
	name := r.style.bold(function)
	if place != "" {
		name += strings.Repeat(" ", max(0, width-len([]rune(function)))) + "  " + r.style.place(place)
	}
	r.line(r.cut(r.row(r.aboutAll(siteCells(&site.Counters, whole))) + name))
}

// details tells what is true of a site and who calls it: on one line, or where
// the terminal is narrow on two, with fewer callers.
func (r *report) details(site *profile.Site, callers, named []profile.Caller) {
	facts := r.sentences(analyze.Facts(site))
	who := whoCalls(site, callers, named, callersShown)
	if line := strings.TrimSpace(facts + "  " + who); r.fits(line) {
		r.detail(line)
		return
	}
	for most := callersShown - 1; most > 0 && !r.fits(who); most-- {
		who = whoCalls(site, callers, named, most)
	}
	r.detail(facts)
	r.detail(who)
}

func (r *report) detail(line string) {
	if line != "" {
		r.line(r.cut(detailIndent + r.style.dim(line)))
	}
}

func (r *report) fits(detail string) bool {
	return r.options.Width == 0 || utf8.RuneCountInString(detail) <= r.options.Width-len(detailIndent)
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
	if q.TruncatedStacks > 0 {
		notes = append(notes, fmt.Sprintf("%s could not be followed to the start of %s thread (%s of the allocations)",
			counted(q.TruncatedStacks, "stack", "stacks"), plural(q.TruncatedStacks, "its", "their"),
			percent(q.TruncatedCalls, r.profile.Totals.Allocations)))
	}
	if q.UnplacedCalls > 0 {
		notes = append(notes, counted(q.UnplacedCalls, "allocation is", "allocations are")+" counted without stack and function")
	}
	if q.InheritedFrees > 0 {
		notes = append(notes, counted(q.InheritedFrees, "free", "frees")+" released what was allocated before a fork, or before recording")
	}
	if mixed := r.profile.Restriction.Mixed; mixed > 0 {
		notes = append(notes, "of "+counted(mixed, "allocation", "allocations")+" it is not known exactly what lived: threads released each other's blocks")
	}
	if q.PeakErrorBytes > 0 {
		notes = append(notes, "the peak is exact to "+size(q.PeakErrorBytes)+", because several threads allocated")
	}
	return append(notes, grouped(r.profile.Warnings())...)
}

const notesShown = 12

func (r *report) ending() {
	notes := r.notes()
	if len(notes) > 0 || r.options.Next != "" {
		r.line("")
	}
	for _, note := range notes[:min(len(notes), notesShown)] {
		r.line(r.style.warn("note:") + " " + term.Safe(note))
	}
	if more := len(notes) - notesShown; more > 0 {
		r.line(r.style.warn("note:") + fmt.Sprintf(" %d more: mallow report --json, quality.warnings", more))
	}
	if next := r.options.Next; next != "" {
		next = "next: " + next
		if r.options.Wrote != "" {
			next = "wrote " + r.options.Wrote + "     " + next
		}
		r.line(r.style.dim(term.Safe(next)))
	}
}

// cut shortens a line to the width of the terminal.
func (r *report) cut(line string) string {
	if r.options.Width == 0 {
		return line
	}
	return r.style.cut(line, r.options.Width)
}
