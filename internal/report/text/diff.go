package text

import (
	"fmt"
	"io"
	"strings"

	"mallow/internal/diff"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// DiffOptions of a comparison's text.
type DiffOptions struct {
	Top    int // sites to show; 0: all that changed
	Sort   diff.Order
	Colour bool
	Width  int    // columns of the terminal; 0: lines are not cut
	Next   string // the command that tells more
	Advice []diff.AdviceChange
}

// WriteDiff prints what changed: the totals, the sites with who calls them, what a
// unit of work needs, and what the comparison must be read with.
func WriteDiff(w io.Writer, d *diff.Diff, o DiffOptions) error {
	r := &diffReport{
		report: *newReport(d.New, Options{Width: o.Width, Colour: o.Colour}),
		diff:   d, options: o,
	}
	d.Sort(o.Sort)
	r.headline()
	r.figures()
	r.functions()
	r.units()
	r.table()
	r.regions()
	r.followed()
	r.ending()
	return r.print(w)
}

type diffReport struct {
	report
	diff    *diff.Diff
	options DiffOptions
}

// headline has the allocations: of a unit of work, where the sides did not do
// as much of it.
func (r *diffReport) headline() {
	old, new := r.diff.OldTotals.Allocations, r.diff.NewTotals.Allocations
	line := r.style.bold(r.arrow(old, new, count)+" "+plural(new, "allocation", "allocations")) + ", " + r.tell(r.factor(float64(old), float64(new)))
	if r.diff.Per != nil {
		line = r.unit(r.diff.Per)
	}
	line = "mallow: " + line
	libc := profile.OriginLibc
	if o, n := r.diff.Old.Origins[libc].Allocations, r.diff.New.Origins[libc].Allocations; o+n > 0 && !r.diff.All {
		line += r.style.dim(fmt.Sprintf("     (libc made %s more for it)", r.arrow(o, n, count)))
	}
	r.folded(line)
}

const totalsIndent = "        "

// figures are the other totals.
func (r *diffReport) figures() {
	o, n := &r.diff.OldTotals, &r.diff.NewTotals
	var parts []string
	if r.diff.Per != nil {
		parts = append(parts, r.arrow(o.Allocations, n.Allocations, count)+" allocations in all")
	}
	// A profile counts what realloc replaced among what was freed.
	if o.Frees != nil && n.Frees != nil && r.diff.Old.SumsOnly == r.diff.New.SumsOnly {
		parts = append(parts, r.arrow(*o.Frees, *n.Frees, count)+" frees")
	}
	for _, g := range []struct {
		old, new uint64
		name     string
	}{{o.Bytes, n.Bytes, "requested"}, {o.PeakBytes, n.PeakBytes, "peak"}} {
		if g.name == "peak" && r.diff.PeakUnknown() {
			continue
		}
		part := r.arrow(g.old, g.new, size) + " " + g.name
		if g.old != g.new {
			part += " (" + strings.ReplaceAll(r.factor(float64(g.old), float64(g.new)), "fewer", "less") + ")"
		}
		parts = append(parts, part)
	}
	live := r.arrow(o.LiveBlocks, n.LiveBlocks, count) + " " + r.diff.Fate()
	if o.LiveBytes+n.LiveBytes > 0 {
		live += " (" + r.arrow(o.LiveBytes, n.LiveBytes, size) + ")"
	}
	parts = append(parts, live)
	if !r.diff.SumsOnly() {
		parts = append(parts, r.arrow(o.Temporary, n.Temporary, count)+" temporary")
	}
	if o.Failed+n.Failed > 0 && !r.diff.FailedUnknown() {
		parts = append(parts, r.arrow(o.Failed, n.Failed, count)+" failed")
	}
	r.wrapped(totalsIndent, totalsIndent, strings.Join(parts, ", "))
}

// functions tells of which functions the calls changed.
func (r *diffReport) functions() {
	o, n := &r.diff.OldTotals, &r.diff.NewTotals
	var parts []string
	for _, g := range []struct {
		name     string
		old, new uint64
	}{
		{"malloc", o.Mallocs, n.Mallocs}, {"calloc", o.Callocs, n.Callocs}, {"realloc", o.Reallocs, n.Reallocs},
		{"strdup", o.Strdups, n.Strdups}, {"wcsdup", o.Wcsdups, n.Wcsdups}, {"aligned", o.Aligned, n.Aligned},
		{"new", o.News, n.News}, {"free(NULL)", o.FreeNulls, n.FreeNulls},
	} {
		if g.old != g.new && !(g.name == "free(NULL)" && r.diff.SumsOnly()) {
			parts = append(parts, g.name+" "+r.arrow(g.old, g.new, count))
		}
	}
	if len(parts) > 0 {
		r.dimmed(totalsIndent, strings.Join(parts, ", "))
	}
}

// units tells what a unit of work needed, and needs.
func (r *diffReport) units() {
	for _, u := range r.diff.Units {
		if u.Both() && u != r.diff.Per {
			r.line(r.cut("        " + r.unit(u)))
		}
	}
}

func (r *diffReport) unit(u *diff.Unit) string {
	old, new := u.Old.PerUnit(r.ofUnit(u.Old)), u.New.PerUnit(r.ofUnit(u.New))
	if of, isBytes := u.New.CountsBytes(); isBytes && old > 0 && new > 0 && max(old, new) <= 1 {
		return r.style.bold("one allocation per "+r.arrow(uint64(1/old+0.5), uint64(1/new+0.5), size)+behind(of)) + ", " +
			r.tell(r.factor(old, new)) + " (" + arrow(u.Old.Count, u.New.Count, size) + ")"
	}
	name := nameOf(u.New)
	of := fmt.Sprintf(" (%s of them)", arrow(u.Old.Count, u.New.Count, count))
	if quotient(old) == quotient(new) {
		return r.style.bold(r.estimated(quotient(old))+" allocations per "+name) + ", as before" + of
	}
	return r.style.bold(r.sides(quotient(old), quotient(new))+" allocations per "+name) + ", " + r.tell(r.factor(old, new)) + of
}

func (r *diffReport) ofUnit(u *profile.Unit) uint64 {
	if r.diff.All {
		return u.Allocations + u.LibcAllocations
	}
	return u.Allocations
}

// regions tells what changed within the program's regions.
func (r *diffReport) regions() {
	shown := 0
	for _, region := range r.diff.Regions {
		if region.Old == nil || region.New == nil || shown == regionsShown {
			continue
		}
		if shown++; shown == 1 {
			r.line("")
		}
		r.line(r.cut("        in region " + r.style.bold(term.Safe(region.Name)) + ": " + r.inRegion(region)))
	}
}

// inRegion compares by the times that the region was entered, where that is
// known.
func (r *diffReport) inRegion(region *diff.Region) string {
	old, new := region.Old.Totals(r.diff.All).Allocations, region.New.Totals(r.diff.All).Allocations
	if region.Old.Entries == 0 || region.New.Entries == 0 {
		return r.arrow(old, new, count) + " allocations, " + r.tell(r.factor(float64(old), float64(new)))
	}
	before, after := float64(old)/float64(region.Old.Entries), float64(new)/float64(region.New.Entries)
	each := r.estimated(quotient(before))
	if quotient(after) != quotient(before) {
		each = r.sides(quotient(before), quotient(after))
	}
	return fmt.Sprintf("%s allocations each time (%s times), %s", each,
		arrow(region.Old.Entries, region.New.Entries, count), r.tell(r.factor(before, after)))
}

const advicesShown = 3

// followed tells what following advice brought, and which advice is new.
func (r *diffReport) followed() {
	var followed, arisen []diff.AdviceChange
	for _, a := range r.options.Advice {
		switch {
		case a.Status == diff.Followed:
			followed = append(followed, a)
		case a.Status == diff.Arisen && a.Brought != nil && *a.Brought < 0: // else nothing grew there
			arisen = append(arisen, a)
		}
	}
	r.adviceList("advice followed", followed, func(a *diff.AdviceChange) string {
		return fmt.Sprintf("%s%s allocations fewer, %s%s promised: %s", about(a.Divided), count(uint64(*a.Brought+0.5)), upTo(a.Saves.AtMost), count(a.Promised), term.Safe(a.Remedy))
	})
	r.adviceList("new advice, where more is allocated", arisen, func(a *diff.AdviceChange) string {
		return fmt.Sprintf("%s -> %s: %s", term.Safe(a.Title), term.Safe(a.Remedy), fewer(&a.Saves))
	})
}

func (r *diffReport) adviceList(title string, advices []diff.AdviceChange, say func(*diff.AdviceChange) string) {
	if len(advices) == 0 {
		return
	}
	r.line("")
	r.line(r.style.bold(title))
	for i := range advices {
		if i == advicesShown {
			r.line(fmt.Sprintf("     %d more", len(advices)-i))
			break
		}
		where := ""
		if sites := advices[i].Sites; len(sites) > 0 {
			f := &sites[0].Frame
			name, at := frameWords(f)
			where = r.style.bold(name)
			if at != "" {
				where += " " + r.style.place(at)
			}
			where += ": "
		}
		r.wrapped("  "+term.Safe(advices[i].Rule)+"  ", "     ", where+say(&advices[i]))
	}
}

func (r *diffReport) ending() {
	notes := r.diff.Notes
	if len(notes) > 0 || r.options.Next != "" {
		r.line("")
	}
	for _, note := range notes[:min(len(notes), notesShown)] {
		r.line(r.style.warn("note:") + " " + term.Safe(note))
	}
	if r.options.Next != "" {
		r.line(r.style.dim(term.Safe("next: " + r.options.Next)))
	}
}

// Regression says in a sentence what grew, and which site did most of it.
func Regression(d *diff.Diff, v *diff.Verdict) string {
	write := size
	if v.Metric == diff.Allocations {
		write = count
	}
	line := fmt.Sprintf("%s grew: %s -> %s", v.Metric, estimated(write(v.Old), d.Old), estimated(write(v.New), d.New))
	if d.Per != nil && (v.Metric == diff.Allocations || v.Metric == diff.Bytes) {
		line += fmt.Sprintf(", %s more than as much work needed before", estimated(write(uint64(v.Excess+0.5)), d.Old, d.New))
	}
	if s := d.Guilty(v.Metric); s != nil {
		name, at := framePlace(s.Frame())
		line += ", most at " + strings.TrimSpace(name+" "+at)
	}
	return line
}
