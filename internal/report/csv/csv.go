// Package csv writes the sites of a report as a table for spreadsheets: RFC
// 4180, a line of headings first, lines that end in CR LF. No cell can be taken
// for a formula.
package csv

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/term"
)

// columns are the headings, and what stands below them. Scripts rely on their
// names; new ones come at the end.
var columns = []struct {
	name  string
	value func(r *row) string
}{
	{"function", func(r *row) string { return text(r.site.Function) }},
	{"file", func(r *row) string { return text(r.site.File) }},
	{"line", func(r *row) string { return known(r.site.Line > 0, uint64(max(0, r.site.Line))) }},
	{"module", func(r *row) string { return text(r.site.Module) }},
	{"origin", func(r *row) string { return r.site.Origin.String() }},
	{"allocations", func(r *row) string { return number(r.site.Counters.Calls) }},
	{"share", func(r *row) string { return strconv.FormatFloat(r.share, 'f', 6, 64) }},
	{"bytes", func(r *row) string { return number(r.site.Counters.Bytes) }},
	{"usable_bytes", func(r *row) string { return known(!r.wasteUnknown, r.site.Counters.UsableBytes) }},
	{"peak_bytes", func(r *row) string { return known(!r.peakUnknown, uint64(max(0, r.site.Counters.PeakBytes))) }},
	{"live_blocks", func(r *row) string { return number(uint64(r.site.Counters.LiveBlocks())) }},
	{"live_bytes", func(r *row) string { return number(uint64(r.site.Counters.LiveBytes())) }},
	{"releases", func(r *row) string { return number(r.site.Counters.Releases) }},
	{"temporary", func(r *row) string { return known(!r.sumsOnly, r.site.Counters.Temporary) }},
	{"short_lived", func(r *row) string { return known(!r.sumsOnly, r.site.Counters.ShortLived) }},
	{"by_realloc", func(r *row) string { return known(!r.sumsOnly, r.site.Counters.ByRealloc) }},
	{"foreign", func(r *row) string { return known(!r.sumsOnly, r.site.Counters.Foreign) }},
	{"failed", func(r *row) string { return known(!r.failedUnknown, r.site.Counters.Failed) }},
	{"size_min", func(r *row) string { return known(r.site.Counters.Calls > 0, r.site.Counters.SizeMin) }},
	{"size_max", func(r *row) string { return known(r.site.Counters.Calls > 0, r.site.Counters.SizeMax) }},
	{"caller", func(r *row) string { return r.caller }},
	{"type", func(r *row) string { return text(r.site.AllocatedType) }}, // of sites put together by type
}

type row struct {
	site   *profile.Site
	share  float64
	caller string // the most frequent one
	// sumsOnly tells that it is not known what became of the blocks.
	sumsOnly bool

	peakUnknown, failedUnknown, wasteUnknown bool
}

// Write writes a line for each of the first top sites, 0 for all. Shares are of
// the calls of all of them.
func Write(w io.Writer, p *profile.Profile, sites []*profile.Site, top int) error {
	var calls uint64
	for _, site := range sites {
		calls += site.Counters.Calls
	}
	if top > 0 && top < len(sites) {
		sites = sites[:top]
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	if err := out.Write(cells); err != nil {
		return err
	}
	callers := p.Callers(sites)
	for n, site := range sites {
		r := row{site: site, sumsOnly: p.SumsOnly, peakUnknown: p.PeakUnknown(), failedUnknown: p.FailedUnknown, wasteUnknown: p.WasteUnknown}
		if calls > 0 {
			r.share = float64(site.Counters.Calls) / float64(calls)
		}
		if len(callers[n]) > 0 {
			r.caller = callerText(&callers[n][0].Frame)
		}
		for i, c := range columns {
			cells[i] = c.value(&r)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func known(is bool, n uint64) string {
	if !is {
		return ""
	}
	return number(n)
}

func callerText(f *profile.Frame) string {
	if f.File == "" {
		return text(f.Function)
	}
	return text(strings.TrimSpace(f.Function + " " + f.File + ":" + strconv.Itoa(f.Line)))
}

// formulas are the characters that make a spreadsheet take what follows for a
// formula, the wide ones of East Asian type included.
const formulas = "=+-@\uff1d\uff0b\uff0d\uff20"

// text returns a cell that says s and does nothing: control characters are
// made visible, and an apostrophe stands before what would be a formula.
func text(s string) string {
	s = term.Safe(s)
	if start := strings.TrimLeft(s, " \u00a0\u3000"); start != "" && strings.ContainsAny(firstRune(start), formulas) {
		return "'" + s
	}
	return s
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}
