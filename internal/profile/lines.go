package profile

import "path/filepath"

// fewWithoutLines is the part of a module's allocations that may lack lines: that of
// functions that are not of its own source, such as those that start it.
const fewWithoutLines = 0.05

// partsWithoutLines says of which modules only a part has debug information. Of those
// that have none the symbolizer says it.
func (p *Profile) partsWithoutLines() (warnings []string) {
	type calls struct{ all, without uint64 }
	of := make(map[string]*calls)
	for _, s := range p.Sites {
		if of[s.Module] == nil {
			of[s.Module] = new(calls)
		}
		of[s.Module].all += s.Counters.Calls
		if s.Line == 0 && s.Named() {
			of[s.Module].without += s.Counters.Calls
		}
	}
	for i := range p.places.modules {
		m := &p.places.modules[i]
		n := of[m.Path]
		if n == nil || float64(n.without) <= fewWithoutLines*float64(n.all) || !p.places.symbolizer.HasLines(*m) {
			continue
		}
		delete(of, m.Path) // it may have been loaded several times
		warnings = append(warnings, filepath.Base(m.Path)+": built in part without -g; that part is shown by function, without lines")
	}
	return warnings
}
