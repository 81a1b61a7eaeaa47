package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mallow/internal/analyze"
	"mallow/internal/profile"
)

func (r *report) whoCalls(site *profile.Site, callers, named []profile.Caller, most int) string {
	var parts []string
	if len(callers) > 0 {
		parts = append(parts, "<- "+r.callerList(callers, site.Module, most))
	}
	if len(named) > 0 {
		parts = append(parts, "<- ... <- "+r.callerList(named, site.Module, most))
	}
	return strings.Join(parts, "  ")
}

// callers returns who calls each of the sites.
func (r *report) callers(sites []*profile.Site) [][]profile.Caller {
	callers := r.profile.Callers(sites)
	for i := range callers {
		callers[i] = slices.DeleteFunc(callers[i], func(c profile.Caller) bool { return profile.IsStart(c.Function) })
	}
	return callers
}

// namedCallers returns for each site that has no name the nearest functions
// that have one, unless its callers have names themselves.
func (r *report) namedCallers(sites []*profile.Site, callers [][]profile.Caller) [][]profile.Caller {
	named := make([][]profile.Caller, len(sites))
	var nameless []*profile.Site
	var at []int
	for i, site := range sites {
		if !site.Named() && !slices.ContainsFunc(callers[i][:min(len(callers[i]), callersShown)], callerNamed) {
			nameless, at = append(nameless, site), append(at, i)
		}
	}
	for k, list := range r.profile.NamedCallers(nameless) {
		named[at[k]] = slices.DeleteFunc(list, func(c profile.Caller) bool { return !callerNamed(c) })
	}
	return named
}

func callerNamed(c profile.Caller) bool { return c.Named() && !profile.IsStart(c.Function) }

const callersShown = 3

// callerList names those who have most of what sites are sorted by; the module
// only where it is another than that of the site.
func (r *report) callerList(callers []profile.Caller, module string, most int) string {
	callers, weight := r.weighed(callers)
	var names []string
	for i, c := range callers {
		if i == most {
			names = append(names, fmt.Sprintf("%s more", count(uint64(len(callers)-i))))
			break
		}
		name, at := frameWords(&c.Frame)
		if c.Frame == (profile.Frame{}) {
			name = "(code outside any file)"
		}
		if c.File != "" || c.Module != module {
			name = strings.TrimSuffix(name+" "+at, " ")
		}
		if len(callers) > 1 {
			name += " (" + r.about(weight(&c)) + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// weighed returns who has some of what sites are sorted by, most first, and
// what tells how much; their calls where none has.
func (r *report) weighed(callers []profile.Caller) (list []profile.Caller, weight func(*profile.Caller) string) {
	order := r.branchOrder()
	value := func(c *profile.Caller) uint64 { return order.Value(&profile.Site{Counters: c.Counters}) }
	for _, c := range callers {
		if value(&c) > 0 {
			list = append(list, c)
		}
	}
	if order == analyze.ByCalls || len(list) == 0 {
		return callers, func(c *profile.Caller) string { return count(c.Counters.Calls) }
	}
	slices.SortStableFunc(list, func(a, b profile.Caller) int { return cmp.Compare(value(&b), value(&a)) })
	return list, func(c *profile.Caller) string { return r.weight(value(c)) }
}
