package diff

import (
	"path"

	"mallow/internal/recording"
)

// matchUnnamed pairs the functions of modules of which one side has names and
// the other has none, by figures that no other function of the module has.
func (m *matcher) matchUnnamed() {
	for module, a := range functionsOf(m.a.entries) {
		b := functionsOf(m.b.entries)[module]
		if b == nil || a.named() == b.named() {
			continue
		}
		for _, entries := range [][]*entry{m.a.entries, m.b.entries} {
			for _, e := range entries {
				if e.module == module {
					m.unnamed[e.place.Module] = path.Base(module)
				}
			}
		}
		of := b.byFigures()
		for f, function := range a.byFigures() {
			if other := of[f]; function != nil && other != nil {
				function[0].takeIn(function[1:])
				other[0].takeIn(other[1:])
				function[0].pair, other[0].pair = other[0], function[0]
				function[0].match, other[0].match = ByFigures, ByFigures
			}
		}
	}
	m.a.dropLumped()
	m.b.dropLumped()
}

// functions are the sites left of a module, by function.
type functions map[string][]*entry

func functionsOf(entries []*entry) map[string]functions {
	by := make(map[string]functions)
	for _, e := range entries {
		if e.pair != nil || e.place.Function == "" {
			continue
		}
		if by[e.module] == nil {
			by[e.module] = make(functions)
		}
		name := e.place.Function // two lambdas are two functions on the other side, too
		by[e.module][name] = append(by[e.module][name], e)
	}
	return by
}

// named tells whether any of the functions has a name.
func (f functions) named() bool {
	for _, entries := range f {
		if entries[0].place.Named() {
			return true
		}
	}
	return false
}

// byFigures are the functions by their figures; nil for those that several
// have.
func (f functions) byFigures() map[figures][]*entry {
	by := make(map[figures][]*entry)
	for _, entries := range f {
		var sum recording.Counters
		kinds := make(map[recording.Group]uint64)
		for _, e := range entries {
			sum.Add(&e.place.Counters)
			for g, n := range kindsOf(e) {
				kinds[g] += n
			}
		}
		if sum.Calls < fewestToTell {
			continue
		}
		k := figuresOf(entries[0].module, &sum, kinds)
		if _, known := by[k]; known {
			by[k] = nil
			continue
		}
		by[k] = entries
	}
	return by
}
