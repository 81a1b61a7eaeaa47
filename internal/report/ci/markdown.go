package ci

import (
	"fmt"
	"reflect"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/gate"
)

// extent is how much of a result a page holds.
type extent struct {
	checks  int // rows of a table
	details int // checks with their sites
	sites   int // of a check
	callers int // of a site
	lines   int // changed near a site
}

// extents, from what a reader wants to what any page has room for.
var extents = []extent{
	{checks: 500, details: 40, sites: 12, callers: 6, lines: 12},
	{checks: 200, details: 20, sites: 6, callers: 4, lines: 6},
	{checks: 60, details: 10, sites: 3, callers: 2, lines: 2},
	{checks: 12, details: 3, sites: 1, callers: 1},
}

// Markdown writes a result as a page of at most limit bytes, the fullest that
// has room; of extremely long names it may be somewhat longer than a very small
// limit.
func Markdown(r *gate.Result, o Options, limit int) string {
	page := ""
	for _, e := range extents {
		p := &markdown{Options: &o, room: e}
		p.write(r)
		if page = p.String(); len(page) <= limit {
			break
		}
	}
	return page
}

type markdown struct {
	*Options
	room extent
	strings.Builder
}

func (p *markdown) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func (p *markdown) write(r *gate.Result) {
	p.line("## mallow gate: %s\n", Headline(r))
	checks := sorted(r)
	noticed := 0
	for noticed < len(checks) && checks[noticed].Verdict != gate.OK {
		noticed++
	}
	if noticed > 0 {
		p.table(checks[:noticed])
	}
	p.explain(checks[:noticed])
	if quiet := checks[noticed:]; len(quiet) > 0 {
		p.line("<details><summary>%s kept</summary>\n", figure.Counted(uint64(len(quiet)), "figure is", "figures are"))
		p.table(quiet)
		p.line("</details>\n")
	}
	for i, note := range r.Notes {
		if i == p.room.checks {
			p.line("- and %s", figure.Counted(uint64(len(r.Notes)-i), "more note", "more notes"))
			break
		}
		p.line("- Note: %s", prose(cut(note)))
	}
	if len(r.Notes) > 0 {
		p.line("")
	}
	p.foot()
}

// longestSentence is that of a message or a note.
const longestSentence = 1000

func cut(sentence string) string {
	if len(sentence) <= longestSentence {
		return sentence
	}
	return strings.ToValidUTF8(sentence[:longestSentence], "") + "..."
}

func (p *markdown) table(checks []*gate.Check) {
	p.line("| | benchmark | metric | was | now | change | reference |")
	p.line("|---|---|---|---:|---:|---:|---|")
	for i, c := range checks {
		if i == p.room.checks {
			p.line("| | and %s more | | | | | |", figure.Count(uint64(len(checks)-i)))
			break
		}
		verdict := prose(short(string(c.Verdict)))
		if p.bad(c) {
			verdict = "**" + verdict + "**"
		}
		p.line("| %s | %s | %s | %s | %s | %s | %s |", verdict, code(c.Benchmark), prose(short(c.Metric)),
			prose(value(c.Was, c.Unit)), prose(value(c.Now, c.Unit)), prose(change(c)), prose(short(string(c.Reference))))
	}
	p.line("")
}

// explain writes of each check what is known of its cause.
func (p *markdown) explain(checks []*gate.Check) {
	left := p.room.details
	var before *gate.Check
	for i, c := range checks {
		if c.Message == "" && len(c.Sites) == 0 {
			continue
		}
		if left == 0 {
			p.line("There is no room for the stacks of the rest.\n")
			return
		}
		left--
		p.line("### %s\n", p.heading(c))
		if c.Message != "" {
			p.line("%s\n", sentence(cut(c.Message)))
		}
		if before != nil && before.Benchmark == c.Benchmark && len(c.Sites) > 0 && reflect.DeepEqual(before.Sites, c.Sites) {
			p.line("The same stacks as above.\n")
			continue
		}
		p.sites(checks[i].Sites)
		before = c
	}
}

func (p *markdown) heading(c *gate.Check) string {
	name := code(c.Benchmark)
	if name == "" {
		name = "without a name"
	}
	if c.Metric != "" {
		name += ": " + prose(short(c.Metric))
	}
	return name
}

func (p *markdown) sites(sites []gate.Site) {
	if len(sites) == 0 {
		return
	}
	p.line("| change | was | now | | site |")
	p.line("|---:|---:|---:|---|---|")
	for i := range sites {
		if i == p.room.sites {
			p.line("| | | | | and %s |", figure.Counted(uint64(len(sites)-i), "more site", "more sites"))
			break
		}
		s := &sites[i]
		p.line("| %s | %s | %s | %s | %s |", growth(s), figure.Count(s.Was), figure.Count(s.Now), prose(short(s.Status)), p.stack(s))
	}
	p.line("")
	for i := range sites {
		if i == p.room.sites {
			break
		}
		p.changed(&sites[i])
	}
}

// stack writes a site and who called it.
func (p *markdown) stack(s *gate.Site) string {
	text := p.frame(s.Function, s.File, s.Line, s.Module)
	for i, c := range s.Callers {
		if i == p.room.callers {
			return text + fmt.Sprintf("<br>← %d more", len(s.Callers)-i)
		}
		text += "<br>← " + p.frame(c.Function, c.File, c.Line, c.Module)
	}
	return text
}

// frame writes a function and its line, with a link to it where there is one.
func (p *markdown) frame(function, file string, line int, module string) string {
	text := code(p.place(function, file, line, module))
	if at := p.address(file, line); at != "" {
		return "[" + text + "](" + at + ")"
	}
	return text
}

func (p *markdown) address(file string, line int) string {
	inside := p.below(file)
	if p.Source == nil || inside == "" || line <= 0 || len(inside) > longestName {
		return ""
	}
	return p.Source(inside, line)
}

// changed shows the lines that were changed near a site.
func (p *markdown) changed(s *gate.Site) {
	if len(s.Changed) == 0 || p.room.lines == 0 {
		return
	}
	p.line("Changed near %s:\n", code(p.place(s.Function, s.File, s.Line, s.Module)))
	var text strings.Builder
	for i, c := range s.Changed {
		if i == p.room.lines {
			fmt.Fprintf(&text, "and %s\n", figure.Counted(uint64(len(s.Changed)-i), "more line", "more lines"))
			break
		}
		fmt.Fprintf(&text, "%s\n", p.lineChange(&c))
	}
	fence := strings.Repeat("`", max(3, longestRun(text.String(), '`')+1))
	p.line("%sdiff\n%s%s\n", fence, text.String(), fence)
}

// lineChange writes a line as a diff does, with its place before it.
func (p *markdown) lineChange(c *gate.LineChange) string {
	at := fmt.Sprintf("@@ %s:%d @@", p.shown(c.File), c.Line)
	if c.Old != "" {
		at += "\n- " + codeLine(c.Old)
	}
	if c.New != "" {
		at += "\n+ " + codeLine(c.New)
	}
	return at
}

// codeLine writes a line of source code.
func codeLine(text string) string {
	return short(strings.ReplaceAll(strings.TrimRight(text, " \t\r\n"), "\t", "    "))
}

func longestRun(s string, of byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != of {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

func (p *markdown) foot() {
	var parts []string
	if p.Commit != "" {
		parts = append(parts, "commit "+code(p.Commit[:min(12, len(p.Commit))]))
	}
	if p.Run != "" {
		parts = append(parts, "[log]("+p.Run+")")
	}
	if len(parts) > 0 {
		p.line("<sub>%s</sub>", strings.Join(parts, ", "))
	}
}
