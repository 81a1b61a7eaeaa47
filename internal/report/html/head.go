package html

import (
	"mallow/internal/advise"
	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// head is all data but the long columns. Sizes are bytes, times milliseconds;
// strings that may come from outside went through clean. Numbers of sites,
// frames, functions and strings are indexes; -1 is none.
type head struct {
	Schema   string            `json:"schema"`
	Strings  []string          `json:"strings"`
	Columns  map[string]column `json:"columns"`
	Profiles []side            `json:"profiles"`
	Sites    []site            `json:"sites"`
	Advice   []advice          `json:"advice"`
	Stop     string            `json:"stop"`
	Sources  []source          `json:"sources"`
	Calls    []string          `json:"calls"` // names of the functions that stacks end with
	All      bool              `json:"all"`
	Metric   string            `json:"metric"` // to show at first; "": calls
	Thinned  thinned           `json:"thinned"`
	Diff     *comparison       `json:"diff"`
}

// thinned is what was left out so that a browser can open the page.
type thinned struct {
	Stacks int `json:"stacks"`
	Nodes  int `json:"nodes"`
}

// side is one profile: a page of a comparison has two.
type side struct {
	Name       string     `json:"name"`
	Recordings []recorded `json:"recordings"`
	Totals     totals     `json:"totals"` // of program and libraries
	Libc       totals     `json:"libc"`   // made by libc on its own account
	Processes  []process  `json:"processes"`
	Regions    []region   `json:"regions"`
	Units      []unit     `json:"units"`
	Phases     []phase    `json:"phases"`
	Timeline   bool       `json:"timeline"`
	Sampling   *sampling  `json:"sampling"`
	Truncated  uint64     `json:"truncated"` // allocations whose stack is cut
	Unplaced   uint64     `json:"unplaced"`  // allocations without a stack
	PeakError  uint64     `json:"peakError"`
	NoPeak     bool       `json:"noPeak"`   // the peak is not known
	SumsOnly   bool       `json:"sumsOnly"` // what became of the blocks is not known
	NoFailed   bool       `json:"noFailed"` // which calls failed is not known
	NoWaste    bool       `json:"noWaste"`  // how large blocks were made is not known
	Incomplete bool       `json:"incomplete"`
	Running    uint64     `json:"running"`
	Stopped    uint64     `json:"stopped"` // processes that went on when their recording was stopped
	Warnings   []string   `json:"warnings"`
	Only       []string   `json:"only"` // what it is restricted to, in words

	moments []profile.Moment
}

type recorded struct {
	Path    string   `json:"path"`
	Command string   `json:"command"`
	Started string   `json:"started"`
	Seconds float64  `json:"seconds"`
	CPU     *float64 `json:"cpu"` // nil where it is not known
	Exit    string   `json:"exit"`
}

type totals struct {
	Allocations uint64            `json:"allocations"`
	Kinds       map[string]uint64 `json:"kinds"`
	Frees       *uint64           `json:"frees"`
	FreeNulls   uint64            `json:"freeNulls"`
	Bytes       uint64            `json:"bytes"`
	Peak        uint64            `json:"peak"`
	LiveBlocks  uint64            `json:"liveBlocks"`
	LiveBytes   uint64            `json:"liveBytes"`
	Temporary   uint64            `json:"temporary"`
	Failed      uint64            `json:"failed"`
}

func totalsOf(t *profile.Totals) totals {
	return totals{
		Allocations: t.Allocations, Frees: t.Frees, FreeNulls: t.FreeNulls, Bytes: t.Bytes, Peak: t.PeakBytes,
		LiveBlocks: t.LiveBlocks, LiveBytes: t.LiveBytes, Temporary: t.Temporary, Failed: t.Failed,
		Kinds: map[string]uint64{
			"malloc": t.Mallocs, "calloc": t.Callocs, "realloc": t.Reallocs, "strdup": t.Strdups,
			"wcsdup": t.Wcsdups, "aligned": t.Aligned, "new": t.News,
		},
	}
}

type process struct {
	Name        string `json:"name"`
	Parent      int    `json:"parent"`
	Begun       string `json:"begun"`
	Allocations uint64 `json:"allocations"`
	Bytes       uint64 `json:"bytes"`
	Peak        uint64 `json:"peak"`
	LiveBytes   uint64 `json:"liveBytes"`
	Exit        string `json:"exit"`
}

type region struct {
	Name        string  `json:"name"`
	Entries     uint64  `json:"entries"`
	Allocations uint64  `json:"allocations"`
	Bytes       uint64  `json:"bytes"`
	Frees       *uint64 `json:"frees"`  // nil where it is not known
	Growth      *int64  `json:"growth"` // likewise
}

type unit struct {
	Name        string  `json:"name"`
	Count       uint64  `json:"count"`
	Allocations float64 `json:"allocations"` // of program and libraries, each
	Bytes       float64 `json:"bytes"`
}

type phase struct {
	Name        string `json:"name"`
	From        int64  `json:"from"`
	To          int64  `json:"to"`
	Allocations uint64 `json:"allocations"`
	LiveBytes   int64  `json:"liveBytes"`
}

type sampling struct {
	MeanBytes   uint64  `json:"meanBytes"`
	Samples     uint64  `json:"samples"`
	Allocations float64 `json:"allocations"` // standard errors
	Bytes       float64 `json:"bytes"`
}

// site is what of a site cannot be added up from its stacks.
type site struct {
	Frame      int      `json:"frame"`
	Side       int      `json:"side"`
	Threads    uint64   `json:"threads,omitempty"`
	LongestRun uint64   `json:"longestRun,omitempty"`
	BornAfter  *partner `json:"bornAfter,omitempty"`
	FreedAfter *partner `json:"freedAfter,omitempty"`
	FreedBy    *partner `json:"freedBy,omitempty"`
	Lifetimes  []uint64 `json:"lifetimes,omitempty"` // by the logarithm of the events between birth and death
	Grown      uint64   `json:"grown,omitempty"`     // by realloc
	Copied     uint64   `json:"copied,omitempty"`    // bytes, by realloc
}

// partner is a place that most of the calls have in common.
type partner struct {
	Site  int     `json:"site"` // -1: it is no site
	Name  string  `json:"name"`
	Where string  `json:"where"`
	Share float64 `json:"share"` // for sure
}

type advice struct {
	Rule        string   `json:"rule"`
	Title       string   `json:"title"`
	Remedy      string   `json:"remedy"`
	Evidence    string   `json:"evidence"`
	Places      []place  `json:"places"`
	Allocations uint64   `json:"allocations"`
	Bytes       uint64   `json:"bytes"`
	Share       float64  `json:"share"`
	CPU         *float64 `json:"cpu"`
	Basis       string   `json:"basis"`
	Little      bool     `json:"little"`  // CPU time is no reason to follow it
	AtMost      bool     `json:"at_most"` // the allocations are the most that can be saved
}

type place struct {
	Site     int    `json:"site"`
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Module   string `json:"module"`
}

func (b *builder) placeOf(f *profile.Frame, side int) place {
	return place{b.siteOf(f, side), clean(f.Function), clean(f.File), f.Line, clean(f.Module)}
}

func (b *builder) siteOf(f *profile.Frame, side int) int {
	if at, known := b.siteAt[side][*f]; known {
		return at
	}
	return -1
}

func (b *builder) advice(r advise.Result, side int) []advice {
	all := make([]advice, 0, len(r.Advice))
	for i := range r.Advice {
		a := &r.Advice[i]
		entry := advice{
			Rule: a.Rule, Title: clean(a.Title), Remedy: clean(a.Remedy), Evidence: clean(a.Evidence),
			Allocations: a.Saves.Allocations, Bytes: a.Saves.Bytes, Share: a.Saves.Share, AtMost: a.Saves.AtMost,
			CPU: a.Saves.CPUShare, Basis: clean(a.Saves.Basis), Little: a.Saves.Little(),
		}
		for j := range a.Sites {
			entry.Places = append(entry.Places, b.placeOf(&a.Sites[j].Frame, side))
		}
		all = append(all, entry)
	}
	return all
}

// addSites appends the sites of a profile to the head.
func (b *builder) addSites(p *profile.Profile, sites []*profile.Site) {
	side := len(b.head.Profiles)
	known := p.Knowledge(sites)
	for i, of := range sites {
		s := site{Frame: -1, Side: side}
		if of.Known() {
			s.Frame = b.forest.frame(&of.Frame, false)
		}
		k := &known[i]
		s.Threads, s.LongestRun = k.Threads, k.LongestRun
		s.BornAfter, s.FreedAfter, s.FreedBy = b.partner(k.BornAfter, side), b.partner(k.FreedAfter, side), b.partner(k.FreedBy, side)
		s.Grown, s.Copied = k.Reallocs.Grown, k.Reallocs.BytesCopied
		for n := len(k.Lifetimes); n > 0; n-- {
			if k.Lifetimes[n-1] > 0 {
				s.Lifetimes = k.Lifetimes[:n]
				break
			}
		}
		b.head.Sites = append(b.head.Sites, s)
	}
	if b.head.Calls == nil {
		for f := range recording.FreeNull + 1 {
			b.head.Calls = append(b.head.Calls, f.String())
		}
	}
}

// partner is nil where less than half of the calls have it for sure.
func (b *builder) partner(c *profile.Common, side int) *partner {
	if c == nil || c.OutOf == 0 || c.Frame == (profile.Frame{}) || 2*c.Least < c.OutOf {
		return nil
	}
	return &partner{
		Site: b.siteOf(&c.Frame, side), Name: clean(c.Function), Where: clean(lineOf(&c.Frame)),
		Share: float64(c.Least) / float64(c.OutOf),
	}
}

func (b *builder) writeTimelines(c *container) {
	for i := range b.head.Profiles {
		moments := b.head.Profiles[i].moments
		name := "timeline" + string(rune('0'+i)) + "."
		add := func(column string, form form, value func(m *profile.Moment) int64) {
			c.add(name+column, form, len(moments), func(i int) int64 { return value(&moments[i]) })
		}
		add("at", delta, func(m *profile.Moment) int64 { return m.At.Milliseconds() })
		add("allocations", delta, func(m *profile.Moment) int64 { return int64(m.Allocations) })
		add("releases", delta, func(m *profile.Moment) int64 { return int64(m.Releases) })
		add("liveBlocks", delta, func(m *profile.Moment) int64 { return m.LiveBlocks })
		add("liveBytes", delta, func(m *profile.Moment) int64 { return m.LiveBytes })
		var changes [][3]int64 // moment, site, bytes
		for at := range moments {
			for j := range moments[at].Changes {
				change := &moments[at].Changes[j]
				if site := b.siteOf(&change.Frame, i); site >= 0 {
					changes = append(changes, [3]int64{int64(at), int64(site), change.Bytes})
				}
			}
		}
		for part, column := range []string{"change.moment", "change.site", "change.bytes"} {
			c.add(name+column, signed, len(changes), func(i int) int64 { return changes[i][part] })
		}
	}
}

func phasesOf(moments []profile.Moment) []phase {
	var phases []phase
	for _, p := range analyze.Phases(moments) {
		phases = append(phases, phase{p.Name, p.From.Milliseconds(), p.To.Milliseconds(), p.Allocations, p.LiveBytes})
	}
	return phases
}
