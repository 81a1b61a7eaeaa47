package json

import (
	"io"

	"mallow/internal/advise"
	"mallow/internal/diff"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// DiffSchema names the keys of a comparison and their meaning. What is not
// obvious of them:
//
//   - totals and origins are of everything, libc's own calls included, and so
//     are sites; program are the totals without those, which the text and
//     regressions speak of.
//   - function, file and line are those of the new profile, where the site is
//     there. old and new of a site are null where it does not allocate; each
//     has its own function, file and line.
//   - match tells how the two were found to be the same: name (and rank),
//     function (in another file or module), signature (others), order (no
//     symbols), figures (renamed or inlined elsewhere); null for new and gone.
//   - changes are more, fewer (calls), bigger, smaller (bytes a block), more or
//     fewer never freed, more or fewer failed.
//   - excess is by how many allocations new has more than old would have for as
//     much work, by the unit that per names; the plain difference where per is
//     null.
//   - stacks of what changed are those whose allocations changed most (diff
//     --stacks); growth names the callers that the change comes from: path leads
//     outwards as long as it has one caller, branches are the callers at its end.
//   - within_error: estimates that differ by no more than three standard errors
//     are the same.
//   - advice has the keys of a report's, and its status: followed, open (still
//     given), withdrawn (no more given, without having brought what it promised)
//     or new. promised and brought are allocations; brought is null where none
//     of its lines is a site; with divided others are about some of its sites,
//     and what these make less is shared out among them.
//   - regressions are judged of program and libraries; regression is null where
//     it cannot be told, and unknown says why.
const DiffSchema = "mallow.diff/1"

// DiffOptions of a comparison.
type DiffOptions struct {
	Top      int // sites to write; 0: all, the same ones too
	Stacks   int // at most so many of each site that changed; 0: all
	Verdicts []diff.Verdict
	Advice   []diff.AdviceChange
}

type comparison struct {
	Schema      string         `json:"schema"`
	Old         compared       `json:"old"`
	New         compared       `json:"new"`
	Totals      totalsPair     `json:"totals"`
	Program     totalsPair     `json:"program"`
	Origins     originsPair    `json:"origins"`
	Per         *string        `json:"per"`
	Sites       []siteChange   `json:"sites"`
	Units       []unitChange   `json:"units"`
	Regions     []regionChange `json:"regions"`
	Regressions []verdict      `json:"regressions"`
	Advice      []adviceChange `json:"advice"`
	Notes       []string       `json:"notes"`
}

// compared is one of the two sides.
type compared struct {
	Recordings []recorded  `json:"recordings"`
	Processes  int         `json:"processes"`
	Running    uint64      `json:"running"`
	Sampling   *sampling   `json:"sampling"`
	Quality    qualityKeys `json:"quality"`
}

type count struct {
	Old uint64 `json:"old"`
	New uint64 `json:"new"`
}

type knownCount struct {
	Old *uint64 `json:"old"`
	New *uint64 `json:"new"`
}

// totalsPair has the keys of totals.
type totalsPair struct {
	Mallocs     count      `json:"mallocs"`
	Callocs     count      `json:"callocs"`
	Reallocs    count      `json:"reallocs"`
	Strdups     count      `json:"strdups"`
	Wcsdups     count      `json:"wcsdups"`
	Aligned     count      `json:"aligned"`
	News        count      `json:"news"`
	Allocations count      `json:"allocations"`
	Frees       knownCount `json:"frees"`
	FreeNulls   count      `json:"free_nulls"`
	Bytes       count      `json:"bytes"`
	PeakBytes   knownCount `json:"peak_bytes"`
	LiveBlocks  count      `json:"live_blocks"`
	LiveBytes   count      `json:"live_bytes"`
	Temporary   knownCount `json:"temporary"`
	ShortLived  knownCount `json:"short_lived"`
	Failed      knownCount `json:"failed"`
}

type originsPair struct {
	Program   totalsPair `json:"program"`
	Libraries totalsPair `json:"libraries"`
	Libc      totalsPair `json:"libc"`
}

type siteChange struct {
	frame
	Status      diff.Status   `json:"status"`
	Match       *string       `json:"match"`
	Origin      string        `json:"origin"`
	Changes     []diff.Kind   `json:"changes"`
	Excess      float64       `json:"excess"`
	WithinError bool          `json:"within_error"`
	Old         *siteFigures  `json:"old"`
	New         *siteFigures  `json:"new"`
	Growth      *growth       `json:"growth"`
	StackCount  *int          `json:"stack_count"`
	Stacks      []stackChange `json:"stacks"`
}

type siteFigures struct {
	frame
	Allocations uint64   `json:"allocations"`
	Bytes       uint64   `json:"bytes"`
	PeakBytes   *uint64  `json:"peak_bytes"`
	LiveBlocks  uint64   `json:"live_blocks"`
	LiveBytes   uint64   `json:"live_bytes"`
	Temporary   *uint64  `json:"temporary"`
	ShortLived  *uint64  `json:"short_lived"`
	Failed      *uint64  `json:"failed"`
	SizeMin     *uint64  `json:"size_min"`
	SizeMax     *uint64  `json:"size_max"`
	PerUnit     *float64 `json:"allocations_per_unit"`
	Errors      *errors  `json:"errors"`
}

type growth struct {
	Metric   string   `json:"metric"`
	Path     []frame  `json:"path"`
	Branches []branch `json:"branches"`
	Others   int      `json:"others"`
}

type branch struct {
	frame
	Old uint64 `json:"old"`
	New uint64 `json:"new"`
}

type stackChange struct {
	Old    uint64  `json:"old"`
	New    uint64  `json:"new"`
	Frames []frame `json:"frames"`
}

type unitChange struct {
	Name     string `json:"name"`
	Function bool   `json:"function"`
	Old      *unit  `json:"old"`
	New      *unit  `json:"new"`
}

type regionChange struct {
	Name string         `json:"name"`
	Old  *regionFigures `json:"old"`
	New  *regionFigures `json:"new"`
}

type regionFigures struct {
	Entries             uint64   `json:"entries"`
	Allocations         uint64   `json:"allocations"`
	Bytes               uint64   `json:"bytes"`
	Frees               *uint64  `json:"frees"`
	LiveBytes           uint64   `json:"live_bytes"`
	AllocationsPerEntry *float64 `json:"allocations_per_entry"`
	BytesPerEntry       *float64 `json:"bytes_per_entry"`
}

type verdict struct {
	Metric     diff.Metric `json:"metric"`
	Old        uint64      `json:"old"`
	New        uint64      `json:"new"`
	Excess     float64     `json:"excess"`
	Error      float64     `json:"error"`
	Regression *bool       `json:"regression"`
	Unknown    *string     `json:"unknown"`
}

type adviceChange struct {
	advice
	Status   diff.AdviceStatus `json:"status"`
	Promised uint64            `json:"promised"`
	Brought  *float64          `json:"brought"`
	Divided  bool              `json:"divided"`
}

func adviceChanges(changes []diff.AdviceChange) []adviceChange {
	keys := make([]adviceChange, 0, len(changes))
	for _, c := range changes {
		keys = append(keys, adviceChange{adviceKeys([]advise.Advice{c.Advice})[0], c.Status, c.Promised, c.Brought, c.Divided})
	}
	return keys
}

// WriteDiff prints a comparison as one line of JSON.
func WriteDiff(w io.Writer, d *diff.Diff, o DiffOptions) error {
	c := comparison{
		Schema: DiffSchema,
		Old:    comparedKeys(d.Old), New: comparedKeys(d.New),
		Totals:  pairOf(d, &d.Old.Totals, &d.New.Totals),
		Program: pairOf(d, withoutLibc(d.Old), withoutLibc(d.New)),
		Origins: originsPair{
			Program:   pairOf(d, &d.Old.Origins[profile.OriginProgram], &d.New.Origins[profile.OriginProgram]),
			Libraries: pairOf(d, &d.Old.Origins[profile.OriginLibraries], &d.New.Origins[profile.OriginLibraries]),
			Libc:      pairOf(d, &d.Old.Origins[profile.OriginLibc], &d.New.Origins[profile.OriginLibc]),
		},
		Sites:       siteChanges(d, o),
		Units:       []unitChange{},
		Regions:     []regionChange{},
		Regressions: []verdict{},
		Advice:      adviceChanges(o.Advice),
		Notes:       append([]string{}, d.Notes...),
	}
	if d.Per != nil {
		c.Per = &d.Per.Name
	}
	for _, u := range d.Units {
		c.Units = append(c.Units, unitChange{u.Name, u.Function, unitFigures(u.Old), unitFigures(u.New)})
	}
	for _, r := range d.Regions {
		c.Regions = append(c.Regions, regionChange{r.Name, regionOf(r.Old), regionOf(r.New)})
	}
	for _, v := range o.Verdicts {
		c.Regressions = append(c.Regressions, verdictKeys(v))
	}
	return term.WriteJSON(w, c, "")
}

func withoutLibc(p *profile.Profile) *profile.Totals {
	t := p.WithoutLibc()
	return &t
}

func comparedKeys(p *profile.Profile) compared {
	c := compared{
		Recordings: make([]recorded, 0, len(p.Recordings)), Processes: len(p.Processes), Running: p.Running,
		Sampling: samplingKeys(p), Quality: qualityOf(p),
	}
	for _, rec := range p.Recordings {
		c.Recordings = append(c.Recordings, recordedKeys(rec))
	}
	return c
}

func pairOf(d *diff.Diff, o, n *profile.Totals) totalsPair {
	return totalsPair{
		Mallocs: count{o.Mallocs, n.Mallocs}, Callocs: count{o.Callocs, n.Callocs}, Reallocs: count{o.Reallocs, n.Reallocs},
		Strdups: count{o.Strdups, n.Strdups}, Wcsdups: count{o.Wcsdups, n.Wcsdups}, Aligned: count{o.Aligned, n.Aligned},
		News: count{o.News, n.News}, Allocations: count{o.Allocations, n.Allocations}, Frees: knownCount{o.Frees, n.Frees},
		FreeNulls: count{o.FreeNulls, n.FreeNulls}, Bytes: count{o.Bytes, n.Bytes}, PeakBytes: knownCount{peakKey(d.Old, o.PeakBytes), peakKey(d.New, n.PeakBytes)},
		LiveBlocks: count{o.LiveBlocks, n.LiveBlocks}, LiveBytes: count{o.LiveBytes, n.LiveBytes},
		Temporary:  knownCount{fateKey(d.Old, o.Temporary), fateKey(d.New, n.Temporary)},
		ShortLived: knownCount{fateKey(d.Old, o.ShortLived), fateKey(d.New, n.ShortLived)}, Failed: knownCount{failedKey(d.Old, o.Failed), failedKey(d.New, n.Failed)},
	}
}

func peakKey(of *profile.Profile, bytes uint64) *uint64 { return unless(of.PeakUnknown(), bytes) }

// fateKey is a count of what became of blocks.
func fateKey(of *profile.Profile, blocks uint64) *uint64 { return unless(of.SumsOnly, blocks) }

func failedKey(of *profile.Profile, calls uint64) *uint64 { return unless(of.FailedUnknown, calls) }

func unless(unknown bool, figure uint64) *uint64 {
	if unknown {
		return nil
	}
	return &figure
}

func siteChanges(d *diff.Diff, o DiffOptions) []siteChange {
	sites := d.Sites
	if o.Top > 0 && len(sites) > o.Top {
		sites = sites[:o.Top]
	}
	var changed []*diff.Site
	for _, s := range sites {
		if s.Status != diff.Same {
			changed = append(changed, s)
		}
	}
	stacks, total, grown := d.Stacks(changed, diff.Allocations, o.Stacks)
	keys := make([]siteChange, 0, len(sites))
	k := 0
	for _, s := range sites {
		key := siteChange{
			frame: frameKeys(s.Frame()), Status: s.Status, Match: known(string(s.Match)), Origin: s.Origin().String(),
			Changes: append([]diff.Kind{}, s.Kinds()...), Excess: s.Excess, WithinError: s.WithinError,
			Old: figuresOf(s.Old, d.Old, unitOf(d.Per, true)), New: figuresOf(s.New, d.New, unitOf(d.Per, false)),
			Stacks: []stackChange{},
		}
		if s.Status != diff.Same {
			key.StackCount, key.Growth = &total[k], growthKeys(&grown[k])
			for _, st := range stacks[k] {
				key.Stacks = append(key.Stacks, stackChange{st.Old, st.New, framesKeys(st.Frames)})
			}
			k++
		}
		keys = append(keys, key)
	}
	return keys
}

func unitOf(per *diff.Unit, old bool) *profile.Unit {
	switch {
	case per == nil:
		return nil
	case old:
		return per.Old
	}
	return per.New
}

func figuresOf(p *diff.Place, of *profile.Profile, per *profile.Unit) *siteFigures {
	if p == nil {
		return nil
	}
	c := &p.Counters
	f := &siteFigures{
		frame: frameKeys(&p.Frame), Allocations: c.Calls, Bytes: c.Bytes, PeakBytes: peakKey(of, uint64(max(0, c.PeakBytes))),
		LiveBlocks: uint64(c.LiveBlocks()), LiveBytes: uint64(c.LiveBytes()), Temporary: fateKey(of, c.Temporary),
		ShortLived: fateKey(of, c.ShortLived), Failed: failedKey(of, c.Failed),
	}
	if c.Calls > 0 {
		f.SizeMin, f.SizeMax = &c.SizeMin, &c.SizeMax
	}
	if per != nil {
		f.PerUnit = quotient(c.Calls, per.Count)
	}
	if of.Sampling != nil {
		f.Errors = errorKeys(profile.ErrorsOf(c))
	}
	return f
}

func growthKeys(g *diff.Growth) *growth {
	keys := &growth{Metric: string(g.Metric), Path: framesKeys(g.Path), Branches: []branch{}, Others: g.Others}
	for i := range g.Branches {
		b := &g.Branches[i]
		keys.Branches = append(keys.Branches, branch{frameKeys(&b.Frame), b.Old, b.New})
	}
	return keys
}

func framesKeys(frames []profile.Frame) []frame {
	keys := make([]frame, 0, len(frames))
	for i := range frames {
		keys = append(keys, frameKeys(&frames[i]))
	}
	return keys
}

func unitFigures(u *profile.Unit) *unit {
	if u == nil {
		return nil
	}
	keys := unitKey(u)
	return &keys
}

func regionOf(r *profile.Region) *regionFigures {
	if r == nil {
		return nil
	}
	all, own := r.Totals(true), r.Totals(false)
	return &regionFigures{
		Entries: r.Entries, Allocations: all.Allocations, Bytes: all.Bytes, Frees: r.Frees, LiveBytes: all.LiveBytes,
		AllocationsPerEntry: quotient(own.Allocations, r.Entries), BytesPerEntry: quotient(own.Bytes, r.Entries),
	}
}

func verdictKeys(v diff.Verdict) verdict {
	keys := verdict{Metric: v.Metric, Old: v.Old, New: v.New, Excess: v.Excess, Error: v.Error, Unknown: known(v.Unknown)}
	if v.Unknown == "" {
		keys.Regression = &v.Regression
	}
	return keys
}
