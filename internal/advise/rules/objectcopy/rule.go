// Package objectcopy finds objects of the program's own classes that are
// copied, with all that they hold, and soon thrown away.
package objectcopy

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "object-copy", Find: find}

// Between the functions that copy an object and those that copy what it holds
// there may stand so many others.
const farthest = 3

// copies are the blocks that one line takes for copies of objects of a class.
type copies struct {
	line  profile.Frame
	class string
	sites []*rule.Site
}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, of := range byLine(c) {
		if f, ok := finding(c, of); ok {
			found = append(found, f)
		}
	}
	return found
}

func finding(c *rule.Case, of *copies) (f rule.Finding, ok bool) {
	var calls, gone, bytes uint64
	places := []profile.Frame{of.line}
	for _, s := range of.sites {
		n := &s.Counters
		if n.Foreign > 0 {
			continue // it was made to be handed on
		}
		thrown := s.ThrownAway()
		calls, gone, bytes = calls+n.Calls, gone+thrown, bytes+n.Bytes
		f.Claims = append(f.Claims, s.Claim(thrown))
		places = append(places, s.Way[0])
	}
	if rule.Share(gone, c.Allocations) < rule.Worthwhile || rule.Share(gone, calls) < rule.LeastThrownAway {
		return f, false
	}
	f.Named = true
	f.Means = rule.Avoid
	f.Title = fmt.Sprintf("copies of %s take %s (%s), and are soon thrown away", of.class, figure.Counted(calls, "block", "blocks"), figure.Size(bytes))
	copier := "its copy constructor or assignment"
	f.Remedy = "take and pass it as a const reference, in loops too (const auto&); copy it only where it is changed, and move it where it is no longer needed"
	if of.sites[0].InRust() {
		copier = "its clone"
		f.Remedy = "borrow it (&T); Rc or Arc where it is shared; clone only what is changed, and move what is no longer needed"
	}
	f.Evidence = fmt.Sprintf("%s asked for them, and %s were gone within %s heap events of their thread", copier, figure.Percent(gone, calls), figure.Count(rule.CopyLife))
	f.Places = rule.Places(places...)
	return f, true
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
		if !s.InCpp() && !s.InRust() {
			continue
		}
		for _, found := range copiers(s, farthest) {
			at := key{found.site.Frame, found.class}
			if of[at] == nil {
				of[at] = &copies{line: at.line, class: at.class}
				all = append(all, of[at])
			}
			of[at].sites = append(of[at].sites, found.site)
			sites = append(sites, found.site)
		}
	}
	c.Know(sites)
	return all
}

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
	if !copied && others == 0 {
		return nil
	}
	for _, caller := range s.Callers() {
		if !copied {
			found = append(found, copiers(caller, others-1)...)
			continue
		}
		outer := copiers(caller, farthest)
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
