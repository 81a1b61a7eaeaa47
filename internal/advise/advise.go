// Package advise says what to change in a program so that it allocates less,
// what each change saves, and where it is not worth going on.
//
// What there is to find is found by rules, one folder each below rules. This
// package lets them look, sees to it that no allocation is promised twice,
// prices what is saved, and ranks.
package advise

import (
	"fmt"
	"path/filepath"
	"slices"

	"mallow/internal/advise/rule"
	"mallow/internal/advise/rules"
	"mallow/internal/profile"
)

// Advice is one thing to change.
type Advice struct {
	Rule     string  // its page is docs/manual/advice/RULE.md
	Title    string  // what is so, one line with its numbers
	Remedy   string  // what to do, one or two sentences
	Sites    []Place // the line to change first, then the others that take part
	Uses     bool    // the first of Sites takes no part: it is the line that uses the packages of the others
	Saves    Saves
	At       []profile.Frame // the sites that allocate what it saves; Sites may be their callers
	Libc     string          // the function of libc that the first site calls, where libc allocates what it saves; else ""
	Evidence string          // the figures that show it
	Means    rule.Means      // of its remedy
}

// Place is a line of code.
type Place struct{ profile.Frame }

// Saves is what the program no longer does once an advice is followed.
type Saves struct {
	Allocations uint64
	Bytes       uint64   // requested by these
	Memory      uint64   // bytes that are no longer held at the peak; 0 where that is not what it is about
	Share       float64  // of all allocations of program and libraries, 0..1
	AtMost      bool     // the allocations are the most that can be saved
	CPUShare    *float64 // of the program's CPU time, 0..1; nil where it is not known
	Basis       string   // of CPUShare: what an allocation costs, and how that is known; "" when CPUShare is nil
}

// manyCalls is the share of all allocations that a reader takes for a reason
// to change something.
const manyCalls = 0.1

// Little tells whether CPU time is no reason to follow the advice, however
// many allocations it saves.
func (s *Saves) Little() bool { return s.CPUShare != nil && *s.CPUShare < worthwhile }

// Result is all advice, that which saves most first, and where to stop.
type Result struct {
	Advice  []Advice
	LeftOut string // what is known, and not worth telling; "" for nothing
	Stop    string // the sentence that nothing, or nothing further, is worth the work; "" while something is
}

// Options of advice.
type Options struct {
	Price Price // nil: where no CPU samples were taken no CPUShare is known
	All   bool  // also on what libc allocates on its own account
}

// For returns the advice that a profile gives. It takes a few milliseconds, of
// 100,000 stacks some tens, and the naming of further frames, so p must not be
// used by others meanwhile.
func For(p *profile.Profile, o Options) Result {
	if p.SumsOnly {
		return Result{Advice: []Advice{}, Stop: "no advice: a profile does not tell what happens to blocks; record the program with mallow"}
	}
	c := rule.NewCase(p, o.All)
	var found []found
	for order, r := range rules.All {
		for _, f := range r.Find(c) {
			found = append(found, newFound(r.Name, order, f))
		}
	}
	found = settle(found, p.StackCount())
	var cost *cost
	if len(found) > 0 {
		cost = newCost(p, o.Price)
	}
	result := Result{Advice: []Advice{}}
	var left leftOut
	for i := range found {
		if a := advice(c, &found[i], cost); worthMentioning(&a, &found[i]) {
			result.Advice = append(result.Advice, a)
		} else {
			left.add(&a)
		}
	}
	fitIn(result.Advice)
	rank(result.Advice)
	result.LeftOut, result.Stop = left.words(), stop(c, result.Advice, &left)
	return result
}

func advice(c *rule.Case, f *found, cost *cost) Advice {
	a := Advice{Rule: f.rule, Title: f.Title, Remedy: f.Remedy, Evidence: f.Evidence, Libc: f.Libc, Means: f.Means}
	for _, place := range places(&f.Finding) {
		a.Sites = append(a.Sites, Place{place})
	}
	a.toUser(f.Claims)
	a.ofLibrary(c.Profile, f)
	var at []profile.Frame
	for _, part := range f.parts {
		at = append(at, part.site.Way[0])
	}
	a.At = rule.Places(at...)
	a.Saves = Saves{Allocations: f.left.Calls, Bytes: f.left.Bytes, Memory: f.Memory, AtMost: f.AtMost, Share: rule.Share(f.left.Calls, c.AllFor(&f.Finding))}
	cost.price(&a.Saves, f)
	if c.Profile.Sampling != nil {
		a.Evidence += "; estimated from samples"
	}
	if a.Saves.Little() && a.Saves.Share >= manyCalls {
		a.Evidence += "; many calls, but little cost"
	}
	return a
}

// places are those of a finding, and the line itself that allocates where it does
// so for the callers that the finding is about: what is to be changed may stand
// there.
func places(f *rule.Finding) []profile.Frame {
	if len(f.Claims) != 1 {
		return f.Places
	}
	return rule.Places(append(slices.Clone(f.Places), f.Claims[0].Site.Way[0])...)
}

// toUser tells advice of which all places are in packages to the line that uses
// them, if there is one.
func (a *Advice) toUser(claims []rule.Claim) {
	if slices.ContainsFunc(a.Sites, func(place Place) bool { return !rule.OfPackage(place.File) }) {
		return
	}
	if user := userOf(claims); user != (profile.Frame{}) {
		a.Sites, a.Uses = append([]Place{{user}}, a.Sites...), true
		a.Remedy += "; the code is a package's: look there for a call that borrows, or that fills what you keep"
	}
}

// ofLibrary tells who makes the blocks of advice to the program, where that is a
// library: it decides where they lie.
func (a *Advice) ofLibrary(p *profile.Profile, f *found) {
	library := ""
	for i, claim := range f.Claims {
		module := p.ModuleOfCalls(claim.Site.Site)
		if claim.Site.Origin != profile.OriginLibraries || i > 0 && module != library {
			return
		}
		library = module
	}
	if library != "" && !profile.IsLanguageLibrary(library) && a.Sites[0].Module != library {
		a.Remedy += fmt.Sprintf("; %s makes it: look there for a call that borrows, or that fills what you keep", filepath.Base(library))
	}
}

// Taking are the places that take part in what the advice saves.
func (a *Advice) Taking() []Place {
	if a.Uses {
		return a.Sites[1:]
	}
	return a.Sites
}

// userOf is the one line by which packages are used for all that is claimed; else
// the zero Frame.
func userOf(claims []rule.Claim) (user profile.Frame) {
	for i, claim := range claims {
		line := claim.Site.UserOfPackages()
		if i > 0 && line != user {
			return profile.Frame{}
		}
		user = line
	}
	return user
}
