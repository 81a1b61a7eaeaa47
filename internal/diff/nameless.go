package diff

import (
	"cmp"
	"path"
	"slices"
)

// matchNameless pairs code without symbols in modules of another build. The
// linker mostly keeps the order of functions; sizes, kinds of calls and counts
// must agree besides.
func (m *matcher) matchNameless() {
	keyOf := func(e *entry) (key, bool) {
		return key{module: e.module}, !e.place.Named() && e.place.Function != "" && !m.sameBuild(e.module)
	}
	b := groups(m.b.entries, keyOf)
	for k, group := range groups(m.a.entries, keyOf) {
		others := b[k]
		if len(others) == 0 {
			continue
		}
		name := path.Base(group[0].place.Module)
		m.rebuilt[group[0].place.Module], m.rebuilt[others[0].place.Module] = name, name
		byOffset(group)
		byOffset(others)
		for _, p := range align(group, others, mayResemble) {
			p.a.pair, p.b.pair = p.b, p.a
			p.a.match, p.b.match = ByOrder, ByOrder
		}
	}
}

func byOffset(entries []*entry) {
	slices.SortStableFunc(entries, func(a, b *entry) int {
		return cmp.Compare(offset(&a.place.Frame), offset(&b.place.Frame))
	})
}
