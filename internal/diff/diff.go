// Package diff compares two profiles of a program: before and after a change.
//
// A site of the one is found again in the other by its function and by its
// rank among the sites of that function, never by its line number: what was
// edited elsewhere does not show. See matcher for the rules, and Site.Match for
// the one that found a pair.
//
// Every allocation of both profiles is in exactly one Site, so the changes of
// the sites add up to the change of the totals, and comparing the other way
// round gives the same pairs.
package diff

import (
	"cmp"
	"slices"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Options of a comparison.
type Options struct {
	All bool   // with what libc allocated on its own account
	Per string // unit of work to compare by; "" chooses one that both have
}

// Diff is what changed from one profile to another.
type Diff struct {
	Old, New *profile.Profile
	All      bool
	// Totals of what the sites are of: everything, or all but libc's own calls.
	OldTotals, NewTotals profile.Totals
	// Sites are sorted by how much their allocations changed, the most first.
	Sites   []*Site
	Units   []*Unit
	Regions []*Region
	// Per is the unit of work that changes are counted by: both profiles have
	// it, of different amounts. Nil where counts can be compared as they are.
	Per *Unit
	// Notes say, in sentences, what the comparison must be read with.
	Notes []string

	newNames
}

// SumsOnly tells that of one side or both it is not known what became of the
// blocks.
func (d *Diff) SumsOnly() bool { return d.Old.SumsOnly || d.New.SumsOnly }

// Fate says what is known of the blocks that live, of both sides.
func (d *Diff) Fate() string {
	if d.New.SumsOnly || !d.Old.SumsOnly && !d.New.Ended() {
		return d.New.Fate()
	}
	return d.Old.Fate()
}

// PeakUnknown tells that there are no two peaks to compare.
func (d *Diff) PeakUnknown() bool { return d.Old.PeakUnknown() || d.New.PeakUnknown() }

// FailedUnknown tells that of one side or both it is not known which calls
// failed.
func (d *Diff) FailedUnknown() bool { return d.Old.FailedUnknown || d.New.FailedUnknown }

// Status of a site.
type Status string

const (
	New     Status = "new"
	Gone    Status = "gone"
	Changed Status = "changed"
	Same    Status = "same"
)

// Match tells how the two sides of a site were found to be the same.
type Match string

const (
	Unmatched   Match = ""
	ByName      Match = "name"      // function, file and rank
	ByFunction  Match = "function"  // function and rank; it is in another file or module
	BySignature Match = "signature" // parameters or template arguments are others
	ByOrder     Match = "order"     // code without symbols: order, sizes and callers
	ByFigures   Match = "figures"   // renamed or inlined: figures and callers are equal
)

// Site is a line of code that allocates in one of the profiles or in both.
type Site struct {
	Old, New *Place // nil where it does not allocate
	Status   Status
	Match    Match
	// Excess is by how many allocations the new profile has more than the old
	// one, or than the old one would have for as much work (Diff.Per).
	Excess float64
	// MoreFailed is by how many calls more failed; 0 where a side does not tell.
	MoreFailed int64
	// WithinError tells that the two differ by no more than estimates do by
	// chance: the site counts as the same.
	WithinError bool
}

// Place is a site in one of the profiles.
type Place struct {
	profile.Frame
	Origin   profile.Origin
	Counters recording.Counters
	// Sites are more than one where lines are known on one side only.
	Sites []*profile.Site
}

// Frame returns where the site is: in the new profile if it is there.
func (s *Site) Frame() *profile.Frame {
	if s.New != nil {
		return &s.New.Frame
	}
	return &s.Old.Frame
}

// Origin returns on whose account most of it is allocated.
func (s *Site) Origin() profile.Origin {
	if s.New != nil {
		return s.New.Origin
	}
	return s.Old.Origin
}

var none recording.Counters

// OldCounters returns the figures of the old profile, none where it has not
// got the site.
func (s *Site) OldCounters() *recording.Counters { return countersOf(s.Old) }

// NewCounters returns those of the new profile.
func (s *Site) NewCounters() *recording.Counters { return countersOf(s.New) }

func countersOf(p *Place) *recording.Counters {
	if p == nil {
		return &none
	}
	return &p.Counters
}

// Compare tells what changed from old to new. Both should be made with the
// same options.
func Compare(old, new *profile.Profile, o Options) *Diff {
	d := &Diff{Old: old, New: new, All: o.All, OldTotals: totalsOf(old, o.All), NewTotals: totalsOf(new, o.All)}
	d.Sites, d.newNames = match(old, new, o.All)
	d.compareWork(o.Per)
	for _, s := range d.Sites {
		d.judge(s)
	}
	d.judgeByStack()
	slices.SortStableFunc(d.Sites, compareSites)
	d.note()
	return d
}

func totalsOf(p *profile.Profile, all bool) profile.Totals {
	if all {
		return p.Totals
	}
	return p.WithoutLibc()
}

// Empty tells whether nothing changed at any site.
func (d *Diff) Empty() bool {
	return !slices.ContainsFunc(d.Sites, func(s *Site) bool { return s.Status != Same })
}

// compareSites goes by figures first and by names then, the same whichever
// side is the old one.
func compareSites(a, b *Site) int {
	return cmp.Or(
		cmp.Compare(rank(a), rank(b)),
		cmp.Compare(abs(b.Excess), abs(a.Excess)),
		cmp.Compare(abs(bytesChange(b)), abs(bytesChange(a))),
		cmp.Compare(most(b), most(a)),
		compareFrames(a.Frame(), b.Frame()),
	)
}

// rank puts what is the same behind what changed.
func rank(s *Site) int {
	if s.Status == Same {
		return 1
	}
	return 0
}

func most(s *Site) uint64 { return max(s.OldCounters().Calls, s.NewCounters().Calls) }

func bytesChange(s *Site) float64 {
	return float64(s.NewCounters().Bytes) - float64(s.OldCounters().Bytes)
}

func abs(x float64) float64 { return max(x, -x) }

func compareFrames(a, b *profile.Frame) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Function, b.Function), cmp.Compare(a.Module, b.Module),
	)
}
