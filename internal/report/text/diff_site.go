package text

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mallow/internal/diff"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// The columns of the table: calls of either side, and how many more, of calls
// and bytes. Narrow terminals do without the last.
func (r *diffReport) widths() [4]int {
	calls := widthOfCalls(r.estimated(count(max(r.diff.Old.Totals.Allocations, r.diff.New.Totals.Allocations))))
	return [4]int{calls, calls, calls + 1, 10}
}

// diffRow writes the cells of a row, those of no text too.
func (r *diffReport) diffRow(cells ...string) string {
	if hasNoRoom(r.options.Width, narrow) {
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
