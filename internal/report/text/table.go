package text

import (
	"regexp"
	"strings"

	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/term"
)

const detailIndent = "                  "

// fewestSites are shown on every terminal, however low.
const fewestSites = 5

// table returns the lines of each of the sites to show.
func (r *report) table() [][]string {
	shown := r.sites
	if r.options.Top > 0 && len(shown) > r.options.Top {
		shown = shown[:r.options.Top]
	}
	who := r.who(shown)
	width := functionWidth(shown)
	blocks := make([][]string, len(shown))
	for i, site := range shown {
		blocks[i] = r.part(func() {
			r.site(site, width)
			r.code(site)
			r.details(site, who[i])
		})
	}
	return blocks
}

// writeTable writes as many of the sites as there is room for beside other
// lines, and the sum of the rest.
func (r *report) writeTable(blocks [][]string, others int) {
	if len(blocks) == 0 {
		return
	}
	r.line("")
	r.line(r.cut(r.style.dim(r.row(r.titles()) + r.siteTitle())))
	const headAndRest = 3
	room := r.options.Height - others - headAndRest
	shown := 0
	for _, block := range blocks {
		if room -= len(block); r.options.Height > 0 && room < 0 && shown >= fewestSites {
			break
		}
		r.lines = append(r.lines, block...)
		shown++
	}
	r.rest(r.sites[shown:])
}

func (r *report) siteTitle() string {
	if r.options.By == profile.ByType {
		return "type that is allocated, or the function where that is not known"
	}
	return r.noun()
}

func (r *report) noun() string {
	switch r.options.By {
	case profile.ByType, profile.ByFunction, profile.ByModule:
		return string(r.options.By)
	}
	return "site"
}

func (r *report) rest(sites []*profile.Site) {
	if len(sites) == 0 {
		return
	}
	sum := &profile.Site{}
	for _, site := range sites {
		sum.Counters.Add(&site.Counters)
		sum.CPU += site.CPU
	}
	c := r.aboutAll(r.siteCells(sum))
	c[5] = ""
	r.line(r.style.dim(r.row(c) + counted(uint64(len(sites)), "more "+r.noun(), "more "+r.noun()+"s")))
}

func (r *report) site(site *profile.Site, width int) {
	function, place := siteName(site)
	name := r.style.bold(function)
	if place != "" {
		name += strings.Repeat(" ", max(0, width-term.Columns(function))) + "  " + r.style.place(place)
	}
	r.line(r.cut(r.row(r.aboutAll(r.siteCells(site))) + name))
}

// code shows the line of a site, where its source is there.
func (r *report) code(site *profile.Site) {
	if line := r.source.line(&site.Frame); line != "" {
		r.line(r.cut(detailIndent + line))
	}
}

// details tells what is true of a site and who calls it: on one line, or where
// the terminal is narrow on two, with fewer callers.
func (r *report) details(site *profile.Site, who func(most int) string) {
	facts := r.sentences(analyze.Facts(site))
	if line := strings.TrimSpace(facts + "  " + who(callersShown)); r.fits(line) {
		r.detail(line)
		return
	}
	most := callersShown
	for most > 1 && !r.fits(who(most)) {
		most--
	}
	r.detail(facts)
	r.detail(who(most))
}

func (r *report) detail(line string) {
	if line != "" {
		r.line(r.cut(detailIndent + r.style.dim(line)))
	}
}

func (r *report) fits(detail string) bool {
	return r.options.Width == 0 || term.Columns(detail) <= r.options.Width-len(detailIndent)
}

// who tells of each of the sites who calls it; of groups that are no
// functions, which functions are in them.
func (r *report) who(sites []*profile.Site) []func(most int) string {
	all := make([]func(int) string, len(sites))
	if r.options.By == profile.ByModule || r.options.By == profile.ByType {
		for i, members := range r.profile.Members(sites) {
			all[i] = func(most int) string {
				if sites[i].Function != "" || len(members) == 0 {
					return ""
				}
				return "in " + r.callerList(members, sites[i].Module, most)
			}
		}
		return all
	}
	callers := r.callers(sites)
	named := r.namedCallers(sites, callers)
	for i, site := range sites {
		all[i] = func(most int) string { return r.whoCalls(site, callers[i], named[i], most) }
	}
	return all
}

func siteCells(c *recording.Counters, whole uint64) cells {
	return cells{
		count(c.Calls), percent(c.Calls, whole), size(c.Bytes), size(uint64(max(0, c.PeakBytes))),
		orDash(uint64(c.LiveBlocks()), size(uint64(c.LiveBytes()))), orDash(c.Temporary, percent(c.Temporary, c.Calls)),
	}
}

// cut shortens a line to the width of the terminal.
func (r *report) cut(line string) string {
	if r.options.Width == 0 {
		return line
	}
	return r.style.cut(line, r.options.Width)
}

// folded writes a line, on more lines where the terminal is narrow.
func (r *report) folded(line string) {
	const indent = "        "
	if r.options.Width == 0 || term.Columns(stripped(line)) <= r.options.Width {
		r.line(line)
		return
	}
	text := strings.TrimLeft(line, " ")
	r.wrapped(line[:len(line)-len(text)], indent, text)
}

// wrapped breaks a text into lines between words, to the width of the
// terminal.
func (r *report) wrapped(first, next, text string) {
	width := r.options.Width
	if width == 0 {
		r.line(first + text)
		return
	}
	line := first
	empty := true
	for _, word := range unbroken(text) {
		if !empty && term.Columns(stripped(line))+1+term.Columns(stripped(word)) > width {
			r.line(line)
			line, empty = next, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	r.line(r.cut(line))
}

// units stay on the line of their number.
var units = regexp.MustCompile(`^(%|[kMGTPE]?B|ns|µs|ms|s)[),.;:]*$`)

// unbroken returns the words of a text, numbers with their units.
func unbroken(text string) (words []string) {
	for _, word := range strings.Fields(text) {
		if n := len(words); n > 0 && words[n-1][len(words[n-1])-1]-'0' <= 9 && units.MatchString(word) {
			words[n-1] += " " + word
		} else {
			words = append(words, word)
		}
	}
	return words
}
