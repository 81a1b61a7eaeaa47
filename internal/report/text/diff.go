package text

import (
	"fmt"
	"io"
	"math"
	"slices"
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

// estimated marks what is not counted on both sides.
func (r *diffReport) estimated(text string) string {
	return estimated(text, r.diff.Old, r.diff.New)
}

// estimated marks a figure that comes from these profiles where one of them is
// of samples.
func estimated(text string, of ...*profile.Profile) string {
	if slices.ContainsFunc(of, func(p *profile.Profile) bool { return p.Sampling != nil }) {
		return "~" + text
	}
	return text
}

// arrow writes what a figure was and is, with the mark of an estimate on the
// side that is one.
func (r *diffReport) arrow(old, new uint64, write func(uint64) string) string {
	if old == new {
		return r.estimated(write(old))
	}
	return r.sides(write(old), write(new))
}

// sides are two texts for arrow that differ.
func (r *diffReport) sides(old, new string) string {
	return estimated(old, r.diff.Old) + " -> " + estimated(new, r.diff.New)
}

// factor is the sentence of that name, which estimates make one too.
func (r *diffReport) factor(old, new float64) string {
	sentence := factor(old, new)
	if strings.ContainsAny(sentence[:1], "0123456789<") {
		return r.estimated(sentence)
	}
	return sentence
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

// arrow writes what a figure was and is; once where it did not change.
func arrow(old, new uint64, write func(uint64) string) string {
	if old == new {
		return write(old)
	}
	return write(old) + " -> " + write(new)
}

// factor says how many times more or fewer; in per cent where it is less than
// twice.
func factor(old, new float64) string {
	direction := "more"
	if new < old {
		direction = "fewer"
	}
	low, high := min(old, new), max(old, new)
	switch {
	case old == new:
		return "as before"
	case old == 0:
		return "none before"
	case new == 0:
		return "none any more"
	case high >= 1.995*low:
		return times(high/low) + " times " + direction
	}
	return change(old, new) + " " + direction
}

func times(q float64) string {
	switch {
	case q >= 99.95:
		return count(uint64(q + 0.5))
	case q >= 9.995:
		return fmt.Sprintf("%.1f", q)
	}
	return fmt.Sprintf("%.2f", q)
}

// change is how much more or less of old, never 0 %.
func change(old, new float64) string {
	percent := 100 * math.Abs(new-old) / old
	switch {
	case percent < 0.01:
		return "<0.01 %"
	case percent < 0.995:
		return fmt.Sprintf("%.2f %%", percent)
	case percent < 9.95:
		return fmt.Sprintf("%.1f %%", percent)
	}
	return fmt.Sprintf("%.0f %%", percent)
}

// tell colours a sentence by its direction: blue and yellow, which hardly
// anyone takes for each other.
func (r *diffReport) tell(sentence string) string {
	switch {
	case strings.HasSuffix(sentence, "fewer"), strings.HasSuffix(sentence, "any more"):
		return r.style.fewer(sentence)
	case strings.HasSuffix(sentence, "more"), strings.HasSuffix(sentence, "before") && sentence != "as before":
		return r.style.more(sentence)
	}
	return sentence
}

func (s style) more(text string) string  { return s.wrap("33", text) }
func (s style) fewer(text string) string { return s.wrap("94", text) }

func (r *diffReport) towards(text string, change float64) string {
	switch {
	case change > 0:
		return r.style.more(text)
	case change < 0:
		return r.style.fewer(text)
	}
	return text
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

// quotient writes a number with three digits.
func quotient(q float64) string {
	text, _, _ := strings.Cut(ratio(uint64(math.Round(q*1e6)), 1e6, "", ""), " ")
	return text
}

// The columns of the table: calls of either side, and how many more, of calls
// and bytes. Narrow terminals do without the last.
func (r *diffReport) widths() [4]int {
	calls := widthOfCalls(r.estimated(count(max(r.diff.Old.Totals.Allocations, r.diff.New.Totals.Allocations))))
	return [4]int{calls, calls, calls + 1, 10}
}

// diffRow writes the cells of a row, those of no text too.
func (r *diffReport) diffRow(cells ...string) string {
	if r.options.Width > 0 && r.options.Width < narrow {
		cells = cells[:3]
	}
	var b strings.Builder
	widths := r.widths()
	for i, text := range cells {
		fmt.Fprintf(&b, "%s%s ", strings.Repeat(" ", max(0, widths[i]-term.Columns(stripped(text)))), text)
	}
	return b.String() + " "
}

func (r *diffReport) table() {
	changed := r.diff.Sites
	if i := slices.IndexFunc(changed, func(s *diff.Site) bool { return s.Status == diff.Same }); i >= 0 {
		changed = changed[:i]
	}
	shown := changed
	if r.options.Top > 0 && len(shown) > r.options.Top {
		shown = shown[:r.options.Top]
	}
	r.line("")
	if len(shown) == 0 {
		r.line("no site changed (" + counted(uint64(len(r.diff.Sites)), "site", "sites") + ")")
		return
	}
	title := r.diffRow("old calls", "new calls", "change", "bytes") + "site"
	if per := r.diff.Per; per != nil {
		title = r.diffRow("old", "new", "change", "bytes") + "site; calls and bytes per " + term.Safe(per.Name)
	}
	r.line(r.style.dim(title))
	growth := r.diff.Growth(shown, diff.Allocations)
	width := r.nameWidth(shown)
	for i, s := range shown {
		r.diffSite(s, width)
		r.diffDetails(s, &growth[i])
	}
	r.rest(changed[len(shown):])
	r.same(r.diff.Sites[len(changed):])
}

func (r *diffReport) nameWidth(sites []*diff.Site) int {
	const widest = 32
	width := 0
	for _, s := range sites {
		if n := term.Columns(frameName(s.Frame())); n <= widest {
			width = max(width, n)
		}
	}
	return width
}

func frameName(f *profile.Frame) string {
	name, _ := framePlace(f)
	return name
}

func framePlace(f *profile.Frame) (name, at string) {
	if *f == (profile.Frame{}) {
		return "(no stack, or code outside any file)", ""
	}
	return frameWords(f)
}

func (r *diffReport) diffSite(s *diff.Site, width int) {
	function, where := framePlace(s.Frame())
	name := r.style.bold(function)
	if where != "" {
		name += strings.Repeat(" ", max(0, width-term.Columns(function))) + "  " + r.style.place(where)
	}
	old, new := s.OldCounters(), s.NewCounters()
	bytes := float64(new.Bytes) - float64(old.Bytes)
	r.line(r.cut(r.diffRow(
		r.calls(s.Old, old.Calls, true), r.calls(s.New, new.Calls, false),
		r.towards(r.signed(s.Excess), s.Excess), r.signedBytes(bytes, old.Bytes, new.Bytes)) + name))
}

// calls writes a count, of a unit of work where counts are compared by that.
func (r *diffReport) calls(p *diff.Place, n uint64, old bool) string {
	if p == nil {
		return "-"
	}
	of := r.diff.New
	if old {
		of = r.diff.Old
	}
	if per := r.diff.Per; per != nil {
		return estimated(quotient(r.each(float64(n), old)), of)
	}
	return estimated(count(n), of)
}

func (r *diffReport) each(n float64, old bool) float64 {
	if old {
		return n / float64(r.diff.Per.Old.Count)
	}
	return n / float64(r.diff.Per.New.Count)
}

// signed writes by how much calls grew, for each unit of work where they are
// compared by that: what did not grow with the work counts as before.
func (r *diffReport) signed(excess float64) string {
	if r.diff.Per != nil {
		return r.estimated(sign(excess) + quotient(math.Abs(r.each(excess, false))))
	}
	return r.estimated(sign(excess) + count(uint64(math.Abs(excess)+0.5)))
}

// signedOf writes by how much a metric changed.
func (r *diffReport) signedOf(m diff.Metric, excess float64) string {
	if m == diff.Allocations {
		return r.signed(excess)
	}
	if r.diff.Per != nil {
		excess = r.each(excess, false)
	}
	return r.estimated(sign(excess) + size(uint64(math.Abs(excess)+0.5)))
}

func (r *diffReport) signedBytes(change float64, old, new uint64) string {
	if r.diff.Per != nil {
		change = math.Round(r.each(float64(new), false) - r.each(float64(old), true))
	}
	return r.estimated(sign(change) + size(uint64(math.Abs(change))))
}

func sign(x float64) string {
	switch {
	case x > 0:
		return "+"
	case x < 0:
		return "-"
	}
	return ""
}

// diffDetails says how a site changed, what it was called before, and who
// makes the change.
func (r *diffReport) diffDetails(s *diff.Site, g *diff.Growth) {
	facts := strings.Join(r.changes(s), ", ")
	who := r.growth(g, s.Frame().Module)
	if line := strings.TrimSpace(facts + "  " + who); r.fits(line) {
		r.detail(line)
		return
	}
	r.detail(facts)
	r.detail(who)
}

// changes are the words for what became of a site.
func (r *diffReport) changes(s *diff.Site) []string {
	old, new := s.OldCounters(), s.NewCounters()
	switch s.Status {
	case diff.Gone:
		return []string{"gone"}
	case diff.New:
		return append([]string{"new"}, r.live(old.LiveBlocks(), new.LiveBlocks(), old.LiveBytes(), new.LiveBytes())...)
	}
	var words []string
	if was := r.was(s); was != "" {
		words = append(words, was)
	}
	kinds := s.Kinds()
	has := func(k diff.Kind) bool { return slices.Contains(kinds, k) }
	calls, blocks := "", ""
	if has(diff.More) || has(diff.Fewer) {
		calls = r.factorOf(s)
	}
	if before, after := size(meanSize(old.Bytes, old.Calls)), size(meanSize(new.Bytes, new.Calls)); before != after {
		switch {
		case has(diff.Bigger):
			blocks = fmt.Sprintf("bigger: %s each", r.sides(before, after))
		case has(diff.Smaller):
			blocks = fmt.Sprintf("smaller: %s each", r.sides(before, after))
		}
	}
	if calls != "" && blocks != "" {
		join := " and "
		if has(diff.More) != has(diff.Bigger) {
			join = " but "
		}
		words = append(words, calls+join+blocks)
	} else if calls+blocks != "" {
		words = append(words, calls+blocks)
	}
	words = append(words, r.live(old.LiveBlocks(), new.LiveBlocks(), old.LiveBytes(), new.LiveBytes())...)
	if s.MoreFailed != 0 {
		words = append(words, r.arrow(old.Failed, new.Failed, count)+" failed")
	}
	return words
}

func meanSize(bytes, calls uint64) uint64 {
	if calls == 0 {
		return 0
	}
	return (bytes + calls/2) / calls
}

func (r *diffReport) factorOf(s *diff.Site) string {
	old, new := float64(s.OldCounters().Calls), float64(s.NewCounters().Calls)
	if r.diff.Per != nil {
		old, new = r.each(old, true), r.each(new, false)
		if (new > old) != (s.Excess > 0) {
			return "" // part of it is not of the work
		}
	}
	return r.factor(old, new)
}

func (r *diffReport) live(oldBlocks, newBlocks, oldBytes, newBytes int64) []string {
	freed := r.diff.Fate()
	switch bytes := r.estimated(size(uint64(max(newBytes-oldBytes, oldBytes-newBytes)))); {
	case newBlocks > oldBlocks:
		return []string{fmt.Sprintf("%s more %s (%s)", r.estimated(count(uint64(newBlocks-oldBlocks))), freed, bytes)}
	case newBlocks < oldBlocks:
		return []string{fmt.Sprintf("%s fewer %s (%s)", r.estimated(count(uint64(oldBlocks-newBlocks))), freed, bytes)}
	case newBytes > oldBytes:
		return []string{bytes + " more " + freed}
	case newBytes < oldBytes:
		return []string{bytes + " less " + freed}
	}
	return nil
}

// was tells what a site was called before, where it was found by more than its
// name.
func (r *diffReport) was(s *diff.Site) string {
	old := place(&s.Old.Frame)
	switch s.Match {
	case diff.ByFunction:
		if s.Old.File == s.New.File {
			return "was in " + term.Safe(shortPath(s.Old.Module))
		}
		return "was in " + term.Safe(shortPath(s.Old.File))
	case diff.BySignature:
		return "was " + wholeName(s.Old.Function)
	case diff.ByFigures, diff.ByOrder:
		return strings.TrimSpace("was " + shortName(s.Old.Function) + " " + old)
	}
	return ""
}

// wholeName is a name with its parameters, as far as they are readable.
func wholeName(function string) string {
	const longest = 80
	if runes := []rune(function); len(runes) > longest {
		function = string(runes[:longest-1]) + "…"
	}
	return term.Safe(function)
}

// growth names the callers that make a change.
func (r *diffReport) growth(g *diff.Growth, module string) string {
	const most = 4
	var names []string
	for i := range g.Path {
		if i == most-1 && len(g.Path) > most {
			names = append(names, "...", callerName(&g.Path[len(g.Path)-1], module))
			break
		}
		names = append(names, callerName(&g.Path[i], module))
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	var branches []string
	for i := range g.Branches {
		if i == callersShown {
			branches = append(branches, fmt.Sprintf("%d more", len(g.Branches)-i))
			break
		}
		b := &g.Branches[i]
		if name := callerName(&b.Frame, module); name != "" {
			branches = append(branches, fmt.Sprintf("%s (%s)", name, r.signedOf(g.Metric, b.Excess)))
		}
	}
	if len(branches) > 0 {
		names = append(names, strings.Join(branches, ", "))
	}
	if len(names) == 0 {
		return ""
	}
	text := "<- " + strings.Join(names, " <- ")
	if g.Others > 0 {
		text += fmt.Sprintf(" (%s as before)", counted(uint64(g.Others), "other caller", "other callers"))
	}
	return text
}

// callerName is "" for what calls every program.
func callerName(f *profile.Frame, module string) string {
	if profile.IsStart(f.Function) {
		return ""
	}
	name, at := framePlace(f)
	if f.File != "" || f.Module != module {
		name = strings.TrimSuffix(name+" "+at, " ")
	}
	return name
}

// rest sums up the changed sites that are not shown.
func (r *diffReport) rest(sites []*diff.Site) {
	if len(sites) == 0 {
		return
	}
	old, new := callsOf(sites)
	text := counted(uint64(len(sites)), "more site", "more sites") + " changed"
	r.line(r.style.dim(r.sumRow(old, new) + text))
}

// callsOf sums the calls of sites on both sides.
func callsOf(sites []*diff.Site) (old, new uint64) {
	for _, s := range sites {
		old += s.OldCounters().Calls
		new += s.NewCounters().Calls
	}
	return old, new
}

// same sums up those that did not change.
func (r *diffReport) same(sites []*diff.Site) {
	if len(sites) == 0 {
		return
	}
	old, new := callsOf(sites)
	r.line(r.style.dim(r.sumRow(old, new) + counted(uint64(len(sites)), "site is", "sites are") + " the same"))
}

func (r *diffReport) sumRow(old, new uint64) string {
	change := float64(new) - float64(old)
	if r.diff.Per != nil {
		return r.diffRow(estimated(quotient(r.each(float64(old), true)), r.diff.Old),
			estimated(quotient(r.each(float64(new), false)), r.diff.New), "", "")
	}
	return r.diffRow(estimated(count(old), r.diff.Old), estimated(count(new), r.diff.New),
		r.estimated(sign(change)+count(uint64(math.Abs(change)))), "")
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

// about stands before an estimate.
func about(estimate bool) string {
	if estimate {
		return "about "
	}
	return ""
}

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
