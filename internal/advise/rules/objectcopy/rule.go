// Package objectcopy finds objects of the program's own classes that are
// copied, with all that they hold, and soon thrown away.
package objectcopy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "object-copy", Find: find}

// Between the functions that copy an object and those that copy what it holds
// there may stand so many others.
const farthest = 3

// mostLines are named where more copy.
const mostLines = 3

// copies are the blocks that lines take for copies of objects of a class.
type copies struct {
	class string
	sites []*rule.Site

	calls, gone, bytes uint64 // gone soon
	claims             []rule.Claim
}

func find(c *rule.Case) []rule.Finding {
	byClass := make(map[string][]*copies)
	var classes []string
	for _, of := range byLine(c) {
		if of.weigh(); rule.Share(of.gone, of.calls) < rule.LeastThrownAway {
			continue
		}
		if byClass[of.class] == nil {
			classes = append(classes, of.class)
		}
		byClass[of.class] = append(byClass[of.class], of)
	}
	var found []rule.Finding
	for _, class := range classes {
		lines := told(byClass[class], c.Allocations)
		for _, of := range lines {
			if !slices.ContainsFunc(lines, of.isMadeOf) {
				found = append(found, of.finding())
			}
		}
	}
	return found
}

// told returns the lines that copy objects of a class of which each is worth a
// change, and the others together if they are; all together where most of the
// copies are made by lines of which none is.
func told(lines []*copies, allocations uint64) []*copies {
	worthwhile := func(of *copies) bool { return rule.Share(of.gone, allocations) >= rule.Worthwhile }
	var alone []*copies
	others, whole := &copies{class: lines[0].class}, &copies{class: lines[0].class}
	for _, of := range lines {
		whole.add(of)
		if worthwhile(of) {
			alone = append(alone, of)
		} else {
			others.add(of)
		}
	}
	if 2*others.gone > whole.gone {
		alone, others = nil, whole
	}
	if worthwhile(others) {
		alone = append(alone, others)
	}
	return alone
}

// weigh counts how many of the blocks are soon gone.
func (of *copies) weigh() {
	for _, s := range of.sites {
		n := &s.Counters
		if n.Foreign > 0 {
			continue // it was made to be handed on
		}
		thrown := s.ThrownAway()
		of.calls, of.gone, of.bytes = of.calls+n.Calls, of.gone+thrown, of.bytes+n.Bytes
		of.claims = append(of.claims, s.Claim(thrown))
	}
}

// isMadeOf tells that copies are likely made of others, which the same function makes
// as often and drops at once, while these live on in a container: without the
// others they are needed.
func (of *copies) isMadeOf(other *copies) bool {
	const alike = 0.01
	f, g := &of.sites[0].Frame, &other.sites[0].Frame
	return !of.dieSoon() && other.dieSoon() && f.Function == g.Function && f.Module == g.Module && rule.Alike(of.calls, other.calls, alike)
}

func (of *copies) dieSoon() bool {
	return !slices.ContainsFunc(of.sites, func(s *rule.Site) bool { return !s.DiesSoon() })
}

// add takes what another line has for copies of the same class.
func (of *copies) add(other *copies) {
	of.sites, of.claims = append(of.sites, other.sites...), append(of.claims, other.claims...)
	of.calls, of.gone, of.bytes = of.calls+other.calls, of.gone+other.gone, of.bytes+other.bytes
}

func (of *copies) finding() rule.Finding {
	lines, makers := of.places()
	at := ""
	if len(lines) > 1 {
		at = fmt.Sprintf(" at %d lines", len(lines))
	}
	f := rule.Finding{
		Named:  true,
		Means:  rule.Avoid,
		AtMost: true,
		Title:  fmt.Sprintf("copies of %s take %s (%s)%s, and are soon thrown away", of.class, figure.Counted(of.calls, "block", "blocks"), figure.Size(of.bytes), at),
		Remedy: "take and pass it as a const reference, in loops too (const auto&); copy it only where it is changed, and move it where it is no longer needed, into containers too (push_back(std::move(x)))",
		Places: rule.Places(append(lines[:min(mostLines, len(lines))], makers...)...),
		Claims: of.claims,
	}
	copier := "its copy constructor or assignment"
	if of.sites[0].InRust() {
		copier = "its clone"
		f.Remedy = "borrow it (&T); Rc or Arc where it is shared; clone only what is changed, and move what is no longer needed"
	} else if len(lines) > 1 {
		f.Remedy += "; or let copies share what they hold until one of them is changed"
	}
	f.Evidence = rule.CopiesGone(copier, of.gone, of.calls)
	return f
}

// places are the lines that copy, those that copy most first, and in that order
// those that allocate for them.
func (of *copies) places() (lines, makers []profile.Frame) {
	sites := slices.Clone(of.sites)
	slices.SortStableFunc(sites, func(a, b *rule.Site) int { return cmp.Compare(b.Counters.Calls, a.Counters.Calls) })
	for _, s := range sites {
		lines, makers = append(lines, s.Frame), append(makers, s.Way[0])
	}
	return rule.Places(lines...), makers
}

// byLine collects what lines take for copies, from all sites.
func byLine(c *rule.Case) []*copies {
	type key struct {
		line  profile.Frame
		class string
	}
	of := make(map[key]*copies)
	var all []*copies
	var sites []*rule.Site
	for _, s := range c.Sites {
		if !s.InCpp() && !s.InRust() && !hasScope(s.Function) {
			continue
		}
		for _, found := range copiers(s, farthest) {
			at := key{found.site.Frame, found.class}
			if of[at] == nil {
				of[at] = &copies{class: at.class}
				all = append(all, of[at])
			}
			of[at].sites = append(of[at].sites, found.site)
			sites = append(sites, found.site)
		}
	}
	c.Know(sites)
	return all
}

// hasScope tells a function of C++ or Rust, which may call malloc, from one of C.
func hasScope(function string) bool { return strings.ContainsAny(function, ":(") }

// copier is a line that has an object copied: a part of a site.
type copier struct {
	site  *rule.Site
	class string
}

// copiers returns the lines outwards of the site that have objects copied. Of
// objects that are held by others which are copied it is the outermost that
// counts. It looks at so many functions that copy nothing, one after the other.
func copiers(s *rule.Site, others int) (found []copier) {
	class, copied := rule.CopyOf(s.Function)
	if !copied {
		if others > 0 {
			for _, caller := range s.Callers() {
				found = append(found, copiers(caller, others-1)...)
			}
		}
		return found
	}
	for _, caller := range s.AllCallers() {
		var outer []copier
		if !caller.IsFew() {
			outer = copiers(caller, farthest)
		}
		var calls uint64
		for _, o := range outer {
			calls += o.site.Counters.Calls
		}
		if 2*calls > caller.Counters.Calls {
			found = append(found, outer...)
		} else {
			found = append(found, copier{caller, class})
		}
	}
	return found
}
