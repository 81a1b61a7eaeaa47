// Package html writes a report as a page: one file that needs no network and
// no other file, see package web. The page has all stacks, so that it can
// choose among them.
package html

import (
	"io"
	"path/filepath"
	"strings"

	"mallow/internal/advise"
	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/term"
	"mallow/web"
)

// Schema names the form of the data. Page and data are always of one version;
// it is there for those who take the data out of a page.
const Schema = "mallow.html/1"

// Options of a page.
type Options struct {
	// Sites are those of the profile, put together as they are to be shown; nil:
	// by line.
	Sites  []*profile.Site
	Sort   analyze.Order // what to show sites by at first
	Advice advise.Result
	All    bool // show at first also what libc allocated on its own account
	// Sources tells whether to take the lines of source files that the stacks
	// go through into the page.
	Sources bool
	// Limit is how many bytes of data a page may have before the least of the
	// stacks are merged; 0: DefaultLimit.
	Limit int
}

// DefaultLimit is what any browser opens within a second or two.
const DefaultLimit = 20_000_000

// Write writes the page of a profile. It costs about 2 microseconds of CPU
// time per stack and uses memory in proportion.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	b := newBuilder(o)
	b.addOnly(p)
	return b.write(w, "mallow: "+b.head.Profiles[0].Name)
}

// addOnly takes in the profile of a page that compares nothing.
func (b *builder) addOnly(p *profile.Profile) {
	sites := b.options.Sites
	if sites == nil {
		sites = p.Sites
	}
	b.add(p, sites)
	b.head.Advice = b.advice(b.options.Advice, 0)
	b.head.Stop = clean(b.options.Advice.Stop)
}

// builder puts the data of a page together.
type builder struct {
	options  Options
	strings  *stringTable
	forest   *forest
	head     head
	profiles []*profile.Profile
	sites    []*profile.Site // of all profiles
	siteAt   []map[profile.Frame]int
}

func newBuilder(o Options) *builder {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	strings := newStringTable()
	return &builder{options: o, strings: strings, forest: newForest(strings), head: head{
		Schema: Schema, All: o.All, Metric: metricOf[o.Sort], Sites: []site{}, Advice: []advice{},
	}}
}

// add takes a profile in, as one side of the page.
func (b *builder) add(p *profile.Profile, sites []*profile.Site) {
	side, first := len(b.head.Profiles), len(b.sites)
	at := make(map[profile.Frame]int, len(sites))
	for i, site := range sites {
		at[site.Frame] = first + i
	}
	b.profiles = append(b.profiles, p)
	b.siteAt = append(b.siteAt, at)
	b.sites = append(b.sites, sites...)
	b.forest.add(p.Tree(sites), side, first)
	b.addSites(p, sites)
	b.head.Profiles = append(b.head.Profiles, b.describe(p, side))
}

func (b *builder) write(w io.Writer, title string) error {
	data, err := b.data()
	if err != nil {
		return err
	}
	return (&web.Page{Title: clean(title), Data: data}).Write(w)
}

// data returns the data of the page, thinned until they are within the limit.
func (b *builder) data() ([]byte, error) {
	if b.options.Sources {
		b.head.Sources = b.sources()
	}
	b.spareRoom()
	for {
		c := newContainer()
		b.forest.write(c)
		b.writeTimelines(c)
		b.head.Columns, b.head.Strings, b.head.Thinned = c.columns, b.strings.all, b.forest.thinned
		data, err := c.bytes(&b.head)
		nodes := len(b.forest.nodes)
		if err != nil || len(data) <= b.options.Limit || nodes == 0 {
			return data, err
		}
		rest := len(data) - len(c.body)
		share := float64(b.options.Limit-rest) / float64(len(c.body))
		b.forest.thin(int(float64(nodes) * max(0, min(share, 1)) * 0.9))
	}
}

// spareRoom leaves out what a reader misses least where sites and names alone
// take most of the room.
func (b *builder) spareRoom() {
	const ofSite = 200 // bytes, about
	if room := b.options.Limit / 4 / ofSite; len(b.head.Sites) > room {
		for i := room; i < len(b.head.Sites); i++ {
			b.head.Sites[i] = site{Frame: b.head.Sites[i].Frame, Side: b.head.Sites[i].Side}
		}
	}
	for most := longest / 2; b.strings.bytes() > b.options.Limit/2 && most > 50; most /= 2 {
		b.strings.shorten(most)
	}
}

// metricOf is what the page calls an order.
var metricOf = map[analyze.Order]string{
	analyze.ByCalls: "calls", analyze.ByBytes: "bytes", analyze.ByTemporary: "temporary",
	analyze.ByPeak: "peak", analyze.ByLive: "leaked", analyze.ByWaste: "waste",
}

func nameOf(p *profile.Profile) string {
	var names []string
	for _, rec := range p.Recordings {
		name := filepath.Base(rec.Path)
		if rec.Meta != nil && len(rec.Meta.Command) > 0 {
			name = filepath.Base(rec.Meta.Command[0])
		}
		if len(names) < 3 {
			names = append(names, name)
		}
	}
	if more := len(p.Recordings) - len(names); more > 0 {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

// commandOf writes a command as one would type it, for people to read.
func commandOf(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = term.Word(word)
	}
	return clean(strings.Join(quoted, " "))
}
