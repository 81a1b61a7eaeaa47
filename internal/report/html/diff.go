package html

import (
	"fmt"
	"io"
	"slices"

	"mallow/internal/diff"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// comparison is what a page of two profiles has besides them.
type comparison struct {
	Rows  []comparedSite `json:"rows"`
	Notes []string       `json:"notes"`
}

// comparedSite is a site as it was and as it is; no sites where it is not.
type comparedSite struct {
	Status string `json:"status"`
	Old    []int  `json:"old"`
	New    []int  `json:"new"`
	Bigger bool   `json:"bigger"` // fewer blocks, but of more bytes each
}

// WriteDiff writes the page of a comparison, which should be of all origins:
// the page lets its reader choose. Of the options, sites and advice are not
// used.
func WriteDiff(w io.Writer, d *diff.Diff, o Options) error {
	b := newBuilder(o)
	b.compare(d)
	return b.write(w, fmt.Sprintf("mallow diff: %s", b.head.Profiles[1].Name))
}

func (b *builder) compare(d *diff.Diff) {
	b.add(d.Old, d.Old.Sites)
	b.add(d.New, d.New.Sites)
	c := &comparison{Rows: make([]comparedSite, 0, len(d.Sites)), Notes: []string{}}
	for _, s := range d.Sites {
		kinds := s.Kinds()
		c.Rows = append(c.Rows, comparedSite{
			Status: string(s.Status), Old: b.sitesOf(s.Old, 0), New: b.sitesOf(s.New, 1),
			Bigger: slices.Contains(kinds, diff.Fewer) && slices.Contains(kinds, diff.Bigger),
		})
	}
	if per := d.Per; per != nil {
		c.Notes = append(c.Notes, clean(perUnit(per)))
	}
	for _, note := range d.Notes {
		c.Notes = append(c.Notes, clean(note))
	}
	b.head.Diff = c
}

func (b *builder) sitesOf(p *diff.Place, side int) []int {
	sites := []int{}
	if p == nil {
		return sites
	}
	for _, s := range p.Sites {
		if at := b.siteOf(&s.Frame, side); at >= 0 {
			sites = append(sites, at)
		}
	}
	return sites
}

// perUnit says what the counts cannot: the two did not do as much work.
func perUnit(u *diff.Unit) string {
	each := func(of *profile.Unit) string {
		return fmt.Sprintf("%.2f allocations each of %s", of.PerUnit(of.Allocations), figure.Count(of.Count))
	}
	return fmt.Sprintf("The two did not do as much work. %s: old %s, new %s. The figures below are whole counts.", u.Name, each(u.Old), each(u.New))
}
